"""Methods for skewed targets are offered where they suit, and say nothing below 0."""

import numpy as np
import pandas as pd
import pytest

from pellucid.bake_off import bake_off
from pellucid.bake_off.contestants import is_skewed_amount, is_skewed_count


@pytest.mark.parametrize(
    ("values", "count", "amount"),
    [
        ([0, 0, 1, 2, 9], True, False),
        ([1, 1, 2, 3, 20], False, True),
        ([0, 1, 2, 3, 4], False, False),  # even on both sides
        ([-1, 0, 0, 1, 9], False, False),
    ],
)
def test_counts_and_amounts_are_known_by_their_tail(values, count, amount):
    y = np.array(values, dtype=float)
    assert (is_skewed_count(y), is_skewed_amount(y)) == (count, amount)


def test_counts_are_never_predicted_below_0():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 3.0, 300)
    frame = pd.DataFrame({"x": x, "riders": rng.poisson(np.exp(2.0 * x - 3.0))})
    found = bake_off(frame, "riders", task="regression", seconds=20, folds=2, only=["boosted trees for counts"])
    assert found.chosen.name == "boosted trees for counts"
    assert found.model.predict(frame).min() >= 0
    assert bake_off(frame, "x", seconds=20, folds=2, only=["ridge", "boosted trees for counts"]).chosen.name == "ridge"
