"""Every public name is described as numpydoc reads it.

Of numpydoc's checks these are left out: SA01 (see also), ES01 (further paragraphs) and EX01 (examples, which are tests
and stand where they explain), RT01 and YD01 (the first line says what is returned), PR03 and PR04 (parameters that
share a sentence stand together, and one of them may have no type of its own), PR08 (a sentence may begin with the
letter of a formula), GL08 for data, whose words stand below them.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.validate import validate
from sphinx.pycode import ModuleAnalyzer

from pellucid.core.cards import all_cards

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from site_pages.api_pages import pages

SHAPE = {"GL01", "GL03", "GL05", "GL06", "GL07", "SS01", "SS03", "SS04", "PR02", "PR05", "PR06", "PR09"}
"""Sections are known, in order and once; a summary is a sentence; no parameter is named that there is not."""
WHOLE = {"PR01", "PR07", "RT03"}
"""Every parameter is there, with words of its own."""


def complaints(thing, codes):
    """Return what numpydoc says of a docstring."""
    found = validate(f"{thing.__module__}.{thing.__qualname__}")["errors"]
    return [f"{thing.__name__}: {code} {message}" for code, message in found if code in codes]


def described():
    """Return the public functions and classes that are not methods."""
    things = (getattr(import_module(home), name) for home, names in pages().items() for name in names)
    return [thing for thing in things if inspect.isclass(thing) or inspect.isfunction(thing)]


def takes_arguments(thing):
    """Return whether a thing is a function, or a class with a constructor written by hand."""
    return inspect.isfunction(thing) or ("__init__" in vars(thing) and not is_dataclass(thing))


def unexplained_fields(thing):
    """Return the fields of a dataclass with words neither below them nor in a section of the class."""
    listed = inspect.getdoc(thing) or ""
    below = {name for base in thing.__mro__[:-1] for name in words_below(base)}
    named = [field.name for field in fields(thing) if not field.name.startswith("_")]
    return [name for name in named if name not in below and f"\n{name} : " not in listed]


def words_below(thing):
    """Return the attributes of a class that a string below them describes."""
    if not thing.__module__.startswith("pellucid"):
        return set()
    found = ModuleAnalyzer.for_module(thing.__module__).find_attr_docs()
    return {name for owner, name in found if owner == thing.__qualname__}


@pytest.mark.parametrize("card", list(all_cards()), ids=lambda card: card.name)
def test_every_parameter_of_a_method_is_explained(card):
    own = "__init__" in vars(card.estimator)  # pruned trees take no parameters of their own: functions make them
    assert complaints(card.estimator, SHAPE | (WHOLE if own else set())) == []
    words = inspect.getdoc(card.estimator)
    assert "for compatibility" not in words
    parameters = words.partition("\nParameters\n")[2].partition("\nAttributes\n")[0]
    assert not [line for line in parameters.splitlines() if line.strip().startswith(("As in ", "As for "))]


def test_every_public_docstring_is_of_the_known_shape():
    assert [line for thing in described() for line in complaints(thing, SHAPE)] == []


def test_every_public_function_and_class_explains_what_it_takes():
    assert [line for thing in described() if takes_arguments(thing) for line in complaints(thing, WHOLE)] == []


def test_every_public_dataclass_explains_its_fields():
    found = [thing for thing in described() if is_dataclass(thing)]
    assert len(found) > 100
    assert [f"{thing.__name__}: {name}" for thing in found for name in unexplained_fields(thing)] == []
