"""How much memory there is, and how much of it is used."""

import math

import numpy as np
import pytest

from pellucid.core import budget
from pellucid.core.budget import memory_in_use, memory_there_is


@pytest.mark.parametrize(("said", "limit"), [("123456789\n", 123456789.0), ("max\n", math.inf), (None, math.inf)])
def test_a_container_may_have_less_than_its_machine(said, limit, tmp_path, monkeypatch):
    if said is not None:
        (tmp_path / "memory.max").write_text(said)
    monkeypatch.setattr(budget, "CONTAINER_LIMITS", ())
    machine = memory_there_is()
    monkeypatch.setattr(budget, "CONTAINER_LIMITS", (tmp_path / "memory.max",))
    assert memory_there_is() == min(machine, limit)


def test_what_is_in_use_grows_with_what_is_filled():
    before = memory_in_use()
    filled = np.ones(25_000_000)
    assert memory_in_use() - before > 1.5e8  # of 2e8, if something else was given back meanwhile
    assert filled[0] == 1.0


def test_where_nobody_says_what_is_in_use_the_most_so_far_stands_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "OWN_PAGES", tmp_path / "nothing")
    assert memory_in_use() > 1e7
