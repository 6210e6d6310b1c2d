"""Logistic regression by descent: by hand, every method reaches LogisticRegression, errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from pellucid.linear_model import LogisticRegression, logistic_descent
from pellucid.linear_model.logistic.logistic_descent import _MeanLogisticLoss
from pellucid.optimize import Adam, GradientDescent, Newton, StochasticGradient

METHODS = ["gradient descent", "accelerated gradient", "newton", "dfp", "bfgs", "l-bfgs", "conjugate gradient"]


def problem(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3)) + 0.5
    scores = X @ rng.standard_normal((3, n_classes)) + rng.standard_normal((60, n_classes))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)]


def best(X, y, C=1.0, fit_intercept=True):
    return LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-12).fit(X, y)


# by hand


def test_one_gradient_step_by_hand():
    # at 0 both shares are 1/2: the slope is (-1/2 - 1/2) / 2 = -1/2, and a step of 1 goes to w = 1/2
    solution = logistic_descent([[-1.0], [1.0]], [0, 1], GradientDescent(1.0), fit_intercept=False, max_iter=1)
    assert solution.x.coef == pytest.approx(np.array([[0.5]]))
    assert solution.trace["objective"][0] == pytest.approx(np.log(2))


def test_one_newton_step_by_hand():
    # the curvature at 0 is 1/4 + 1/(C m) = 3/4, so Newton goes to (1/2) / (3/4) = 2/3
    solution = logistic_descent([[-1.0], [1.0]], [0, 1], "newton", fit_intercept=False, max_iter=1)
    assert solution.x.coef == pytest.approx(np.array([[2 / 3]]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_are_those_of_the_objective(n_classes):
    X, y = problem(n_classes)
    posed = _MeanLogisticLoss(X, y, 0.5, fit_intercept=True)
    theta = np.random.default_rng(1).standard_normal(posed.size)
    np.testing.assert_allclose(posed.gradient(theta), approx_fprime(theta, posed.value), atol=1e-6)
    np.testing.assert_allclose(posed.hessian(theta), approx_fprime(theta, posed.gradient), atol=1e-6)
    halves = [posed.gradient(theta, np.arange(30)), posed.gradient(theta, np.arange(30, 60))]
    np.testing.assert_allclose(np.mean(halves, axis=0), posed.gradient(theta))


# properties


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_reaches_logistic_regression(method, n_classes):
    X, y = problem(n_classes)
    solution, model = logistic_descent(X, y, method), best(X, y)
    np.testing.assert_allclose(solution.x.coef, model.coef_, atol=1e-4)
    np.testing.assert_allclose(solution.x.intercept, model.intercept_, atol=1e-4)
    assert solution.certificate.holds


def test_coordinate_descent_reaches_it_too():
    X, y = problem()
    solution = logistic_descent(X, y, "coordinate descent")
    np.testing.assert_allclose(solution.x.coef, best(X, y).coef_, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stochastic_gradients_come_near(n_classes):
    X, y = problem(n_classes)
    solution = logistic_descent(X, y, "stochastic gradient", tol=1e-2, max_iter=200, random_state=0)
    np.testing.assert_allclose(solution.x.coef, best(X, y).coef_, atol=0.1)
    batches = logistic_descent(X, y, "stochastic gradient", batch_size=10, tol=1e-2, max_iter=200, random_state=0)
    np.testing.assert_allclose(batches.x.coef, best(X, y).coef_, atol=0.1)


def test_a_method_of_ones_own_takes_batches():
    X, y = problem()
    for method in (Adam(0.05), StochasticGradient(0.05)):
        solution = logistic_descent(X, y, method, batch_size=20, tol=0.1, max_iter=300, random_state=0)
        np.testing.assert_allclose(solution.x.coef, best(X, y).coef_, atol=0.3)


def test_the_same_seed_gives_the_same_bits():
    first, second = (
        logistic_descent(*problem(), "stochastic gradient", max_iter=5, random_state=3).x.coef for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_without_an_intercept_the_certificate_bounds_the_distance():
    X, y = problem()
    rough = logistic_descent(X, y, "gradient descent", fit_intercept=False, tol=1e-2)
    distance = np.linalg.norm(rough.x.coef - best(X, y, fit_intercept=False).coef_)
    assert rough.certificate.grade == "optimal"
    assert 0 < distance <= rough.certificate["distance"].value


def test_an_infinite_C_means_no_penalty():
    X, y = problem()
    model = best(X, y, C=np.inf)
    np.testing.assert_allclose(logistic_descent(X, y, Newton(), C=np.inf).x.coef, model.coef_, atol=1e-5)


def test_the_trace_of_a_line_search_never_rises():
    trace = logistic_descent(*problem(3), "l-bfgs").trace
    assert np.all(np.diff(trace["objective"]) <= 1e-15)


# errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "C must be above 0, got 0.*numpy.inf"),
        ({"tol": 0.0}, "tol must be above 0"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"method": "magic"}, "method must be one of"),
    ],
)
def test_refuses_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        logistic_descent(*problem(), **settings)


def test_refuses_one_class():
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got one class: 1"):
        logistic_descent([[0.0], [1.0]], [1, 1])
