"""The solver of kernel machines: two points by hand, scikit-learn's machines, rough products, little room."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peer_svm

from pellucid.kernels import RBF, GivenKernel, Laplacian, Linear, Polynomial, Sigmoid
from pellucid.svm.kernel_machine.machine_problem import MachineProblem, NotSeparableError, machine_point
from pellucid.svm.kernel_machine.machine_solver import solve_machine

seeds = pytest.mark.parametrize("seed", range(3))


def classifier(kernel, X, y, C=1.0):
    return MachineProblem(kernel, X, y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0))


def regressor(kernel, X, y, C=1.0, tube=0.1):
    return MachineProblem(kernel, X, y, np.full(len(y), -C), np.full(len(y), C), tube)


def two_clouds(seed, n=200, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.standard_normal((n, 4)) + apart * y[:, None] * [1.0, 0.5, 0.0, 0.0], y


def waves(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def test_two_points():  # by hand
    # K = [[1, -1], [-1, 1]]: 1/2 (2a)^2 - 2a is least at a = 1/2, w = 1/2 + 1/2 = 1, b = 0
    machine = solve_machine(classifier(Linear(), np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])))
    np.testing.assert_allclose(machine.coef, [0.5, -0.5])
    assert machine.intercept == 0.0
    assert (machine.objective, machine.dual) == pytest.approx((0.5, 0.5))


def test_without_a_free_coefficient_the_bias_is_the_middle_of_what_it_may_be():  # by hand
    # C = 1/4 < 1/2: both at the end of the box, w = 1/2; margins 1/2 + b and 1/2 - b are short for |b| < 1/2
    machine = solve_machine(classifier(Linear(), np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), C=0.25))
    np.testing.assert_array_equal(machine.coef, [0.25, -0.25])
    assert machine.intercept_range == pytest.approx((-0.5, 0.5))
    assert machine.intercept == 0.0


def test_a_target_within_the_tube_needs_no_support():  # by hand
    machine = solve_machine(regressor(Linear(), np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 1.05, 0.95])))
    assert not machine.coef.any()
    assert machine.intercept == pytest.approx(1.0)


KERNELS = [
    (Linear(), {"kernel": "linear"}),
    (RBF(0.3), {"kernel": "rbf", "gamma": 0.3}),
    (Polynomial(3, coef0=1.0, gamma=0.2), {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.2}),
]


@seeds
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("kernel", "peer"), KERNELS, ids=lambda value: type(value).__name__)
def test_classifiers_are_scikit_learns(kernel, peer, C, seed):  # peer
    X, y = two_clouds(seed)
    problem = classifier(kernel, X, y, C)
    machine, theirs = solve_machine(problem, tol=1e-6), peer_svm.SVC(C=C, tol=1e-6, **peer).fit(X, y)
    coef = np.zeros(len(y))
    coef[theirs.support_] = theirs.dual_coef_[0]
    known = machine_point(problem, coef, problem.gradient(coef))
    assert machine.converged
    assert machine.dual >= known.dual - 1e-6 * abs(known.dual)
    assert machine.gap <= 1e-6 * machine.objective
    scores = problem.gradient(machine.coef) + problem.target + machine.intercept
    np.testing.assert_allclose(scores, theirs.decision_function(X), atol=1e-3 * np.abs(scores).max())


@seeds
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("tube", [0.0, 0.1])
@pytest.mark.parametrize(("kernel", "peer"), KERNELS, ids=lambda value: type(value).__name__)
def test_regressors_are_scikit_learns(kernel, peer, tube, C, seed):  # peer
    X, y = waves(seed)
    problem = regressor(kernel, X, y, C, tube)
    machine, theirs = solve_machine(problem, tol=1e-5), peer_svm.SVR(C=C, epsilon=tube, tol=1e-5, **peer).fit(X, y)
    assert machine.converged
    scores = problem.gradient(machine.coef) + problem.target + machine.intercept
    np.testing.assert_allclose(scores, theirs.predict(X), atol=2e-3)


@seeds
def test_feasible_along_the_way_and_the_gap_bounds_the_error(seed):  # property
    X, y = two_clouds(seed)
    problem = classifier(RBF(0.5), X, y, 10.0)
    best = solve_machine(problem, tol=1e-9)
    for most in (1, 10, 100):
        machine = solve_machine(problem, max_iter=most)
        assert machine.n_iter <= most
        assert abs(machine.coef.sum()) <= 1e-12 * np.abs(machine.coef).sum()
        assert (machine.coef >= problem.lower).all()
        assert (machine.coef <= problem.upper).all()
        assert machine.objective - best.objective <= machine.gap * (1 + 1e-9)
        assert machine.dual <= best.dual


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, coef0=1.0) + 2 * RBF(0.1), Laplacian(0.2), Sigmoid(0.05)])
def test_little_room_and_no_shrinking_lead_to_the_same_machine(kernel):  # property
    X, y = two_clouds(0, n=300)
    problem = classifier(kernel, X, y, 1.0)
    plain = solve_machine(problem, tol=1e-5)
    for options in ({"cache_size": 0.05}, {"shrinking": False}):
        machine = solve_machine(problem, tol=1e-5, **options)
        assert machine.dual == pytest.approx(plain.dual, rel=1e-4)


def test_large_sets_shrink_and_agree_with_small_room():  # property
    X, y = two_clouds(1, n=3000)
    problem = classifier(RBF(0.2), X, y, 1.0)
    plain, tight = solve_machine(problem), solve_machine(problem, cache_size=1.0)
    assert plain.trace["shrunk"].max() > 0.1
    assert plain.dual == pytest.approx(tight.dual, rel=1e-4)
    assert plain.converged
    assert tight.converged
    assert (np.diff(plain.trace["dual"]) >= -1e-5 * plain.dual).all()


def test_sparse_rows_and_given_products_lead_to_the_same_machine():
    X, y = two_clouds(2)
    X[np.abs(X) < 0.7] = 0.0
    kernel = RBF(0.4)
    dense = solve_machine(classifier(kernel, X, y), tol=1e-8)
    rows = solve_machine(classifier(kernel, sp.csr_array(X), y), tol=1e-8)
    given = solve_machine(classifier(GivenKernel(), kernel(X), y), tol=1e-8)
    for other in (rows, given):
        np.testing.assert_allclose(other.coef, dense.coef, atol=1e-6)
        assert other.intercept == pytest.approx(dense.intercept, abs=1e-6)


def test_a_start_saves_steps():
    X, y = two_clouds(3)
    first = solve_machine(classifier(RBF(0.3), X, y, 1.0), tol=1e-6)
    again = solve_machine(classifier(RBF(0.3), X, y, 1.1), tol=1e-6, start=first.coef)
    anew = solve_machine(classifier(RBF(0.3), X, y, 1.1), tol=1e-6)
    assert again.dual == pytest.approx(anew.dual)
    assert again.n_iter < anew.n_iter


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1)])
def test_the_hard_margin_keeps_every_row_outside_the_margin(kernel):
    X, y = two_clouds(0, apart=8.0)
    problem = classifier(kernel, X, y, np.inf)
    machine = solve_machine(problem, tol=1e-6)
    assert (y * (problem.gradient(machine.coef) + y + machine.intercept)).min() >= 1 - 1e-4


def test_classes_that_overlap_have_no_hard_margin():
    X, y = two_clouds(0, n=30, apart=0.2)
    with pytest.raises(NotSeparableError, match="cannot be separated"):
        solve_machine(classifier(Linear(), X, y, np.inf))
    with pytest.raises(NotSeparableError, match="cannot be separated"):
        solve_machine(classifier(Linear(), np.zeros((4, 2)), np.array([1.0, -1.0, 1.0, -1.0]), np.inf))


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e6, 1e100])
def test_any_scale_of_the_data(scale):
    X, y = two_clouds(0, n=60)
    plain = solve_machine(classifier(RBF(0.5), X, y), tol=1e-6)
    scaled = solve_machine(classifier(RBF(0.5 / scale / scale), X * scale, y), tol=1e-6)
    assert scaled.dual == pytest.approx(plain.dual, rel=1e-6)
