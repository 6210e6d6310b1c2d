"""Choosing and judging, by hand."""

import numpy as np
import pytest

from pellucid.cli.bake_off import Score, choose, judge
from pellucid.cli.contestants import Contestant


def score(name, errors, n_coefficients, is_baseline=False):
    return Score(Contestant(name, "", list, is_baseline), np.array(errors, dtype=float), n_coefficients)


BASE = score("mean", [0.1, 0.1], 0, is_baseline=True)
EXACT = score("exact", [1.0, 2.0], 10)  # mean 1.5, standard error 0.5
SPARSE = score("sparse", [1.9, 2.1], 2)  # mean 2.0: just within one standard error
ROUGH = score("rough", [2.5, 2.5], 1)


def test_the_standard_error_is_that_of_the_mean():
    assert (EXACT.mean, EXACT.standard_error) == pytest.approx((1.5, 0.5))


def test_the_least_error_wins():
    assert choose([BASE, SPARSE, EXACT, ROUGH], one_standard_error=False) is EXACT


def test_one_standard_error_prefers_fewer_coefficients():
    assert choose([BASE, EXACT, SPARSE, ROUGH], one_standard_error=True) is SPARSE


def test_the_interval_holds_the_error_and_narrows_with_rows():
    rng = np.random.default_rng(0)
    widths = []
    for n in (50, 5000):
        estimate = judge(np.zeros(n), rng.standard_normal(n), training_mean=1.0, seed=0)
        assert estimate.low < estimate.error < estimate.high
        widths.append(estimate.high - estimate.low)
    assert widths[1] < widths[0] / 5


def test_predicting_the_training_mean_explains_nothing():
    actual = np.array([1.0, 2.0, 6.0])
    assert judge(actual, np.full(3, 3.0), training_mean=3.0, seed=0).r_squared == 0.0
