"""Whole numbers are in an order if the other columns rise and fall with them, and not if they are names."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import order
from pellucid.app.tables.order import is_in_order
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import Columns, choose_target


def told(values, seed=0, noise=1.0):
    """Return a column that goes with the values as given, and one that is noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": values + noise * rng.normal(size=len(values)), "b": rng.normal(size=len(values))})
    return Columns({"a": "number", "b": "number"}, {}), frame


def test_grades_are_in_order_and_shuffled_names_are_not():
    rng = np.random.default_rng(1)
    grades = rng.choice(np.arange(3, 10), 800, p=[0.02, 0.05, 0.3, 0.35, 0.2, 0.06, 0.02])
    columns, frame = told(grades)
    assert is_in_order(columns, frame, grades)
    names = rng.permutation(7)[grades - 3]  # the same groups under other numbers
    assert not is_in_order(columns, frame, names)


def test_noise_is_in_order_as_seldom_as_the_level_says():
    found = 0
    for seed in range(60):
        values = np.random.default_rng(seed).integers(0, 6, 200)
        columns, frame = told(np.zeros(200), seed + 1000)
        found += is_in_order(columns, frame, values)
    assert found <= 7  # 3 % of 60 are 2


@pytest.mark.parametrize("n_values", [2, 4])
def test_few_values_have_too_few_orders_to_tell(n_values, monkeypatch):
    values = np.tile(np.arange(n_values), 100)
    columns, frame = told(values, noise=0.1)
    assert not is_in_order(columns, frame, values)
    monkeypatch.setattr(order, "comparable", None)  # nobody even looks
    assert not is_in_order(columns, frame, values)


def test_without_columns_that_say_anything_nothing_is_in_order():
    values = np.tile(np.arange(6), 20)
    assert not is_in_order(Columns({"t": "text"}, {}), pd.DataFrame({"t": ["a b c d"] * 120}), values)
    constant = pd.DataFrame({"a": np.ones(120)})
    assert not is_in_order(Columns({"a": "number"}, {}), constant, values)


def test_an_order_must_be_of_few_whole_numbers():
    frame = pd.DataFrame(
        {"w": list("ab") * 20, "f": np.linspace(0, 1, 40), "many": np.arange(40), "g": [1, 2, 3, 4] * 10}
    )
    target = choose_target(frame, "g", "order")
    assert (target.told, target.is_ordered, target.is_classification) == ("whole numbers in an order", True, False)
    for name in ("w", "f", "many"):
        with pytest.raises(TableError, match="target must have 3 to 30 different whole numbers to be an order"):
            choose_target(frame, name, "order")
