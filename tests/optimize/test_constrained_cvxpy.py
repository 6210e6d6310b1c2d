import sys

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.optimize import Problem
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem
from pellucid.optimize.constrained.cvxpy_solver import solve_cvxpy
from pellucid.optimize.constrained.quadratic_program import quadratic_program
from pellucid.optimize.constrained.scipy_solver import solve_scipy
from pellucid.proofs.optimize.conic import ConicProgram, conic_certificate


def random_program(seed, n=4, m=5):
    rng = np.random.default_rng(seed)
    R, A, G, inside = (
        rng.standard_normal((n, n)),
        rng.standard_normal((1, n)),
        rng.standard_normal((m, n)),
        rng.random(n),
    )
    return quadratic_program(
        R @ R.T + np.eye(n), 3 * rng.standard_normal(n), A=A, b=A @ inside, G=G, h=G @ inside + rng.random(m)
    )


# by hand


def test_the_multipliers_have_the_signs_of_the_lagrangian():
    # x^2 + y^2 with x + y >= 1, as c = 1 - x - y <= 0: lam = 1; with x + y = 1, as a = x + y - 1: nu = -1
    half_plane = solve_cvxpy(quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1]))
    np.testing.assert_allclose([*half_plane.x, *half_plane.lam], [0.5, 0.5, 1], atol=1e-6)
    line = solve_cvxpy(quadratic_program(2 * np.eye(2), A=[[1, 1]], b=[1]))
    np.testing.assert_allclose([*line.x, *line.nu], [0.5, 0.5, -1], atol=1e-6)
    assert half_plane.certificate.grade == line.certificate.grade == "optimal"
    assert "CLARABEL stopped after" in line.certificate.reason


def test_a_linear_program():
    solution = solve_cvxpy(quadratic_program(q=[-1.0, -2.0], G=[[1, 1]], h=[4], low=0.0, high=[np.inf, 3.0]))
    np.testing.assert_allclose(solution.x, [1, 3], atol=1e-6)
    np.testing.assert_allclose(solution.lam, [1, 0, 0, 1], atol=1e-6)
    assert solution.trace["objective"][-1] == pytest.approx(-7)


def test_the_conic_gap_of_a_bound():
    # min x with x >= 2, as -x + s = -2: at x = 3, s = 1, z = 1 the gap is 3 - 2, relative to 3
    program = ConicProgram(np.zeros((1, 1)), np.ones(1), -np.eye(1), np.array([-2.0]), nonnegative=1)
    certificate = conic_certificate(program, np.array([3.0]), np.ones(1), np.ones(1))
    assert [claim.name for claim in certificate.failed] == ["duality gap"]
    assert certificate["duality gap"].value == pytest.approx(1 / 3)
    outside = conic_certificate(program, np.array([1.0]), -np.ones(1), -np.ones(1))
    assert {claim.name for claim in outside.failed} >= {"primal cone", "dual cone", "dual residual"}


@pytest.mark.parametrize(
    ("cone", "inside", "outside"),
    [
        ({"second_order": (3,)}, [5.0, 3.0, 4.0], [4.9, 3.0, 4.0]),
        ({"exponential": 1}, [0.0, 1.0, 1.0], [0.0, 1.0, 0.9]),
        ({"exponential": 1}, [-1.0, 0.0, 0.0], [1.0, 0.0, 1.0]),
        ({"semidefinite": (2,)}, [1.0, np.sqrt(2), 1.0], [1.0, 1.5, 1.0]),  # [[1, 1], [1, 1]], scaled
    ],
)
def test_every_cone_knows_its_points(cone, inside, outside):
    program = ConicProgram(np.zeros((1, 1)), np.zeros(1), np.zeros((3, 1)), np.zeros(3), **cone)
    claim = lambda s: conic_certificate(program, np.zeros(1), np.array(s), np.zeros(3))["primal cone"]  # noqa: E731  (a formula)
    assert claim(inside).holds
    assert not claim(outside).holds


# properties


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_scipy_and_cvxpy_agree_on_random_programs(seed):
    program = random_program(seed)
    ours, theirs = solve_scipy(program, np.zeros(4)), solve_cvxpy(program)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-5)
    np.testing.assert_allclose(ours.lam, theirs.lam, atol=1e-4)
    np.testing.assert_allclose(ours.nu, theirs.nu, atol=1e-4)
    assert theirs.certificate.holds


def lasso(rng, w):
    return cp.Minimize(cp.sum_squares(rng.standard_normal((5, 3)) @ w - rng.standard_normal(5)) + cp.norm1(w)), []


def entropy(rng, w):
    return cp.Maximize(cp.sum(cp.entr(w)) + rng.standard_normal(3) @ w), [cp.sum(w) == 1]


def distance(rng, w):
    return cp.Minimize(cp.norm(w - rng.standard_normal(3))), [w @ rng.standard_normal(3) >= 3]


def correlation(rng, w):
    M = rng.uniform(-1, 1, (3, 3))
    S = cp.Variable((3, 3), PSD=True, name="S")
    return cp.Minimize(cp.sum_squares(S - (M + M.T) / 2) + cp.sum_squares(w)), [cp.diag(S) == 1]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", [lasso, entropy, distance, correlation])
def test_problems_of_cvxpy_are_certified_and_filled_in(kind, seed):
    w = cp.Variable(3, name="w")
    objective, constraints = kind(np.random.default_rng(seed), w)
    problem = cp.Problem(objective, constraints)
    solution = solve_cvxpy(problem)
    assert (solution.certificate.grade, solution.certificate.holds) == ("optimal", True)
    np.testing.assert_array_equal(solution.x["w"], w.value)
    assert all(constraint.dual_value is not None for constraint in constraints)
    assert problem.value == pytest.approx(cp.Problem(objective, constraints).solve(), abs=1e-5)


# errors


def test_an_infeasible_and_an_unbounded_problem_have_no_answer():
    with pytest.warns(UncertifiedWarning, match="infeasible: no point satisfies all constraints; slater_point"):
        none = solve_cvxpy(quadratic_program([[1.0]], G=[[1.0], [-1.0]], h=[0.0, -1.0]))
    assert (none.status, none.certificate.grade, none.certificate.holds) == ("infeasible", "none", False)
    assert np.isnan(none.x).all()
    with pytest.warns(UncertifiedWarning, match="unbounded: the objective falls without end"):
        solve_cvxpy(quadratic_program(q=[-1.0], G=[[-1.0]], h=[0.0]))
    w = cp.Variable(name="w")
    with pytest.warns(UncertifiedWarning, match="infeasible"):
        assert solve_cvxpy(cp.Problem(cp.Minimize(w), [w >= 1, w <= 0])).certificate.grade == "none"


def test_a_missing_cvxpy_is_told_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"needs cvxpy, which is not installed. .*pip install 'pellucid\[convex\]'"):
        solve_cvxpy(random_program(0))


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="problem must be a quadratic program with a linear constraint"):
        solve_cvxpy(ConstrainedProblem(Problem(lambda x: 0.0), inequalities=lambda x: x @ x))
    with pytest.raises(ValueError, match="problem must be convex, got a P that is not positive semidefinite"):
        solve_cvxpy(quadratic_program([[-1.0]], G=[[1.0]], h=[1.0]))
    with pytest.raises(TypeError, match=r"problem must be a ConstrainedProblem or a cvxpy.Problem, got int"):
        solve_cvxpy(3)
    w = cp.Variable(name="w")
    with pytest.raises(ValueError, match="problem must be convex by CVXPY's rules"):
        solve_cvxpy(cp.Problem(cp.Minimize(-(w**2))))
