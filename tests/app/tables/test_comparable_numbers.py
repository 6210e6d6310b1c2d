"""Numbers in one unit: by hand, properties, scikit-learn's checks, errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from pellucid.app.tables.comparable_numbers import ComparableNumbers


def test_numbers_count_from_the_median_in_standard_deviations():
    # median 2, mean 3, standard deviation sqrt((9 + 1 + 1 + 25) / 4) = 3
    X = np.array([[0.0], [2.0], [2.0], [8.0]])
    np.testing.assert_allclose(ComparableNumbers().fit_transform(X).ravel(), [-2 / 3, 0.0, 0.0, 2.0])


def test_far_values_stop_at_the_limit_and_gaps_are_typical():
    X = np.array([[0.0]] * 50 + [[1.0]] * 50 + [[1e6], [np.nan]])
    found = ComparableNumbers().fit_transform(X).ravel()
    assert found[-2] == 3.0
    assert found[-1] == 0.0


def test_columns_without_spread_or_values_become_zeros():
    X = np.array([[5.0, np.nan], [5.0, np.nan]])
    assert not ComparableNumbers().fit_transform(X).any()


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_do_not_matter(scale):
    X = np.random.default_rng(0).standard_normal((30, 2))
    np.testing.assert_allclose(ComparableNumbers().fit_transform(scale * X), ComparableNumbers().fit_transform(X))


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=getattr(check, "func", check).__name__)
        for estimator, check in estimator_checks_generator(ComparableNumbers(), legacy=True)
    ],
)
def test_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_refuses_a_limit_of_zero():
    with pytest.raises(ValueError, match="limit must be above 0, got 0"):
        ComparableNumbers(0).fit([[1.0]])
