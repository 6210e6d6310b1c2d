import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.optimize import L1, Problem, quadratic
from pellucid.optimize.constrained.constrained_problem import (
    ConstrainedProblem,
    LinearConstraint,
    SmoothConstraint,
    bounds,
)
from pellucid.optimize.constrained.kkt_certificate import kkt_certificate
from pellucid.optimize.constrained.quadratic_program import quadratic_program
from pellucid.optimize.constrained.scipy_solver import solve_scipy
from pellucid.optimize.constrained.slater import slater_point

SQUARES = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])  # x^2 + y^2 with x + y >= 1
LINEAR = quadratic_program(q=[-1.0, -2.0], G=[[1, 1]], h=[4], low=0.0, high=[np.inf, 3.0])
DISK = ConstrainedProblem(
    Problem(lambda x: float(x[0] + x[1]), lambda x: np.ones(2), strong_convexity=0.0),
    inequalities=SmoothConstraint(lambda x: x @ x - 2, lambda x: 2 * x),
    is_convex=True,
)
CIRCLE = ConstrainedProblem(DISK.objective, equalities=SmoothConstraint(lambda x: x @ x - 2, lambda x: 2 * x))
METHODS = ["SLSQP", "trust-constr"]


def random_program(seed, n=4, m=5, p=1):
    """A strongly convex quadratic program that has a feasible point."""
    rng = np.random.default_rng(seed)
    R, A, G, inside = (
        rng.standard_normal((n, n)),
        rng.standard_normal((p, n)),
        rng.standard_normal((m, n)),
        rng.random(n),
    )
    return quadratic_program(
        R @ R.T + np.eye(n), 3 * rng.standard_normal(n), A=A, b=A @ inside, G=G, h=G @ inside + rng.random(m)
    )


# by hand


@pytest.mark.parametrize("target", [[1e6, 0.0], [0.0, 1e6], [1e6, 1e6]])
def test_a_point_outside_by_1_is_not_optimal_however_large_the_problem(target):
    # the nearest point to the target with y <= target_y - 1: it is the target itself only if 1 counts as nothing
    program = quadratic_program(2 * np.eye(2), -2 * np.array(target), G=[[0.0, 1.0]], h=[target[1] - 1.0])
    assert kkt_certificate(program, [target[0], target[1] - 1.0], lam=[2.0]).holds
    for lam in (0.0, 2.0):
        outside = kkt_certificate(program, target, lam=[lam])
        assert outside["primal feasibility"].value == pytest.approx(1.0)
        assert not outside.holds


def test_the_nearest_point_of_a_half_plane():
    certificate = kkt_certificate(SQUARES, [0.5, 0.5], lam=[1.0])
    assert (certificate.grade, certificate.holds) == ("optimal", True)
    assert all(claim.value == 0 for claim in certificate.claims)


def test_the_residuals_of_a_wrong_candidate():
    # gradient (2, 0), force of the constraint lam (-1, -1) = (-1, -1): what is left is (1, -1), relative to 2
    certificate = kkt_certificate(SQUARES, [1.0, 0.0], lam=[1.0])
    assert certificate["stationarity"].value == 0.5
    assert certificate["primal feasibility"].value == 0
    # |grad L|^2 / (2 mu) = 2 / 4, and that is the truth: f = 1 is 1/2 above the minimum
    assert certificate["duality gap"].value == pytest.approx(0.5)
    outside = kkt_certificate(SQUARES, [0.0, 0.0], lam=[0.0])
    assert outside["primal feasibility"].value == 1
    assert [claim.name for claim in outside.failed] == ["primal feasibility"]
    negative = kkt_certificate(SQUARES, [-0.5, -0.5], lam=[-1.0])
    assert "dual feasibility" in [claim.name for claim in negative.failed]


def test_a_violated_equality_is_measured_as_a_move():
    certificate = kkt_certificate(quadratic_program(2 * np.eye(2), A=[[10, 10]], b=[10]), [0.5, 0.6], nu=[-0.1])
    assert certificate["primal feasibility"].value == pytest.approx(0.1)  # 10 (0.5 + 0.6) - 10, over 10


def test_a_slack_constraint_must_have_no_multiplier():
    # min (x + 1)^2 with x >= -3 is at -1; the multiplier 1 there pushes without touching
    program = quadratic_program([[2.0]], [2.0], G=[[-1.0]], h=[3.0])
    certificate = kkt_certificate(program, [-1.0], lam=[1.0])
    assert certificate["complementarity"].value == 2
    assert kkt_certificate(program, [-1.0]).holds


def test_the_corner_of_a_linear_program():
    # at (1, 3) the constraints x + y <= 4 and y <= 3 are active with multipliers 1 and 1
    assert kkt_certificate(LINEAR, [1.0, 3.0], lam=[1, 0, 0, 1]).holds
    assert kkt_certificate(LINEAR, [1.0, 3.0]).holds
    other_corner = kkt_certificate(LINEAR, [4.0, 0.0])
    assert not other_corner.holds
    assert "estimated" in other_corner.reason


@pytest.mark.parametrize("method", METHODS)
def test_the_lowest_point_of_a_disk(method):
    solution = solve_scipy(DISK, [0.5, 0.0], method)
    np.testing.assert_allclose(solution.x, [-1, -1], atol=1e-6)
    np.testing.assert_allclose(solution.lam, [0.5], atol=1e-6)
    assert (solution.certificate.grade, solution.certificate.holds) == ("optimal", True)


def test_the_highest_point_of_a_circle_is_stationary_too_and_no_more_is_claimed():
    lowest, highest = kkt_certificate(CIRCLE, [-1, -1], nu=[0.5]), kkt_certificate(CIRCLE, [1, 1], nu=[-0.5])
    assert lowest.holds
    assert highest.holds
    assert lowest.grade == highest.grade == "stationary"


@pytest.mark.parametrize("method", METHODS)
def test_the_multiplier_of_an_equality_has_the_sign_of_the_lagrangian(method):
    # x^2 + y^2 with x + y = 1: 2 x + nu = 0 at x = 1/2
    solution = solve_scipy(quadratic_program(2 * np.eye(2), A=[[1, 1]], b=[1]), [3.0, 0.0], method)
    np.testing.assert_allclose(solution.nu, [-1], atol=1e-6)
    assert solution.certificate.holds


def test_the_trace_tells_objective_and_violation():
    solution = solve_scipy(SQUARES, [0.0, 0.0])
    assert solution.trace.columns == ("iteration", "objective", "violation")
    assert solution.trace["violation"][0] == 1
    assert solution.trace["objective"][-1] == pytest.approx(0.5)
    assert len(solution.trace) == solution.n_iter + 1


def test_bounds_leave_out_what_is_infinite():
    box = bounds([0.0, -np.inf], [1.0, np.inf])
    np.testing.assert_array_equal(box.A, [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(box.value(np.array([3.0, 9.0])), [-3, 2])


def test_the_middle_of_an_interval_is_its_slater_point():
    found = slater_point(quadratic_program(q=[1.0], G=[[1.0], [-2.0]], h=[2.0, -2.0]))  # 1 <= x <= 2
    assert found.found
    np.testing.assert_allclose(found.x, [1.5])
    assert found.margin == pytest.approx(0.5)


def test_that_there_is_no_slater_point_is_proved_for_linear_constraints():
    one_point = slater_point(quadratic_program(q=[1.0], G=[[1.0], [-1.0]], h=[1.0, -1.0]))
    assert (one_point.found, one_point.best_possible) == (False, 0.0)
    assert one_point.margin == 0
    y, _ = one_point.multipliers
    np.testing.assert_allclose(y, [0.5, 0.5])  # the two inequalities add up to 0 <= 0
    contradiction = slater_point(quadratic_program(q=[1.0], G=[[1.0], [-1.0]], h=[0.0, -1.0]))
    assert contradiction.best_possible == pytest.approx(-0.5)
    assert "contradict each other" in repr(contradiction)
    equalities = slater_point(quadratic_program(q=[1.0, 0.0], A=[[1, 1], [1, 1]], b=[0, 1]))
    assert not equalities.found
    assert "equalities contradict" in repr(equalities)


def test_slater_points_of_curved_constraints_are_searched_for():
    assert slater_point(DISK, [3.0, 1.0]).found
    on_line = ConstrainedProblem(DISK.objective, LinearConstraint([[1, -1]], [0]), DISK.inequalities, is_convex=True)
    found = slater_point(on_line)
    assert found.found
    assert found.x[0] == pytest.approx(found.x[1])
    point = ConstrainedProblem(DISK.objective, inequalities=lambda x: x @ x, is_convex=True)
    assert not slater_point(point, [1.0, 1.0]).found


def test_without_slater_no_multiplier_may_fit_an_optimum():
    # min x with x^2 <= 0 has only x = 0, where the gradient of the constraint vanishes
    objective = Problem(lambda x: float(x[0]), lambda x: np.ones(1), strong_convexity=0.0)
    problem = ConstrainedProblem(
        objective, inequalities=SmoothConstraint(lambda x: x @ x, lambda x: 2 * x), is_convex=True
    )
    certificate = kkt_certificate(problem, [0.0])
    assert "slater_point" in certificate["stationarity"].remedy
    assert not certificate.holds


# properties


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_both_methods_solve_random_programs_and_prove_it(seed):
    program = random_program(seed)
    first, second = (solve_scipy(program, np.zeros(4), method) for method in METHODS)
    np.testing.assert_allclose(first.x, second.x, atol=1e-5)
    assert first.certificate.grade == "optimal"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 3), st.sampled_from([-1e-3, 1e-3]))
def test_a_nudged_answer_or_multiplier_is_objected_to(seed, j, nudge):
    program = random_program(seed)
    solution = solve_scipy(program, np.zeros(4))
    x, lam, nu = solution.x.copy(), solution.lam.copy(), solution.nu.copy()
    assert kkt_certificate(program, x, lam, nu).holds
    x[j] += nudge
    assert not kkt_certificate(program, x, lam, nu).holds
    assert not kkt_certificate(program, x).holds
    lam[j] += nudge
    assert not kkt_certificate(program, solution.x, lam, nu).holds
    assert not kkt_certificate(program, solution.x, solution.lam, nu + nudge).holds


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_gap_is_never_too_small(seed):
    program = random_program(seed)
    minimum = program.value(solve_scipy(program, np.zeros(4)).x)
    rng = np.random.default_rng(seed)
    for scale in (1e-3, 1e-1, 10.0):
        x = rng.random(4) * scale
        x -= np.linalg.pinv(program.a_jacobian(x)) @ program.a(x)
        if program.c(x).max() <= 0:
            assert kkt_certificate(program, x)["duality gap"].value >= program.value(x) - minimum - 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(-6, 6))
def test_rescaling_a_constraint_changes_no_verdict(seed, power):
    program = random_program(seed)
    solution, factor = solve_scipy(program, np.zeros(4)), 10.0**power
    G, h = program.c_jacobian(solution.x), program.c_jacobian(solution.x) @ solution.x - program.c(solution.x)
    scaled = ConstrainedProblem(program.objective, program.equalities, LinearConstraint(factor * G, factor * h))
    assert kkt_certificate(scaled, solution.x, solution.lam / factor, solution.nu).holds
    assert kkt_certificate(scaled, solution.x).holds
    assert not kkt_certificate(scaled, solution.x + 1e-2).holds


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_a_slater_point_is_strictly_feasible(seed):
    program = random_program(seed)
    found = slater_point(program)
    assert found.found
    assert program.c(found.x).max() < 0
    assert np.abs(program.a(found.x)).max() < 1e-9


def test_differences_serve_for_missing_derivatives():
    bare = ConstrainedProblem(Problem(lambda x: float(x[0] + x[1])), inequalities=lambda x: x @ x - 2)
    solution = solve_scipy(bare, [0.5, 0.0])
    np.testing.assert_allclose(solution.x, [-1, -1], atol=1e-6)
    assert (solution.certificate.grade, solution.certificate.holds) == ("stationary", True)


# errors


@pytest.mark.parametrize("method", METHODS)
def test_an_infeasible_problem_is_not_called_solved(method):
    contradiction = quadratic_program([[1.0]], G=[[1.0], [-1.0]], h=[0.0, -1.0])
    with pytest.warns(UncertifiedWarning):
        solution = solve_scipy(contradiction, [3.0], method, max_iter=100)
    assert "primal feasibility" in [claim.name for claim in solution.certificate.failed]
    assert f"{method} stopped after" in solution.certificate.reason


@pytest.mark.parametrize("method", METHODS)
def test_an_unbounded_problem_is_not_called_solved(method):
    with pytest.warns(UncertifiedWarning):
        solution = solve_scipy(quadratic_program(q=[-1.0], G=[[-1.0]], h=[0.0]), [3.0], method, max_iter=100)
    assert solution.certificate["stationarity"].value == 1


def test_an_iteration_limit_is_told():
    with pytest.warns(UncertifiedWarning):
        solution = solve_scipy(DISK, [0.5, 0.0], max_iter=1)
    assert "Iteration limit reached" in solution.certificate.reason


def test_a_function_that_becomes_nan_leaves_no_claim():
    log = Problem(lambda x: float(np.log(x[0])), lambda x: 1 / x)
    with pytest.warns(UncertifiedWarning):
        solution = solve_scipy(ConstrainedProblem(log, inequalities=lambda x: -x[0] - 1.0), [1.0])
    assert not solution.certificate.holds
    assert not kkt_certificate(SQUARES, [0.5, 0.5], lam=[np.nan]).holds
    nowhere = kkt_certificate(SQUARES, [np.nan, 0.0])
    assert (nowhere.grade, nowhere.holds) == ("none", False)


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="x must have 2 entries, like the constraints, got 3"):
        kkt_certificate(SQUARES, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"lam must have shape \(1,\), one per constraint, got \(2,\)"):
        kkt_certificate(SQUARES, [1.0, 2.0], lam=[1.0, 2.0])
    with pytest.raises(ValueError, match="x must be a vector, got shape"):
        kkt_certificate(SQUARES, [[1.0, 2.0]])
    with pytest.raises(ValueError, match="x0 must be finite"):
        solve_scipy(SQUARES, [np.nan, 0.0])
    with pytest.raises(ValueError, match="method must be one of"):
        solve_scipy(SQUARES, [0.0, 0.0], "simplex")
    with pytest.raises(ValueError, match="A and b must have shapes"):
        LinearConstraint([[1.0, 2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="A and b must be finite"):
        LinearConstraint([[np.nan]], [1.0])
    with pytest.raises(ValueError, match="low must be at most high"):
        bounds([1.0], [0.0])
    with pytest.raises(TypeError, match="objective must be a Problem, got function"):
        ConstrainedProblem(lambda x: 0.0)
    with pytest.raises(ValueError, match="objective must have no penalty"):
        ConstrainedProblem(Problem(lambda x: 0.0, penalty=L1(1.0)))
    with pytest.raises(TypeError, match="a constraint must be a function of x or a LinearConstraint, got 3"):
        ConstrainedProblem(quadratic(np.eye(1)), inequalities=3)
    with pytest.raises(ValueError, match=r"the Jacobian of a constraint must have shape \(1, 2\), got \(3, 2\)"):
        kkt_certificate(
            ConstrainedProblem(quadratic(np.eye(2)), SmoothConstraint(lambda x: x[0], lambda x: np.ones((3, 2)))),
            [0, 0],
        )
    with pytest.raises(ValueError, match="x0 must be given for a problem without linear constraints"):
        slater_point(DISK)
    with pytest.raises(ValueError, match="P or q must be given"):
        quadratic_program()
