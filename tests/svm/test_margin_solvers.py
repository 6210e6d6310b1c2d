"""The methods behind LinearSVC agree with each other and with plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from pellucid.core.fit import Effort
from pellucid.solvers.leading_eigenvectors import LookSchedule
from pellucid.solvers.newton import _line_minimum
from pellucid.svm import augmented_rows
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc import hinge
from pellucid.svm.linear_svc import squared_hinge as newton
from pellucid.svm.linear_svc.hinge import (
    hinge_dual_descent,
    hinge_interior_point,
    hinge_near_rows,
    hinge_to_rounding,
    squared_hinge_start,
)
from pellucid.svm.linear_svc.linear_svc_solvers import choose_solver
from pellucid.svm.linear_svc.margin_problem import MarginProblem
from pellucid.svm.linear_svc.squared_hinge_l1 import column_descent, proximal_newton
from pellucid.svm.svm_kernels import (
    column_pass,
    csr_curve_pass,
    csr_gram_pass,
    csr_pull_pass,
    csr_scores_pass,
    dual_descent_pass,
    lasso_model_descent,
)

EFFORT = Effort(goal=1e-8, max_iter=10_000, watch=lambda _u: False)


def problem(n=60, p=5, *, constant=1.0, thin=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    signs = np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return MarginProblem(AugmentedRows(sparse.csr_array(X) if thin else X, constant), signs, rng.uniform(0.5, 2.0, n))


def written_out(rows):
    X = rows.X.toarray() if rows.is_sparse else rows.X
    return np.column_stack([X, np.full(rows.n, rows.constant)]) if rows.constant else X


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_products_are_those_of_the_matrix_written_out(thin, constant):
    rows = problem(constant=constant, thin=thin).rows
    A, rng = written_out(rows), np.random.default_rng(0)
    u, r, h = rng.standard_normal(rows.width), rng.standard_normal(rows.n), rng.integers(0, 2, rows.n) * 1.5
    np.testing.assert_allclose(rows.scores(u), A @ u)
    np.testing.assert_allclose(rows.transposed_times(r), A.T @ r)
    np.testing.assert_allclose(rows.gram(h), A.T @ (h[:, None] * A), atol=1e-12)
    np.testing.assert_allclose(rows.curve(h, u), A.T @ (h * (A @ u)))
    np.testing.assert_allclose(rows.gram_diagonal(h), np.diagonal(A.T @ (h[:, None] * A)))
    np.testing.assert_allclose(rows.sq_lengths(), (A**2).sum(axis=1))
    np.testing.assert_allclose(rows.inner_products(), A @ A.T, atol=1e-12)
    np.testing.assert_array_equal(rows.by_column().toarray(), A)


@pytest.mark.parametrize(("direction", "best"), [(1.0, 1.0), (-1.0, 0.0)])
def test_line_minimum_is_where_the_slope_is_zero(direction, best):
    # from w = 0 along d: s^2/2 + (1 - s)^2 / 2 has its minimum at s = 1/2; a row of zeros adds nothing; -d rises
    two = MarginProblem(AugmentedRows(np.array([[1.0], [0.0]]), 0.0), np.ones(2), np.full(2, 0.5))
    smooth, w = newton._SmoothProblem(two, 1e-6), np.zeros(1)
    step, loss = _line_minimum(
        smooth, w, smooth.loss(smooth.scores(w), 0.0), np.array([0.5 * direction]), 0.0, newton.FLAT
    )
    assert step == pytest.approx(best)
    assert loss.f[0] == pytest.approx(0.5 * best)


@pytest.mark.parametrize(("cost", "kind"), [(1.0, newton.DualFactor), (1e6, newton.PrimalFactor)])
def test_few_wide_rows_are_solved_by_equations_of_rows_while_these_are_precise(cost, kind):
    few = problem(n=20, p=100)
    few = replace(few, cost=cost * few.cost)
    assert isinstance(newton._SmoothProblem(few, EFFORT.goal).solve, kind)
    found = newton.squared_hinge_newton(few, EFFORT)
    assert found.gap <= EFFORT.goal * found.objective


@pytest.mark.parametrize("maker", ["PrimalFactor", "DualFactor", "ConjugateSteps"])
def test_every_newton_step_solves_the_same_system(maker):
    one = problem()
    A, rng = written_out(one.rows), np.random.default_rng(0)
    solve, g = getattr(newton, maker)(one), rng.standard_normal(one.rows.width)
    for _ in range(3):  # the primal factor updates the Gram matrix of the last call
        active = rng.random(one.rows.n) < 0.8
        H = np.eye(one.rows.width) + 2.0 * A[active].T @ (one.cost[active, None] * A[active])
        np.testing.assert_allclose(solve(g, active, 1e-12), np.linalg.solve(H, g), atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 5), (20, 30)])
@pytest.mark.parametrize("thin", [False, True])
def test_interior_point_and_dual_descent_find_the_same_machine(shape, thin):
    one = problem(*shape, thin=thin)
    inside = hinge_interior_point(one, EFFORT)
    along = hinge_dual_descent(one, EFFORT, np.random.RandomState(0))
    np.testing.assert_allclose(along.u, inside.u, atol=1e-3)
    assert along.objective == pytest.approx(inside.objective, rel=1e-7)
    for machine in (inside, along):
        assert np.all((machine.alpha >= 0.0) & (machine.alpha <= one.cost))


@pytest.mark.parametrize("shape", [(60, 5), (20, 30)])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_the_hinge_of_little_data_is_solved_to_rounding_in_any_order_and_repetition(shape, C):
    one, effort = problem(*shape), Effort(goal=1e-6, max_iter=1000, watch=lambda _u: False)
    one = replace(one, cost=C * one.cost)
    mixed = np.random.default_rng(0).permutation(shape[0])
    twice = one.part(np.repeat(mixed, 2))  # and so the equations of the free rows are singular
    plain, other = (
        hinge_to_rounding(two, effort) for two in (one, replace(twice, cost=0.5 * twice.cost))
    )  # fmt: skip
    np.testing.assert_allclose(other.u, plain.u, atol=1e-9 * max(1.0, np.abs(plain.u).max()))
    assert plain.is_within(1e-9)
    np.testing.assert_allclose(plain.u, one.combine(plain.alpha), atol=1e-12)
    free = (plain.alpha > 0.0) & (plain.alpha < one.cost)
    np.testing.assert_allclose(one.margins(plain.u)[free], 1.0, rtol=1e-9)


def test_an_interior_point_stopped_early_is_left_as_it_is():
    one = problem()
    stopped = hinge_to_rounding(one, Effort(goal=1e-6, max_iter=1, watch=lambda _u: False))
    np.testing.assert_array_equal(stopped.u, hinge_interior_point(one, Effort(1e-6, 1, lambda _u: False)).u)


@pytest.mark.parametrize("thin", [False, True])
def test_the_rows_near_the_margin_give_the_machine_of_all_rows(thin):
    one = problem(3000, 4, thin=thin)
    near, whole = hinge_near_rows(one, EFFORT), hinge_interior_point(one, EFFORT)
    assert near.is_within(EFFORT.goal)
    assert near.trace["near_rows"][-1] < 600
    assert np.all((near.alpha >= 0.0) & (near.alpha <= one.cost))
    np.testing.assert_allclose(near.u, whole.u, atol=1e-3)
    assert near.objective == pytest.approx(whole.objective, rel=1e-7)


def test_rows_on_the_wrong_side_join_the_near_ones():
    one = problem(3000, 4, seed=1)
    order = np.argsort(one.rows.X[:, 0])  # and rows of very different cost, so that the sample misleads
    cost = np.where(np.arange(3000) % 97 == 0, 200.0, 0.1)
    skewed = MarginProblem(AugmentedRows(one.rows.X[order] ** 3, 1.0), one.signs[order], cost)
    assert hinge_near_rows(skewed, EFFORT).is_within(EFFORT.goal)


def test_weighted_rows_take_the_same_path_through_the_interior_as_repeated_ones():
    one = problem()
    times = 1 + np.arange(60) % 3
    weighted = hinge_interior_point(MarginProblem(one.rows, one.signs, times.astype(float)), EFFORT)
    rows = AugmentedRows(np.repeat(one.rows.X, times, axis=0), one.rows.constant)
    repeated = hinge_interior_point(MarginProblem(rows, np.repeat(one.signs, times), np.ones(times.sum())), EFFORT)
    np.testing.assert_allclose(weighted.trace["objective"], repeated.trace["objective"], rtol=1e-6)


def test_many_rows_and_columns_go_to_dual_descent():
    wide = AugmentedRows(
        sparse.random_array((1600, 2000), density=0.005, rng=np.random.default_rng(0), format="csr"), 1.0
    )
    signs = np.where(np.arange(1600) % 3 > 0, 1.0, -1.0)
    one = MarginProblem(wide, signs, np.ones(1600))
    machine = choose_solver("hinge", "l2", wide, 0)(one, EFFORT)
    assert machine.is_within(1e-8)
    assert machine.trace.columns[-1] == "support_vectors"
    squared = choose_solver("squared_hinge", "l2", wide, 0)(one, EFFORT)  # by conjugate gradients
    assert squared.is_within(1e-8)
    plain = newton.squared_hinge_newton(one, EFFORT)
    assert squared.trace["gap"][0] < 0.1 * plain.trace["gap"][0]  # and passes before them
    np.testing.assert_allclose(squared.u, plain.u, atol=1e-3)


def test_passes_find_the_squared_machine_where_newton_starts(monkeypatch):
    one = problem(60, 5, thin=True)
    monkeypatch.setattr(hinge, "MOST_START_PASSES", 2000)
    monkeypatch.setattr(hinge, "NEAR_ENOUGH", 1e-9)
    start = squared_hinge_start(one, np.random.RandomState(0))
    np.testing.assert_allclose(start, newton.squared_hinge_newton(one, EFFORT).u, atol=1e-6)
    assert newton.squared_hinge_newton(one, EFFORT, start).n_iter <= 1


@pytest.mark.parametrize("thin", [False, True])
def test_newton_and_column_descent_find_the_same_sparse_machine(thin):
    one = problem(60, 8, thin=thin)
    steps, passes = proximal_newton(one, EFFORT), column_descent(one, EFFORT)
    assert passes.objective == pytest.approx(steps.objective, rel=1e-8)
    np.testing.assert_allclose(passes.u, steps.u, atol=1e-3)


def test_many_columns_go_to_column_descent():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 600))
    one = MarginProblem(AugmentedRows(X, 1.0), np.where(X[:, 0] > X[:, 1], 1.0, -1.0), np.full(80, 0.3))
    machine = choose_solver("squared_hinge", "l1", one.rows, 0)(one, EFFORT)
    assert machine.is_within(1e-8)
    assert machine.trace["iteration"][1] == 5.0
    assert 0 < np.count_nonzero(machine.u) < 80


def test_kernels_as_plain_python_give_the_same():
    one = problem(12, 3, thin=True)
    X = one.rows.X
    G, border = np.zeros((3, 3)), np.zeros(3)
    csr_gram_pass.py_func(X.data, X.indices, X.indptr, 0, 12, one.cost, G, border)
    dense = X.toarray()
    np.testing.assert_allclose(G, np.tril(dense.T @ (one.cost[:, None] * dense)))
    np.testing.assert_allclose(border, dense.T @ one.cost)
    curved, A = np.zeros(4), written_out(one.rows)
    csr_curve_pass.py_func(X.data, X.indices, X.indptr, 1.0, one.cost, np.ones(4), curved)
    np.testing.assert_allclose(curved, A.T @ (one.cost * (A @ np.ones(4))))
    scores, pulled = np.empty(12), np.zeros(3)
    csr_scores_pass.py_func(X.data, X.indices, X.indptr, np.arange(3.0), 0.5, scores)
    np.testing.assert_allclose(scores, dense @ np.arange(3.0) + 0.5)
    csr_pull_pass.py_func(X.data, X.indices, X.indptr, one.cost, pulled)
    np.testing.assert_allclose(pulled, dense.T @ one.cost)

    one = problem(12, 3, constant=2.0, thin=True)
    ridge, wanted = np.linspace(0.0, 1.0, 12), np.linspace(0.5, 1.5, 12)
    squares = (dense**2).sum(axis=1) + 4.0 + ridge
    least, tube = np.where(np.arange(12) % 3 == 0, -one.cost, 0.0), 0.3
    results = []
    for descend in (dual_descent_pass, dual_descent_pass.py_func):
        alpha, u, order = np.zeros(12), np.zeros(4), np.arange(12)
        ends, draws = [12, np.inf, -np.inf], np.array([7], dtype=np.uint64)
        for _ in range(5):
            ends = descend(
                X.data,
                X.indices,
                X.indptr,
                2.0,
                one.signs,
                wanted,
                tube,
                ridge,
                least,
                one.cost,
                squares,
                alpha,
                u,
                order,
                draws,
                *ends,
            )
        assert sorted(order) == list(range(12))
        np.testing.assert_allclose(u, one.combine(alpha))
        results.append((alpha, *ends))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain)


def test_a_column_pass_as_plain_python_gives_the_same():
    one = problem(12, 3, thin=True)
    A = one.rows.by_column()
    curvature = 2.0 * np.asarray(A.multiply(A).T @ one.cost)
    for t in (column_pass, column_pass.py_func):
        u, margins, order = np.zeros(4), np.zeros(12), np.arange(4)
        for _ in range(3):
            t(A.data, A.indices, A.indptr, one.signs, one.cost, curvature, u, margins, order)
        np.testing.assert_allclose(margins, one.margins(u))
        if t is column_pass:
            compiled = u
    np.testing.assert_allclose(compiled, u)


def test_model_descent_of_one_coordinate_is_soft_thresholding():
    for descend in (lasso_model_descent, lasso_model_descent.py_func):
        for g, best in ((-3.0, 1.0), (-0.5, 0.0), (2.0, -0.5)):  # H = 2: w = soft(-g, 1) / 2
            new = np.zeros(1)
            descend(np.array([[2.0]]), np.array([g]), np.zeros(1), new, 1e-12, 10)
            assert new[0] == best


def test_threads_do_not_change_sparse_products(monkeypatch):
    monkeypatch.setattr(augmented_rows, "WORTH_THREADS", 0)
    monkeypatch.setattr(augmented_rows, "thread_count", lambda: 3)
    rows = problem(50, 6, thin=True).rows
    A, h = written_out(rows), np.arange(50.0)
    np.testing.assert_allclose(rows.curve(h, np.ones(7)), A.T @ (h * A.sum(axis=1)))
    np.testing.assert_allclose(rows.transposed_times(h), A.T @ h)
    np.testing.assert_allclose(rows.scores(np.arange(7.0)), A @ np.arange(7.0))
    np.testing.assert_allclose(rows.by_column().toarray(), A)


def test_the_gap_is_looked_at_where_it_should_have_reached_the_goal():
    looks = LookSchedule()
    for n_iter, gap, expected in [(0, 1.0, 5), (5, 0.5, 30), (30, 0.6, 35), (35, 1e-3, 41), (41, 9e-4, 81)]:
        looks.saw(n_iter, gap, goal=0.5**6 if n_iter == 5 else 1e-6)
        assert looks.next_look == expected
