"""The lasso on few columns by an active set: by hand, its conditions, columns that are nearly parallel."""

import numpy as np
import pytest

from pellucid.svm.linear_svc.squared_hinge_l1 import lasso_active_set


def violation(R, t, v):
    """Return how far a point is from the conditions of the minimum."""
    correlations = R.T @ (t - R @ v)
    return np.max(np.where(v != 0.0, np.abs(correlations - np.sign(v)), np.maximum(np.abs(correlations) - 1.0, 0.0)))


def test_orthogonal_columns_are_soft_thresholded():
    # |v - t|^2 / 2 + |v|: each t moves by 1 towards 0
    found = lasso_active_set(np.eye(4), np.array([3.0, -2.0, 0.5, -0.25]), np.zeros(4), tolerance=0.0)
    np.testing.assert_allclose(found, [2.0, -1.0, 0.0, 0.0])


def test_a_start_of_the_wrong_sign_is_left():
    found = lasso_active_set(np.eye(2), np.array([3.0, 0.5]), np.array([-5.0, 4.0]), tolerance=1e-12)
    np.testing.assert_allclose(found, [2.0, 0.0])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_the_conditions_of_the_minimum_hold_from_any_start(seed, offset):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, 12)) + offset
    b = 3 * rng.standard_normal(40) + A[:, 0] - A[:, 3]
    Q, R = np.linalg.qr(A)
    for start in (np.zeros(12), rng.standard_normal(12)):
        found = lasso_active_set(R, Q.T @ b, start, tolerance=1e-9)
        assert violation(R, Q.T @ b, found) <= 1e-7 * max(1.0, offset)


def test_equal_columns_do_not_stop_it():
    column = np.array([1.0, 2.0, 2.0])
    R, t = np.column_stack([column, column, 0 * column, [2.0, -1.0, 0.0]]), np.array([3.0, 4.0, 5.0])
    found = lasso_active_set(R, t, np.zeros(4), tolerance=1e-12)
    assert violation(R, t, found) <= 1e-12
    assert found[2] == 0.0
