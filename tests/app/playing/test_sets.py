"""Data by name: the same seed makes the same rows, and every set has a row of columns for each example."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.app.playing import load_set, set_names


@pytest.mark.parametrize("name", set_names())
def test_every_set_has_rows_a_target_and_names(name):
    X, y, names = load_set(name)
    assert np.shape(X) == (len(y), len(names))
    again = load_set(name)
    assert np.array_equal(np.asarray(X), np.asarray(again[0]))
    assert np.array_equal(y, again[1])


def test_a_seed_and_a_count_are_heeded():
    assert len(load_set("moons", rows=7)[0]) == 7
    assert not np.array_equal(load_set("line", seed=1)[1], load_set("line", seed=2)[1])


def test_no_target_is_among_the_columns():
    _, y, names = load_set("energy")
    assert not {"heating_load", "cooling_load"} & set(names)
    assert y[0] == pytest.approx(15.55)


def test_a_wrong_name_and_a_wrong_count_get_a_sentence():
    with pytest.raises(ValueError, match="name must be .*moons"):
        load_set("moon_s_of_jupiter")
    with pytest.raises(ValueError, match="rows must be at most 20,000, got 30,000"):
        load_set("moons", rows=30_000)
