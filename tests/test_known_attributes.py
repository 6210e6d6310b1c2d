"""Proofs and workings read only what the cards of their methods know: a renamed attribute is noticed here."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from importlib import import_module
from types import SimpleNamespace

from pellucid.core.cards import all_cards
from pellucid.proofs.index import proof_files
from pellucid.vision import restoration
from tests.test_imports import OURS, module_name, reached_from

SHARED_BY_ALL = {"classes_", "n_features_in_", "feature_names_in_", "certificate_", "trace_"}
CARDS = {card.name: card for card in all_cards()}


def cards_of(names):
    """Return the cards of methods; one of restoration, which has none, says the same by its fields."""
    return [CARDS[name] if name in CARDS else restoration_card(getattr(restoration, name)) for name in names]


def restoration_card(kind):
    settings = {one.name for one in dataclasses.fields(kind)}
    known = {"image", "first", *settings, *kind.leaves}
    return SimpleNamespace(attributes=known, rebuilt=(), parameters=settings, asks=restoration_card, estimator=kind)


def readers():
    """Return by file the cards of the methods that it proves or shows, by itself or for a file that imports it."""
    found = {}
    starts = [(path, import_module(module_name(path)).PROVES) for path in proof_files() if says(path, "PROVES")]
    starts += [(OURS[card.workings.partition(":")[0]], [card.name]) for card in CARDS.values() if card.workings]
    for path, names in starts:
        room = module_name(path).split(".")[:-1]  # what stands beside it; other rooms are for everyone
        beside = [OURS[way[-1]] for way in reached_from(path) if way[-1].split(".")[:-1] == room]
        for file in (path, *beside):
            found.setdefault(file, set()).update(names)
    return found


def says(path, name):
    return any(
        isinstance(node, ast.Assign) and any(getattr(target, "id", "") == name for target in node.targets)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def reads(text):
    """Yield what a file reads from the numbers and settings of a model: of which, what, and where."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr, node.lineno


def unknown(text, cards):
    """Return what a file reads that no card of its methods knows; ``model`` may be a record of the file's own."""
    attributes = SHARED_BY_ALL.union(*({*card.attributes, *card.rebuilt} for card in cards))
    parameters = set().union(*(card.parameters for card in cards))
    answers = "".join(inspect.getsource(inspect.getmodule(card.asks)) for card in cards)
    kinds = [card.estimator for card in cards]
    wrong = []
    for owner, name, line in reads(text):
        is_known = name in attributes or any(hasattr(kind, name) for kind in kinds)
        is_asked = not name.endswith("_") and (name in parameters or f'"{name}"' in answers)
        knows = {
            "fitted": is_known or is_asked,
            "parameters": name in parameters,
            "estimator": is_known or name in parameters,
            "model": is_known or not name.endswith("_"),
        }
        if not knows.get(owner, True):
            wrong.append(f"line {line}: {owner}.{name}")
    return wrong


def test_every_attribute_that_is_read_stands_on_a_card():
    known, n_reads = readers(), 0
    for path, names in known.items():
        text = path.read_text(encoding="utf-8")
        n_reads += len(list(reads(text)))
        assert not unknown(text, cards_of(names)), path
    assert len(known) > 90
    assert n_reads > 5000


def test_a_renamed_attribute_is_noticed():
    ridge = [CARDS["Ridge"]]
    assert unknown("fitted.coef_ + parameters.alpha + fitted.coeff_", ridge) == ["line 1: fitted.coeff_"]
    assert unknown("parameters.alfa", ridge) == ["line 1: parameters.alfa"]
    assert unknown("estimator.alpha, estimator.weights_, model.intercepts_", ridge) == [
        "line 1: estimator.weights_",
        "line 1: model.intercepts_",
    ]
