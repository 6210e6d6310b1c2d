import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso
from sklearn.svm import SVC

from pellucid.optimize import Problem
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem, SmoothConstraint
from pellucid.optimize.constrained.duality import Lagrangian, dual_function, duality_gap
from pellucid.optimize.constrained.kkt_certificate import kkt_certificate
from pellucid.optimize.constrained.lasso_duality import LassoDuality
from pellucid.optimize.constrained.quadratic_program import quadratic_program
from pellucid.optimize.constrained.scipy_solver import solve_scipy
from pellucid.optimize.constrained.soft_margin_svm import SoftMarginSVM

SQUARES = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])  # x^2 + y^2 with x + y >= 1
BALL = ConstrainedProblem(  # e^x + x^2 with x^2 <= 1, strongly convex with mu = 2
    Problem(lambda x: float(np.exp(x[0]) + x[0] ** 2), lambda x: np.exp(x) + 2 * x, strong_convexity=2.0),
    inequalities=SmoothConstraint(lambda x: x @ x - 1, lambda x: 2 * x),
    is_convex=True,
)


def random_program(seed, n=4, m=3, p=1):
    rng = np.random.default_rng(seed)
    R, A, G, inside = (
        rng.standard_normal((n, n)),
        rng.standard_normal((p, n)),
        rng.standard_normal((m, n)),
        rng.random(n),
    )
    program = quadratic_program(
        R @ R.T + np.eye(n), 3 * rng.standard_normal(n), A=A, b=A @ inside, G=G, h=G @ inside + rng.random(m)
    )
    return program, inside


def two_clouds(seed, m=24):
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], m // 2)
    return rng.standard_normal((m, 2)) + 0.8 * y[:, None], y


# by hand


def test_the_dual_of_two_squares_is_a_parabola():
    # L = x^2 + y^2 + lam (1 - x - y) is least at x = y = lam / 2: d = lam - lam^2 / 2, at most 1/2
    for lam in (0.0, 0.5, 1.0, 3.0):
        dual = dual_function(SQUARES, [lam])
        assert dual.value == pytest.approx(lam - lam**2 / 2)
        assert dual.is_lower_bound
        np.testing.assert_allclose(dual.x, [lam / 2, lam / 2])
    assert duality_gap(SQUARES, [0.5, 0.5], [1.0]) == 0


def test_the_dual_of_a_linear_program_is_minus_infinity_off_its_constraints():
    # max x + 2 y with x + y <= 4, 0 <= x, 0 <= y <= 3: the optimum 7 has multipliers (1; 0, 0; 1)
    program = quadratic_program(q=[-1.0, -2.0], G=[[1, 1]], h=[4], low=0.0, high=[np.inf, 3.0])
    assert dual_function(program, [1, 0, 0, 1]).value == -7
    assert dual_function(program, [2, 1, 0, 0]).value == -8
    off = dual_function(program, [2, 0, 0, 1])
    assert (off.value, off.x) == (-np.inf, None)
    assert "slopes in a direction without curvature" in off.how


def test_the_dual_of_a_concave_objective_is_minus_infinity():
    program = quadratic_program([[-2.0]], G=[[1.0], [-1.0]], h=[1.0, 1.0])
    assert dual_function(program, [5.0, 5.0]).value == -np.inf


def test_the_lagrangian_adds_the_constraints():
    L = Lagrangian(quadratic_program(2 * np.eye(2), A=[[1, -1]], b=[0], G=[[-1, -1]], h=[-1]))
    x, lam, nu = np.array([2.0, 1.0]), np.array([3.0]), np.array([5.0])
    assert L.value(x, lam, nu) == 5 + 3 * (-2) + 5 * 1
    np.testing.assert_array_equal(L.gradient(x, lam, nu), [4 - 3 + 5, 2 - 3 - 5])


def test_strong_convexity_makes_a_numerical_minimum_a_bound():
    dual = dual_function(BALL, [0.0], x0=[3.0])  # e^x + 2 x = 0 at x = -0.3517...
    assert dual.is_lower_bound
    assert dual.x == pytest.approx([-0.35173371])
    assert dual.value == pytest.approx(np.exp(dual.x[0]) + dual.x[0] ** 2, abs=1e-12)
    assert dual.value <= np.exp(dual.x[0]) + dual.x[0] ** 2


def test_without_it_the_number_is_said_to_be_no_proof():
    disk = ConstrainedProblem(
        Problem(lambda x: float(x.sum()), lambda x: np.ones(2), strong_convexity=0.0),
        inequalities=SmoothConstraint(lambda x: x @ x - 2, lambda x: 2 * x),
        is_convex=True,
    )
    dual = dual_function(disk, [0.5], x0=[0.0, 0.0])  # x + y + (x^2 + y^2 - 2) / 2 is least at (-1, -1)
    assert dual.value == pytest.approx(-2)
    assert not dual.is_lower_bound
    assert "no proof" in dual.how


def test_an_svm_of_two_points_has_its_plane_half_way():
    # points 0 and 2: w = 1, b = -1, alpha = |w|^2 / 2 each, both objectives 1/2
    answer = SoftMarginSVM([[0.0], [2.0]], [-1, 1], C=10.0).solve()
    np.testing.assert_allclose([*answer.w, answer.b, *answer.alpha], [1, -1, 0.5, 0.5], atol=1e-7)
    assert answer.primal_value == pytest.approx(0.5)
    assert answer.gap == pytest.approx(0, abs=1e-7)


def test_the_bias_averages_over_margin_support_vectors_only():
    by_hand = SoftMarginSVM([[0.0], [2.0], [0.9]], [-1, 1, 1], C=0.5).recover([0.4, 0.2, 0.5])
    # w = 2 * 0.2 + 0.9 * 0.5 = 0.85; biases on the margin: -1 - 0 and 1 - 1.7, without that of the third point
    assert by_hand.w == pytest.approx([0.85])
    assert by_hand.b == pytest.approx((-1 - 0.7) / 2)


def test_the_primal_svm_is_a_minimum_with_slack():
    svm = SoftMarginSVM([[0.0], [2.0]], [-1, 1], C=3.0)
    point = np.array([1.0, -1.0, 0.0, 0.5])  # w, b, xi
    assert svm.primal.value(point) == 0.5 + 3 * 0.5
    np.testing.assert_array_equal(svm.primal.c(point), [0, -0.5, 0, -0.5])
    assert svm.primal.is_convex


def test_the_lasso_of_one_feature_has_no_gap_at_the_soft_threshold():
    pair = LassoDuality([[1.0], [1.0]], [2.0, 2.0], alpha=0.5)
    assert pair.gap([1.5]) == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose(pair.dual_point([1.5]), [0.5, 0.5])
    # at w = 0 the residual (2, 2) must shrink to (1/2, 1/2), whose dual value is (2 - 1/4) / 2
    assert pair.gap([0.0]) == pytest.approx(2 - 7 / 8)


# properties


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 3))
def test_weak_duality_holds_for_any_multipliers(seed, scale):
    program, inside = random_program(seed)
    rng = np.random.default_rng(seed)
    lam, nu = scale * rng.random(3), scale * rng.standard_normal(1)
    assert dual_function(program, lam, nu).value <= program.value(inside) + 1e-9
    assert duality_gap(program, inside, lam, nu) >= -1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_strong_duality_holds_at_the_solution(seed):
    program, inside = random_program(seed)
    solution = solve_scipy(program, inside)
    assert duality_gap(program, solution.x, np.maximum(solution.lam, 0), solution.nu) == pytest.approx(0, abs=1e-5)
    assert solution.certificate["duality gap"].value == pytest.approx(
        abs(duality_gap(program, solution.x, solution.lam, solution.nu)), abs=1e-5
    )


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 5), st.floats(-1, 1))
def test_a_numerical_dual_is_below_every_feasible_value(lam, x):
    dual = dual_function(BALL, [lam], x0=[0.5])
    assert dual.is_lower_bound
    assert dual.value <= BALL.value(np.array([x])) + 1e-12


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_svm_gap_bounds_the_error_of_any_multipliers(seed, C):
    X, y = two_clouds(seed)
    svm = SoftMarginSVM(X, y, C)
    best = svm.solve()
    assert best.gap == pytest.approx(0, abs=1e-4 * max(1, best.primal_value))
    feasible = svm.recover(np.full(len(y), C / 3))  # equal classes: the sum of alpha y is 0
    assert feasible.gap >= feasible.primal_value - best.primal_value - 1e-6
    assert feasible.dual_value <= best.dual_value + 1e-6


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1))
def test_the_lasso_gap_is_never_too_small(seed, alpha):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 4)), 2 * rng.standard_normal(12)
    pair, w = LassoDuality(X, y, alpha), rng.standard_normal(4)
    best = Lasso(alpha=alpha, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y).coef_
    assert pair.gap(w) >= pair.primal_value(w) - pair.primal_value(best) - 1e-10
    assert pair.gap(best) == pytest.approx(0, abs=1e-8)


# peer


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_svm_is_that_of_libsvm(seed, C):
    X, y = two_clouds(seed)
    ours, peer = SoftMarginSVM(X, y, C).solve(), SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.w, peer.coef_[0], atol=1e-4)
    assert ours.b == pytest.approx(peer.intercept_[0], abs=1e-4)
    alpha = np.zeros(len(y))
    alpha[peer.support_] = np.abs(peer.dual_coef_[0])
    np.testing.assert_allclose(ours.alpha, alpha, atol=1e-3 * C)


@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_svm_as_programs_meet(seed):
    X, y = two_clouds(seed, m=10)
    svm = SoftMarginSVM(X, y, 1.0)
    answer = svm.solve()
    slack = np.maximum(0, 1 - y * (X @ answer.w + answer.b))
    primal = np.r_[answer.w, answer.b, slack]
    lam = np.r_[answer.alpha, svm.C - answer.alpha]  # the multipliers of margins and of xi >= 0
    assert kkt_certificate(svm.primal, primal, lam, tol=1e-4).holds
    assert svm.certify(answer).holds
    assert not svm.certify(svm.recover(answer.alpha + 0.1)).holds


@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_lasso_as_programs_meet(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8, 3)), rng.standard_normal(8)
    pair = LassoDuality(X, y, 0.1)
    peer = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12).fit(X, y)
    split = solve_scipy(pair.primal, np.zeros(6)).x
    np.testing.assert_allclose(split[:3] - split[3:], peer.coef_, atol=1e-5)
    theta = solve_scipy(pair.dual, np.zeros(8)).x
    np.testing.assert_allclose(theta, y - X @ peer.coef_, atol=1e-5)
    assert -pair.dual.value(theta) == pytest.approx(pair.primal_value(peer.coef_), abs=1e-8)


# errors


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"lam must be at least 0, got -1.0"):
        dual_function(SQUARES, [-1.0])
    with pytest.raises(ValueError, match="lam and nu must be finite"):
        dual_function(SQUARES, [np.nan])
    with pytest.raises(ValueError, match=r"lam must have shape \(1,\)"):
        dual_function(SQUARES)
    with pytest.raises(ValueError, match="x0 must be given for a problem without linear constraints"):
        dual_function(BALL, [1.0])
    with pytest.raises(ValueError, match="y must hold both classes -1 and 1"):
        SoftMarginSVM([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="C must be above 0, got -1"):
        SoftMarginSVM([[0.0], [1.0]], [-1, 1], C=-1)
    with pytest.raises(ValueError, match="X must be finite"):
        SoftMarginSVM([[np.nan], [1.0]], [-1, 1])
    with pytest.raises(ValueError, match=r"alpha must have shape \(2,\), one per point"):
        SoftMarginSVM([[0.0], [1.0]], [-1, 1]).recover([1.0])
    with pytest.raises(ValueError, match="alpha must be above 0, got 0"):
        LassoDuality([[1.0]], [1.0], 0)
    with pytest.raises(ValueError, match=r"w must have shape \(1,\), one per feature, got \(2,\)"):
        LassoDuality([[1.0]], [1.0], 1.0).gap([1.0, 2.0])
