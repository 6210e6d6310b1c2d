import numpy as np
import pytest

from pellucid.linear_model import LinearRegression, least_squares_gd, least_squares_sgd


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 3)) + 2
    return X, X @ [1.0, 2.0, 3.0] - 1.0 + 0.1 * rng.standard_normal(50)


def test_one_step_of_gradient_descent_by_hand():
    # centered x = -1, 0, 1 and y = -2, 0, 2: gradient at 0 is -(2 + 2)/3, L = 2/3, so one step lands on 2
    solution = least_squares_gd([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], max_iter=1)
    assert solution.x.coef == pytest.approx([2.0])
    assert solution.x.intercept == pytest.approx(1.0)


def test_both_reach_least_squares():
    X, y = problem()
    best = LinearRegression().fit(X, y)
    full, stochastic = least_squares_gd(X, y), least_squares_sgd(X, y, batch_size=5, random_state=0)
    np.testing.assert_allclose(full.x.coef, best.coef_, atol=1e-6)
    np.testing.assert_allclose(stochastic.x.coef, best.coef_, atol=1e-3)
    assert full.certificate.holds
    assert np.all(np.diff(full.trace["objective"]) <= 1e-15)


def test_the_same_seed_gives_the_same_bits():
    X, y = problem()
    first, second = (least_squares_sgd(X, y, random_state=3, max_iter=5) for _ in range(2))
    np.testing.assert_array_equal(first.x.coef, second.x.coef)


def test_a_step_that_is_too_long_is_not_hidden():
    solution = least_squares_gd(*problem(), step=100.0, max_iter=500)
    assert not solution.certificate.holds
    assert "A smaller step may help" in solution.certificate.reason


def test_the_certificate_bounds_the_distance_to_least_squares():
    X, y = problem()
    rough = least_squares_gd(X, y, tol=1e-2)
    assert rough.certificate.grade == "optimal"
    distance = np.linalg.norm(rough.x.coef - LinearRegression().fit(X, y).coef_)
    assert 0 < distance <= rough.certificate["distance"].value


def test_refuses_a_step_of_zero():
    with pytest.raises(ValueError, match="step must be above 0, got 0"):
        least_squares_gd(*problem(), step=0)
