from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational, eye, symbols

from pellucid.optimize import BFGS, DFP, LBFGS, Backtracking, ConjugateGradient, ExactStep, FixedStep, Newton
from pellucid.optimize.workings import show_steps
from pellucid.optimize.workings.newton_workings import absolute, factorize, positive_middle
from pellucid.optimize.workings.pencil import Pencil

TILTED = "x**2 + x*y + 2*y**2 - 3*x"  # Hessian (2 1; 1 4), minimum (12/7, -3/7)
SADDLE = "x**4 - x**2 + x*y + y**2/3"  # Hessian (-2 1; 1 2/3) at (0, 1), eigenvalues -7/3 and 1

symmetric = st.integers(0, 10**6).map(lambda seed: _symmetric(np.random.default_rng(seed)))


def _symmetric(rng):
    n = int(rng.integers(1, 5))
    A = rng.integers(-3, 4, (n, n))
    return Matrix(np.tril(A) + np.tril(A, -1).T)


def R(above, below=1):
    return Rational(above, below)


def test_one_newton_step_solves_a_quadratic():
    work = show_steps(Newton(), TILTED, [1, 1])
    assert work.answer["x"] == [[1, 1], [R(12, 7), R(-3, 7)]]
    assert "Its leading minors 2, 7 are positive" in work.text()


def test_the_undamped_step_may_overshoot():
    # x⁴ from 1: g = 4, H = 12, so x = 1 - 1/3, a third less each time
    assert show_steps(Newton(FixedStep(1.0)), "x**4", [1], steps=2).answer["x"] == [[1], [R(2, 3)], [R(4, 9)]]


def test_an_indefinite_hessian_gets_the_sizes_of_its_eigenvalues():
    # eigenvectors (-3, 1) to -7/3 and (1, 3) to 1: |A| = 7/3 (9 -3; -3 1)/10 + (1 3; 3 9)/10
    work = show_steps(Newton(Backtracking()), SADDLE, [0, 1], steps=1)
    assert "Its eigenvalues are −7/3, 1" in work.text()
    assert "⎡11/5   −2/5⎤" in work.text()
    assert work.answer["x"][1] == [R(-3, 5), R(1, 5)]


def test_an_indefinite_hessian_is_repaired_by_its_factors_if_asked():
    # L = (1 0; -1/2 1), D = (-2, 7/6), so L|D|L' = (2 -1; -1 5/3) and d = (-1, -1)
    work = show_steps(Newton(Backtracking(), repair="bunch-kaufman"), SADDLE, [0, 1], steps=1)
    assert work.answer["x"][1] == [-1, 0]


def test_a_zero_diagonal_needs_a_block_of_two():
    factor = factorize(Matrix([[0, 1], [1, 0]]))
    assert factor.blocks == [2]
    assert positive_middle(factor, Pencil()) == eye(2)


@settings(max_examples=60, deadline=None)
@given(symmetric)
def test_the_factors_multiply_to_the_matrix(A):
    factor = factorize(A)
    assert A.extract(factor.order, factor.order) == factor.lower * factor.middle * factor.lower.T
    assert sum(factor.blocks) == A.rows
    assert factor.lower.is_lower


@settings(max_examples=30, deadline=None)
@given(symmetric)
def test_the_absolute_matrix_has_the_sizes_of_the_eigenvalues(A):
    values, vectors = np.linalg.eigh(np.array(A, dtype=float))
    sizes = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
    np.testing.assert_allclose(np.array(absolute(A, Pencil()), dtype=float), vectors * sizes @ vectors.T, atol=1e-12)


def test_one_bfgs_update_by_hand():
    # s = (0, -5/4), y = (-5/4, -5), s'y = 25/4, scale 4/17, rho = 4/25
    work = show_steps(BFGS(ExactStep()), TILTED, [1, 1])
    identity, first, second = work.answer["inverse_hessian"]
    assert identity == eye(2)
    assert first == Matrix([[R(4, 17), R(-1, 17)], [R(-1, 17), R(9, 34)]])
    assert first * Matrix([R(-5, 4), -5]) == Matrix([0, R(-5, 4)])
    assert second == Matrix([[2, 1], [1, 4]]).inv()
    assert "at most 2 iterations" in work.text()


def test_one_dfp_update_by_hand():
    # H y = (4/17)(-5/4, -5), y'Hy = 25/4: H - Hyy'H / (25/4) + diag(0, 1/4)
    work = show_steps(DFP(ExactStep()), TILTED, [1, 1])
    _, first, second = work.answer["inverse_hessian"]
    Hy = R(4, 17) * Matrix([R(-5, 4), -5])
    assert first == R(4, 17) * eye(2) - Hy * Hy.T / R(25, 4) + Matrix([[0, 0], [0, R(1, 4)]])
    assert second == Matrix([[2, 1], [1, 4]]).inv()


def test_an_update_is_left_out_where_the_curvature_is_negative():
    # -x² from 1 with a step of 1/4: s = 1/2, y = -1
    work = show_steps(BFGS(FixedStep(0.25)), "-x**2 + y**2", [1, 0], steps=1)
    assert "s₀ᵀ y₀ ≤ 0" in work.text()
    assert work.answer["inverse_hessian"][1] == eye(2)


@pytest.mark.parametrize("search", [ExactStep(), Backtracking()], ids=["exact", "backtracking"])
def test_enough_memory_makes_l_bfgs_scale_the_first_matrix_anew_only(search):
    # after one step both know one pair and the same scale, so the second points agree
    full, short = (
        show_steps(method, TILTED, [1, 1], steps=2).answer["x"] for method in (BFGS(search), LBFGS(5, search))
    )
    assert full == short


def test_the_oldest_pair_is_forgotten():
    work = show_steps(LBFGS(1, Backtracking()), "x**4 + x*y + y**2", [1, 1])
    assert "the oldest is forgotten: s₀, y₀" in work.text()


def test_conjugate_gradients_end_after_n_steps():
    # g = (0, 5), then (-5/4, 0): beta = (25/16) / 25 = 1/16 by all three rules
    for rule in ("fletcher-reeves", "polak-ribiere", "hestenes-stiefel"):
        work = show_steps(ConjugateGradient(rule, ExactStep()), TILTED, [1, 1])
        assert work.answer["beta"] == [R(1, 16)]
        assert work.answer["x"][2] == [R(12, 7), R(-3, 7)]
        assert "d₁ᵀ A d₀ = 0" in work.text()


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_exact_line_searches_end_in_as_many_steps_as_there_are_variables(seed):
    rng = np.random.default_rng(seed)
    root, b = Matrix(rng.integers(-2, 3, (3, 3))), Matrix(rng.integers(-3, 4, 3))
    A = root.T * root + eye(3)
    x = Matrix(symbols("x y z"))
    quadratic = ((x.T * A * x)[0] / 2 - (b.T * x)[0]).expand()
    start = [int(v) for v in rng.integers(-3, 4, 3)]
    for method in (
        BFGS(ExactStep()),
        DFP(ExactStep()),
        LBFGS(3, ExactStep()),
        ConjugateGradient(line_search=ExactStep()),
    ):
        points = show_steps(method, quadratic, start, steps=4).answer["x"]
        assert len(points) <= 4
        assert points[-1] == list(A.inv() * b)


def test_conjugate_gradients_start_over_when_the_direction_does_not_lead_downhill():
    # x² with steps of 1 jumps from 1 to -1: g = -2, beta = 1, d = 2 - 2 = 0
    work = show_steps(ConjugateGradient("fletcher-reeves", FixedStep(1.0)), "x**2", [1], steps=2)
    assert work.answer["beta"][0] == 0
    assert work.answer["x"] == [[1], [-1], [1]]
    assert "we start over" in work.text()


def test_refuses_a_search_that_goes_on_for_too_long():
    with pytest.raises(ValueError, match="at most 12 trials .* got more from StrongWolfe in iteration 1"):
        show_steps(BFGS(), "-x", [1])
    with pytest.raises(ValueError, match="at most 20 trials"):
        show_steps(BFGS(Backtracking(first=1e9)), "x**2", [1])


def test_refuses_an_exact_step_on_what_is_no_parabola():
    with pytest.raises(ValueError, match="function must be quadratic for ExactStep"):
        show_steps(BFGS(ExactStep()), "x**4", [1])
    with pytest.raises(ValueError, match="must curve upwards along the line"):
        show_steps(BFGS(ExactStep()), "-x**2", [1])
