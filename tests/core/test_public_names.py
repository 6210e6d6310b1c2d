"""Names that scikit-learn has and we do not say where to find them, in every family."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from importlib.util import find_spec

import pytest

import pellucid

FAMILIES = [
    info.name
    for info in pkgutil.iter_modules(pellucid.__path__)
    if info.ispkg and find_spec(f"sklearn.{info.name}") is not None
]


def missing_names():
    for family in FAMILIES:
        ours, theirs = import_module(f"pellucid.{family}"), import_module(f"sklearn.{family}")
        yield from ((family, name) for name in getattr(theirs, "__all__", ()) if name not in ours.__all__)


def test_every_family_that_scikit_learn_has_too_is_looked_at():
    assert {"cluster", "linear_model", "model_selection", "naive_bayes", "neighbors", "svm"} <= set(FAMILIES)


@pytest.mark.parametrize(("family", "name"), list(missing_names()))
def test_a_name_that_only_scikit_learn_has_says_where_it_is_asked_for_in_any_way(family, name):
    package = import_module(f"pellucid.{family}")
    sentence = f"pellucid.{family} has no {name}; scikit-learn's works beside ours: from sklearn.{family} import {name}"
    with pytest.raises(AttributeError) as asked:
        getattr(package, name)
    assert str(asked.value) == sentence
    with pytest.raises(ImportError) as imported:
        exec(f"from pellucid.{family} import {name}", {})
    assert str(imported.value) == sentence
    assert not hasattr(package, name)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_name_that_nobody_has_gets_pythons_own_sentence(family):
    with pytest.raises(AttributeError, match=f"module 'pellucid.{family}' has no attribute 'Nonsense'"):
        _ = import_module(f"pellucid.{family}").Nonsense
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec(f"from pellucid.{family} import Nonsense", {})


def test_a_module_of_ours_is_imported_though_scikit_learn_has_something_of_its_name():
    from pellucid import linear_model
    from pellucid.linear_model import linear_kinds

    assert linear_kinds.__name__ == f"{linear_model.__name__}.linear_kinds"


def test_the_package_itself_points_to_what_it_lacks():
    with pytest.raises(AttributeError, match="pellucid has no preprocessing; .* from sklearn import preprocessing"):
        _ = pellucid.preprocessing
    with pytest.raises(ImportError, match="from sklearn import preprocessing"):
        exec("from pellucid import preprocessing", {})


def test_a_name_with_a_home_is_imported_once():
    from pellucid import svm

    assert svm.show_maximum_margin is vars(svm)["show_maximum_margin"]
