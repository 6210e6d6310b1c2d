"""Intervals from errors on rows held out: their coverage, their widths, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pellucid.app.table_model.error_quantiles import ErrorQuantiles


def test_by_hand():
    errors = ErrorQuantiles.of(np.array([1.0, 4.0, 2.0, 7.0]), np.array([2.0, 2.0, 2.0, 2.0]))  # -1, 2, 0, 5
    low, high = errors.interval(np.array([10.0]), 0.6)
    assert (low[0], high[0]) == (9.0, 15.0)  # 1 - 2 / 5: from the smallest to the largest error
    low, high = errors.interval(np.array([10.0]), 0.2)
    assert (low[0], high[0]) == (10.0, 12.0)  # 1 - 4 / 5: from the second smallest to the second largest


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("n_rows", [40, 300, 5000])
def test_the_coverage_is_what_was_promised_for_any_errors(level, n_rows):
    shares = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        predicted = rng.exponential(size=n_rows + 500)
        actual = predicted * rng.lognormal(sigma=0.8, size=n_rows + 500)  # skewed, wider for large predictions
        known = ErrorQuantiles.of(actual[:n_rows], predicted[:n_rows])
        shares.append(known.coverage(ErrorQuantiles.of(actual[n_rows:], predicted[n_rows:]), level))
    spread = np.std(shares) / np.sqrt(len(shares))
    assert level - 4 * spread <= np.mean(shares) <= level + 2 / (n_rows / 10 + 1) + 4 * spread


numbers = arrays(np.float64, st.integers(40, 200), elements=st.floats(-1e6, 1e6, allow_subnormal=False))


@given(numbers, st.floats(-1e6, 1e6), st.floats(0.05, 0.9), st.integers(0, 2**32 - 1))
def test_a_prediction_lies_in_its_interval_however_far_the_method_is_off(predicted, bias, level, seed):
    actual = predicted + bias + np.random.default_rng(seed).exponential(size=len(predicted))
    known = ErrorQuantiles.of(actual, predicted)
    asked = np.concatenate([predicted, [predicted.min() - 1e7, predicted.max() + 1e7]])
    low, high = known.interval(asked, level)
    assert (low <= asked).all()
    assert (asked <= high).all()


def test_an_interval_reaches_to_a_prediction_that_is_always_too_large():  # by hand
    errors = ErrorQuantiles.of(np.array([1.0, 2.0, 3.0, 4.0]), np.full(4, 6.0))  # -5, -4, -3, -2
    low, high = errors.interval(np.array([10.0]), 0.6)
    assert (low[0], high[0]) == (5.0, 10.0)


def test_intervals_are_wider_where_errors_are():
    rng = np.random.default_rng(0)
    predicted = rng.uniform(1, 10, size=5000)
    known = ErrorQuantiles.of(predicted + predicted * rng.normal(size=5000), predicted)
    low, high = known.interval(np.array([1.5, 9.5]), 0.9)
    assert (high - low)[1] > 3 * (high - low)[0]


def test_a_million_rows_are_kept_as_some():
    predicted = np.random.default_rng(0).normal(size=1_000_000)
    known = ErrorQuantiles.of(predicted + 1.0, predicted)
    assert len(known.errors) == 20_000
    assert (np.diff(known.predicted) >= 0).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -1, float("nan")])
def test_a_level_is_a_share(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        ErrorQuantiles.of(np.zeros(9), np.zeros(9)).interval(np.zeros(1), level)


def test_few_errors_do_not_speak_of_rare_ones():
    with pytest.raises(ValueError, match=r"level must be at most 0.8, got 0.9: the errors of 9 rows"):
        ErrorQuantiles.of(np.zeros(9), np.zeros(9)).interval(np.zeros(1), 0.9)
