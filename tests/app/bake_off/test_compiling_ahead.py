"""Loops are compiled once, in a second process, while methods run that need none of them."""

import sys
import time

import numpy as np
import pytest

from pellucid.app.bake_off import compiling_ahead as module
from pellucid.app.bake_off.compiling_ahead import CompilingAhead, compile_for, compiling_ahead
from pellucid.app.bake_off.contestants import contestants_for
from pellucid.app.tables.understanding import Columns

TREE = next(one for one in contestants_for(is_classification=True) if one.name == "decision tree")
LINE = next(one for one in contestants_for(is_classification=True) if one.name == "logistic regression")
NUMBERS = Columns({"x": "number"}, {})
LABELS = np.array(["a", "b", "a"])


def running(seconds):
    return CompilingAhead((sys.executable, "-c", f"import time; time.sleep({seconds})"))


def test_only_trees_wait_and_only_until_it_has_ended():
    ahead = running(0.2)
    assert ahead.covers(TREE)
    assert not ahead.covers(LINE)
    ahead.wait(0.01)
    assert ahead.covers(TREE)
    ahead.wait()
    assert not ahead.covers(TREE)


def test_a_process_that_is_not_needed_any_more_is_ended():
    ahead, begun = running(60), time.monotonic()
    ahead.stop()
    assert time.monotonic() - begun < 30.0


def test_where_everythingis_compiled_nothing_runs(monkeypatch):
    monkeypatch.setattr(module, "is_compiled", lambda: True)
    with compiling_ahead([TREE], NUMBERS, LABELS) as ahead:
        assert not ahead.covers(TREE)


def test_without_trees_nothing_runs(monkeypatch):
    monkeypatch.setattr(module, "is_compiled", lambda: False)
    with compiling_ahead([LINE], NUMBERS, LABELS) as ahead:
        assert not ahead.covers(TREE)


@pytest.mark.parametrize(("y", "n_classes"), [(LABELS, "2"), (np.arange(9), "3"), (None, "0")])
def test_the_process_is_told_the_kind_of_target(monkeypatch, y, n_classes):
    told = []
    monkeypatch.setattr(module, "is_compiled", lambda: False)
    monkeypatch.setattr(module.CompilingAhead, "__init__", lambda self, command: told.append(command))
    monkeypatch.setattr(module.CompilingAhead, "stop", lambda self: None)
    with compiling_ahead([TREE], NUMBERS, y):
        pass
    assert [command[3:] for command in told] == [(n_classes, "0")]


@pytest.mark.parametrize(("n_classes", "words"), [(2, False), (3, True), (0, True)])
def test_what_it_fits_is_such_a_table(monkeypatch, n_classes, words):
    fitted = []
    monkeypatch.setattr(module, "compile_by_fitting", lambda model, X, y: fitted.append((model.fit(X, y), X, y)))
    trees = contestants_for(is_classification=n_classes > 0)
    compile_for([one for one in trees if one.name == "decision tree"], n_classes, words=words)
    ((_, X, y),) = fitted
    assert ("words" in X) is words
    assert len(np.unique(y)) == (n_classes or len(y))
