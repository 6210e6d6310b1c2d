"""The loops and parts of the solver of kernel machines, one by one, against plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from pellucid.kernels import RBF, GivenKernel, Linear, Polynomial
from pellucid.kernels.formulas import whole_power
from pellucid.svm.kernel_machine.interior_point import FewFeatures, WholeMatrix, WorkingSet, interior_point
from pellucid.svm.kernel_machine.kernel_sums import (
    FloatBlocks,
    GivenBlocks,
    PreciseBlocks,
    blocks_of,
    kernel_matrix,
    kernel_sums,
)
from pellucid.svm.kernel_machine.machine_kernels import (
    CHUNK,
    add_and_find_least,
    add_rows,
    best_gain,
    compact,
    fall_of,
    pair_steps,
    pair_steps_of_all,
    pick,
    rise_of,
    survey,
)
from pellucid.svm.kernel_machine.machine_problem import MachineProblem, machine_point
from pellucid.svm.kernel_machine.machine_solver import MachineEffort, PairDescent, at_once
from pellucid.svm.kernel_machine.product_rows import FeatureRows, GivenRows, ProductRows

ROOM = 1e9


def problem(seed=0, n=40, C=1.0, tube=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    if tube:
        return MachineProblem(RBF(0.5), X, X[:, 0] ** 2, np.full(n, -C), np.full(n, C), tube)
    return MachineProblem(RBF(0.5), X, y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0))


def in_chunks(values, size=CHUNK):
    return np.pad(values, (0, size - len(values))).reshape(-1, CHUNK)


def moved(loop, machine, most=10_000, tol=1e-6):
    K = np.zeros((CHUNK, CHUNK))
    K[: machine.n, : machine.n] = machine.kernel(machine.rows)
    coef, gradient = in_chunks(np.zeros(machine.n)), in_chunks(-machine.target)
    room = np.empty((3, *coef.shape))
    boxes = in_chunks(machine.lower), in_chunks(machine.upper)
    steps = loop(K.reshape(CHUNK, 1, CHUNK), coef, gradient, *boxes, machine.tube, tol, most, *room)
    return steps, coef.ravel()[: machine.n], gradient.ravel()[: machine.n]


@pytest.mark.parametrize("tube", [0.0, 0.1])
def test_pairs_keep_the_gradient_and_end_at_the_minimum(tube):
    machine = problem(tube=tube)
    _, coef, gradient = moved(pair_steps, machine)
    np.testing.assert_allclose(gradient, machine.gradient(coef), atol=1e-10)
    point = machine_point(machine, coef, gradient)
    assert point.violation <= 1e-6
    assert point.gap <= 1e-5 * point.objective


@pytest.mark.parametrize("tube", [0.0, 0.1])
@pytest.mark.parametrize("n", [40, CHUNK, CHUNK + 72])
def test_few_rows_are_solved_at_once_as_a_descent_does(n, tube, monkeypatch):
    machine = problem(n=n, tube=tube)
    machine = replace(machine, kernel=GivenKernel(), rows=machine.kernel(machine.rows))
    descent = PairDescent(machine, MachineEffort()).run()
    for loop in (pair_steps_of_all, pair_steps_of_all.py_func):
        monkeypatch.setattr("pellucid.svm.kernel_machine.machine_solver.pair_steps_of_all", loop)
        found = at_once(machine, MachineEffort())
        np.testing.assert_array_equal(found.coef, descent.coef)
        assert (found.objective, found.n_iter) == (descent.objective, descent.n_iter)
        assert found.trace.columns == descent.trace.columns
        np.testing.assert_allclose(found.trace.frame(), descent.trace.frame(), atol=1e-9)
    assert at_once(machine, MachineEffort(max_iter=3)) is None


@pytest.mark.parametrize("seed", range(4))
def test_no_pair_makes_the_objective_worse(seed):
    # a step that went past the kink of the tube at 0 with the slope from before it would
    machine = problem(seed, C=100.0, tube=0.3)
    K, values = machine.kernel(machine.rows), []
    for most in range(200):
        _, coef, _ = moved(pair_steps, machine, most)
        values.append(0.5 * coef @ K @ coef - machine.target @ coef + 0.3 * np.abs(coef).sum())
    assert np.diff(values).max() <= 1e-9


@pytest.mark.parametrize("tube", [0.0, 0.1])
def test_compiled_pairs_do_what_their_python_does(tube, monkeypatch):
    machine = problem(n=12, tube=tube)
    for inner in (add_and_find_least, best_gain, rise_of, fall_of):  # Python cannot call the compiled ones
        monkeypatch.setitem(pair_steps.py_func.__globals__, inner.__name__, inner.py_func)
    for most in (1, 3, 10):
        compiled, plain = moved(pair_steps, machine, most), moved(pair_steps.py_func, machine, most)
        assert compiled[0] == plain[0]
        np.testing.assert_allclose(compiled[1], plain[1], atol=1e-12)


def test_the_first_pair_by_hand():
    # K = [[1, -1], [-1, 1]]: slope 2 along the pair, curvature 4, step 1/2
    machine = MachineProblem(
        Linear(), np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.array([0.0, -9.0]), np.array([9.0, 0.0])
    )
    steps, coef, gradient = moved(pair_steps, machine)
    assert steps == 1
    np.testing.assert_allclose(coef, [0.5, -0.5])
    np.testing.assert_allclose(gradient, 0.0, atol=1e-15)


@pytest.mark.parametrize("tube", [0.0, 0.1])
@pytest.mark.parametrize("loop", [survey, survey.py_func], ids=["compiled", "python"])
def test_a_survey_sees_slopes_and_gap(loop, tube):
    machine = problem(tube=tube)
    _, coef, gradient = moved(pair_steps, machine, most=5)
    found = np.empty((2, machine.n))
    least, largest, gap = loop(coef, gradient, machine.lower, machine.upper, tube, *found)
    rising = np.where(coef < machine.upper, gradient + np.where(coef >= 0.0, tube, -tube), np.inf)
    falling = np.where(coef > machine.lower, gradient + np.where(coef > 0.0, tube, -tube), -np.inf)
    np.testing.assert_array_equal(found, [rising, falling])
    assert (least, largest) == (found[0].min(), found[1].max())
    residual = 0.5 * (least + largest) - gradient
    losses = np.maximum(0.0, np.maximum(machine.upper * (residual - tube), machine.lower * (residual + tube)))
    assert gap == pytest.approx(float(np.sum(losses - coef * residual + tube * np.abs(coef))))


@pytest.mark.parametrize("python", [False, True])
def test_rows_are_added_picked_and_compacted(python):
    rng = np.random.default_rng(0)
    products, gradient = rng.standard_normal((6, 10)).astype(np.float32), rng.standard_normal(10)
    slots, change = np.array([5, 0, 2, 3, 1]), rng.standard_normal(5)
    loops = [loop.py_func if python else loop for loop in (add_rows, pick, compact)]
    wanted = gradient.copy()
    wanted[2:9] += (change @ products[slots].astype(float))[2:9]
    loops[0](products, slots, change, gradient, 2, 9)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6)
    block = np.full((4, 4), 7.0, dtype=np.float32)
    loops[1](products, np.array([4, 1, 0]), np.array([9, 3, 3]), block, 0, 4)
    np.testing.assert_array_equal(block[:3, :3], products[[4, 1, 0]][:, [9, 3, 3]])
    assert not block[3].any()
    assert not block[:, 3].any()
    kept = products[np.ix_([1, 4], [0, 3, 9])]
    loops[2](products, np.array([1, 4]), np.array([0, 3, 9]), products.reshape(-1))
    np.testing.assert_array_equal(products.reshape(-1)[:6].reshape(2, 3), kept)


def test_kept_rows_are_the_products_whatever_was_asked_before():
    X = np.random.default_rng(0).standard_normal((50, 3))
    K = RBF(0.5)(X)
    rows = ProductRows(blocks_of(RBF(0.5), X, room=ROOM), 50, size=50 * 4 * 8, least=8, dtype=np.float32)
    rng, active = np.random.default_rng(1), np.arange(50)
    for round_number in range(30):
        places = np.sort(rng.choice(len(active), 8, replace=False))
        slots = rows.take(places)
        np.testing.assert_allclose(rows.products[slots], K[active[places]][:, active], atol=1e-6)
        np.testing.assert_allclose(rows.among(slots, places, 8), K[np.ix_(active[places], active[places])], atol=1e-6)
        gradient, change = np.zeros(len(active)), rng.standard_normal(8)
        rows.add_to(gradient, slots, change)
        np.testing.assert_allclose(gradient, change @ K[active[places]][:, active], atol=1e-5)
        if round_number % 7 == 6:
            keep = rng.random(len(active)) < 0.8
            rows.narrow(keep)
            active = active[keep]
            np.testing.assert_array_equal(rows.active, active)
    rows.restore()
    np.testing.assert_array_equal(rows.active, np.arange(50))


def test_features_answer_as_kept_rows_do():
    X = np.random.default_rng(0).standard_normal((20, 3)) + 1e6
    rows, centered = FeatureRows(X), X - X.mean(axis=0)
    places = np.array([1, 4, 7])
    np.testing.assert_allclose(rows.among(rows.take(places), places, 3), centered[places] @ centered[places].T)
    gradient = np.zeros(20)
    rows.add_to(gradient, places, np.array([1.0, -2.0, 1.0]))
    np.testing.assert_allclose(gradient, centered @ centered[places].T @ [1.0, -2.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (RBF(0.5), FloatBlocks),
        (Polynomial(3, coef0=1.0, gamma=0.5), FloatBlocks),
        (2 * RBF(0.1) * Linear() + 3, FloatBlocks),
        (RBF(1e9), PreciseBlocks),
        (Polynomial(1.5, coef0=100.0), PreciseBlocks),
    ],
)
def test_blocks_are_rough_only_where_that_does_no_harm(kernel, kind):
    X = np.random.default_rng(0).standard_normal((30, 4))
    blocks = blocks_of(kernel, X, room=ROOM)
    assert type(blocks) is kind
    out = np.empty((3, 10), dtype=np.float32)
    blocks.narrow(np.arange(5, 25))
    blocks.fill(np.array([0, 7, 29]), slice(2, 12), out)
    wanted = kernel(X)[[0, 7, 29]][:, 7:17]
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_given_products_and_wide_rows_are_not_copied():
    K = np.eye(4)
    assert type(blocks_of(GivenKernel(), K, room=ROOM)) is GivenBlocks
    assert type(blocks_of(RBF(1.0), np.ones((4, 9)), room=100.0)) is PreciseBlocks


@pytest.mark.parametrize("degree", range(1, 9))
def test_powers_by_squarings(degree):
    values = np.array([-1.5, 0.0, 0.5, 2.0])
    wanted = values**degree
    np.testing.assert_allclose(whole_power(values, degree), wanted)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("kernel", [RBF(0.5), RBF(1e9), Linear(), Polynomial(2)])
def test_sums_are_the_kernels_own(kernel, offset):
    rng = np.random.default_rng(0)
    X, Z, coef = rng.standard_normal((300, 3)) + offset, rng.standard_normal((40, 3)) + offset, rng.standard_normal(40)
    wanted = kernel(X, Z) @ coef
    np.testing.assert_allclose(kernel_sums(kernel, X, Z, coef), wanted, atol=1e-9 * (1 + np.abs(wanted).max()))


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("tube", [0.0, 0.1])
def test_interior_points_are_optimal_and_feasible(C, tube):
    machine = problem(C=C, tube=tube)
    K = machine.kernel(machine.rows)
    coef = interior_point(WholeMatrix(K), machine.target, machine.lower, machine.upper, machine.tube)
    point = machine_point(machine, coef, machine.gradient(coef))
    assert point.gap <= 1e-4 * point.objective
    assert abs(coef.sum()) <= 1e-12 * np.abs(coef).sum()
    assert (coef >= machine.lower).all()
    assert (coef <= machine.upper).all()


def test_few_features_solve_as_the_whole_matrix_does():
    rng = np.random.default_rng(0)
    X, diagonal, right = rng.standard_normal((30, 3)), rng.random(30) + 0.01, rng.standard_normal(30)
    whole = WholeMatrix(X @ X.T).plus_diagonal(diagonal)(right)
    np.testing.assert_allclose(FewFeatures(X).plus_diagonal(diagonal)(right), whole, rtol=1e-8, atol=1e-10)


def test_a_set_that_pairs_are_slow_for_leaps(monkeypatch):
    monkeypatch.setattr("pellucid.svm.kernel_machine.interior_point.STEPS_EACH", 1)
    machine = problem(n=60, C=1e4)
    K = np.zeros((CHUNK, CHUNK))
    K[:60, :60] = machine.kernel(machine.rows)
    chosen = WorkingSet(K, np.zeros(60), -machine.target, machine.lower, machine.upper, 0.0)
    assert chosen.solve(1e-6, np.inf) == (60, True)
    np.testing.assert_allclose(chosen.gradient, machine.gradient(chosen.coef), atol=1e-4)
    point = machine_point(machine, chosen.coef, machine.gradient(chosen.coef))
    assert point.gap <= 1e-4 * point.objective
    assert chosen.gain == pytest.approx(point.dual, rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("kernel", [RBF(0.4), Polynomial(2)])
def test_all_products_of_few_rows_are_those_of_the_kernel(kernel, offset):
    X = np.random.default_rng(0).standard_normal((30, 4)) + offset
    found = kernel_matrix(kernel, X)
    np.testing.assert_allclose(found, kernel(X), rtol=1e-10, atol=1e-11)
    np.testing.assert_array_equal(found, kernel_matrix(kernel, sparse.csr_array(X)))


def test_rows_of_a_whole_matrix_answer_as_those_computed_when_asked():
    X, places = np.random.default_rng(0).standard_normal((20, 3)), np.array([1, 4, 9])
    K, change = RBF(0.5)(X), np.array([0.5, -1.0, 0.25])
    rows = GivenRows(K)
    for active in (np.arange(20), np.arange(0, 20, 2)):
        if len(active) < 20:
            rows.narrow(np.isin(np.arange(20), active))
        np.testing.assert_array_equal(rows.active, active)
        names, gradient = active[places], np.zeros(len(active))
        block = rows.among(rows.take(places), places, 4)
        np.testing.assert_array_equal(block[:3, :3], K[np.ix_(names, names)])
        assert not block[3].any()
        assert not block[:, 3].any()
        rows.add_to(gradient, rows.take(places), change)
        np.testing.assert_allclose(gradient, K[np.ix_(active, names)] @ change, atol=1e-14)
    rows.restore()
    assert len(rows.active) == 20
