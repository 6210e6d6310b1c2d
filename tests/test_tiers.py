"""Each method has a test of each kind in the first tier, and the tiers follow from what was recorded."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from pellucid.core.card_index import entries
from tests import tiers
from tests.tiers import CHEAP, CHEAP_IF_MARKED, FIRST, KINDS, SECOND, recorded, tier_of

HERE = Path(__file__).parent


@cache
def marked_tests():
    """Return the tests of each kind and method: a mark names methods, or means the one its file is named after."""
    found = defaultdict(list)
    for path in HERE.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if not any(f"pytest.mark.{kind}" in text for kind in KINDS):
            continue
        test = f"tests/{path.relative_to(HERE).as_posix()}::"
        for function in ast.parse(text).body:
            for mark in getattr(function, "decorator_list", ()):
                named, given = (mark.func, mark.args) if isinstance(mark, ast.Call) else (mark, [])
                if isinstance(named, ast.Attribute) and named.attr in KINDS:
                    methods = [ast.literal_eval(one) for one in given] or [path.stem.removeprefix("test_")]
                    for method in methods:
                        found[named.attr, method.replace("_", "").lower()].append(test + function.name)
    return found


def is_cheap(test):
    """Return whether some case of the test is in the first tier."""
    cases = [seconds for name, seconds in recorded().items() if name.split("[")[0] == test]
    return not cases or min(cases) <= CHEAP_IF_MARKED


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_has_a_test_of_each_kind_in_the_first_tier(kind):
    found = marked_tests()
    without = [name for name in entries() if not any(map(is_cheap, found[kind, name.lower()]))]
    assert without == [], f"mark a cheap test of these with pytest.mark.{kind}, or write one"


def test_marks_name_methods():
    known = {name.lower() for name in entries()}
    assert {method for _, method in marked_tests()} <= known


def test_the_tier_of_a_test_follows_from_what_it_took(monkeypatch):
    times = {"cheap": CHEAP, "dear": 2 * CHEAP, "too dear": 2 * CHEAP_IF_MARKED}
    monkeypatch.setattr(tiers, "recorded", lambda: times)
    assert [tier_of(test, set()) for test in ("new", "cheap", "dear")] == [FIRST, FIRST, SECOND]
    assert [tier_of(test, {"peer"}) for test in ("new", "dear", "too dear")] == [FIRST, FIRST, SECOND]
    assert [tier_of(test, {"promise"}) for test in ("dear", "too dear")] == [FIRST, SECOND]


def test_recorded_tests_are_there():
    files = {test.split("::")[0] for test in recorded()}
    assert [file for file in sorted(files) if not (HERE.parent / file).is_file()] == []
