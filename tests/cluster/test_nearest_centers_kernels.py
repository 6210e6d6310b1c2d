"""The loops of k-means do the same compiled and as plain Python, and what they keep are bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pellucid.cluster.kmeans.kmeans_starts_kernels import (
    add_center,
    add_cluster,
    add_sparse_center,
    gains_of,
    sparse_gains_of,
)
from pellucid.cluster.kmeans.measured_rows import Bounds, DenseRows, SparseMeasured, measured_rows
from pellucid.cluster.kmeans.nearest_centers import NearestCenters, group_centers
from pellucid.cluster.kmeans.nearest_centers_kernels import (
    decide_rows,
    find_doubtful,
    judge_rows,
    move_sparse_sums,
    move_sums,
    own_distances,
    own_sparse_distances,
    plain_rounds,
    take_rows,
    take_sparse_rows,
)
from tests.plain_kernels import in_python

NONE = np.empty(0)


def rows_and_centers(n=30, p=5, k=6):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)), rng.standard_normal((k, p)), rng.random(n)


def state(n, k, n_groups, centers):
    order, ends = group_centers(centers, n_groups)
    return order, Bounds(
        ends,
        np.zeros(n, np.int32),
        np.full(n, np.inf, np.float32),
        np.zeros((n_groups, n), np.float32),
        np.linspace(0.0, 0.1, k),
        np.linspace(0.0, 0.1, n_groups),
    )


def exact(X, centers):
    return np.sqrt(np.square(X[:, None] - centers).sum(axis=2))


def assert_bounds(X, centers, bounds, unit, slack=1e300):
    """Check that bounds are on the right side of the distances, and not farther from them than the slack."""
    distances, everybody = exact(X, centers) * unit, np.arange(len(X))
    np.testing.assert_array_equal(bounds.labels, distances.argmin(axis=1))
    own = distances[everybody, bounds.labels].copy()
    reach = bounds.upper + bounds.paths[bounds.labels]
    assert (reach >= own).all()
    assert (reach <= own + slack).all()
    distances[everybody, bounds.labels] = np.inf
    for g in range(len(bounds.drifts)):
        least = distances[:, bounds.ends[g] : bounds.ends[g + 1]].min(axis=1)
        bound = bounds.lower[g] - bounds.drifts[g]
        assert (bound <= least).all()
        assert (bound >= least - slack)[np.isfinite(least)].all()


@pytest.mark.parametrize("n_groups", [1, 3, 6])
@pytest.mark.parametrize("make", [DenseRows, lambda X: SparseMeasured(sparse.csr_array(X))])
def test_labels_are_nearest_and_bounds_are_bounds(n_groups, make):
    X, centers, _ = rows_and_centers(n=200)
    rows = make(X)
    order, bounds = state(len(X), len(centers), n_groups, centers)
    moved, before = centers[order], np.empty(len(X), np.int32)
    for measure in (rows.judge, rows.revisit):
        measure(np.arange(len(X), dtype=np.int32), rows.code(moved, order), bounds, before)
        assert_bounds(X, moved, bounds, rows.unit, slack=0.01)


@pytest.mark.parametrize(("p", "n_groups"), [(5, 1), (30, 7), (60, 12)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_stay_bounds_while_centers_move(seed, make, p, n_groups):
    rng = np.random.default_rng(seed)
    X, centers, _ = rows_and_centers(n=500, p=p, k=12)
    nearest = NearestCenters(measured_rows(make(X)), centers)
    assert len(nearest.bounds.drifts) == n_groups or make is sparse.csr_array
    for _ in range(25):
        nearest.assign(centers)
        assert_bounds(X, nearest.centers, nearest.bounds, nearest.rows.unit)
        np.testing.assert_array_equal(nearest.names, exact(X, centers).argmin(axis=1))
        centers = centers + 0.2 * rng.standard_normal(centers.shape) * (rng.random((len(centers), 1)) < 0.4)


@pytest.mark.parametrize("n_groups", [1, 3, 6])
@pytest.mark.parametrize("share", [1e-3, 1e-2, 0.1])
def test_values_as_rough_as_is_said_lead_to_the_same_labels(share, n_groups):
    X, centers, _ = rows_and_centers(n=300)
    n, rng = len(X), np.random.default_rng(1)
    order, bounds = state(n, len(centers), n_groups, centers)
    rows = DenseRows(X)
    coded, everybody = rows.code(centers[order], order), np.arange(n, dtype=np.int32)
    squares = np.square((X - rows.middle) * rows.unit).sum(axis=1)
    error = share * (squares[:, None] + coded.largest)
    noise = rng.uniform(-0.95, 0.95, (n, len(centers))) * error
    rough = (np.square(exact(X, centers[order]) * rows.unit) - squares[:, None] + noise).astype(np.float32)
    before, unsure = np.empty(n, np.int32), np.empty(n, np.int32)
    count = judge_rows(rough, squares, share, coded.largest, everybody, *bounds, before, unsure)
    known = (share, coded.largest, everybody, rows.unit, coded.centers, coded.names)
    decide_rows(unsure[:count], X[unsure[:count]], rough, squares, *known, *bounds)
    assert count > 0
    assert_bounds(X, centers[order], bounds, rows.unit)


def test_plain_python_does_the_same():
    X, centers, weight = rows_and_centers()
    n, k = len(X), len(centers)
    order, bounds = state(n, k, 2, centers)
    rows = DenseRows(X)
    coded = rows.code(centers[order], order)
    everybody, before, unsure = np.arange(n, dtype=np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    block, squares = np.empty((n, X.shape[1] + 1), np.float32), np.empty(n)
    outcomes = []
    for convert in (lambda kernel: kernel, in_python):
        copies = Bounds(*(array.copy() for array in bounds))
        convert(take_rows)(X, everybody, rows.middle, rows.unit, block, squares)
        products = block @ coded.factors.T
        error = (1.0, coded.largest)  # so rough that every row is unsure
        count = convert(judge_rows)(products, squares, *error, everybody, *copies, before, unsure)
        assert count == n
        decided = (products, squares, *error, everybody, rows.unit, coded.centers, coded.names)
        convert(decide_rows)(unsure[:count], X, *decided, *copies)
        sums, totals, counts = np.zeros(centers.shape), np.zeros(k), np.zeros(k, np.int64)
        convert(move_sums)(
            X, rows.middle, weight, everybody, np.full(n, -1, np.int32), copies.labels, 0, k, sums, totals, counts
        )
        total = convert(own_distances)(X, 0, n, weight, coded.centers, copies.labels, NONE)
        doubtful = np.empty(n, np.int32)
        wide = (copies.paths.astype(np.float32) + 1, copies.drifts.astype(np.float32) + 1, np.diff(copies.ends))
        found = convert(find_doubtful)(0, n, *copies[1:4], *wide, np.empty(8, np.float32), doubtful)
        outcomes.append((*copies, sums, totals, counts, total, *found))
    for compiled, interpreted in zip(*outcomes, strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-6)
    assert_bounds(X, centers[order], Bounds(*outcomes[0][:6]), rows.unit)


def test_plain_rounds_in_plain_python():
    X, centers, weight = rows_and_centers(k=3)
    outcomes, middle = [], X.mean(axis=0)
    scatter = float(weight @ np.square(X - middle).sum(axis=1))
    for convert in (lambda kernel: kernel, in_python):
        mine, means, labels = centers.copy(), np.empty_like(centers), np.full(len(X), -1, np.int32)
        sums, totals, history = np.zeros(centers.shape), np.zeros(3), np.zeros((20, 3))
        kernel = convert(plain_rounds)
        n_rounds, has_all = kernel(X, middle, weight, 1e-4, scatter, mine, means, labels, sums, totals, history)
        assert has_all
        outcomes.append((mine, means, labels, history[:n_rounds]))
    for compiled, interpreted in zip(*outcomes, strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-9, atol=1e-15)
    objective = outcomes[0][3][:, 0]
    assert (np.diff(objective) <= 1e-12).all()


def test_sparse_loops_in_plain_python():
    X, centers, weight = rows_and_centers()
    X[np.abs(X) < 0.7] = 0.0
    matrix, n, k = sparse.csr_array(X), len(X), len(centers)
    rows = SparseMeasured(matrix)
    coded, everybody = rows.code(centers, np.arange(k)), np.arange(n, dtype=np.int32)
    labels, sizes = np.arange(n, dtype=np.int32) % k, np.square(centers).sum(axis=1)
    outcomes = []
    for convert in (lambda kernel: kernel, in_python):
        products, squares = np.empty((n, coded.factors.shape[1]), np.float32), np.empty(n)
        take = convert(take_sparse_rows)
        take(*rows.parts, everybody, rows.unit, coded.factors, coded.sizes, products, squares)
        sums, totals, counts = np.zeros(centers.shape), np.zeros(k), np.zeros(k, np.int64)
        move = convert(move_sparse_sums)
        move(*rows.parts, weight, everybody, np.full(n, -1, np.int32), labels, 0, k, sums, totals, counts)
        distances = np.empty(n)
        own = convert(own_sparse_distances)
        total = own(*rows.parts, 0, n, weight, centers, sizes, labels, distances)
        outcomes.append((products[:, :k], squares, sums, totals, counts, distances, total))
    for compiled, interpreted in zip(*outcomes, strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-5, atol=1e-6)
    products, squares, *_, distances, _ = outcomes[0]
    scaled = np.square(exact(X, centers)) * rows.unit**2
    np.testing.assert_allclose(products + squares[:, None], scaled, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(distances, np.square(X - centers[labels]).sum(axis=1))


def test_starts_in_plain_python():
    X, candidates, weight = rows_and_centers(k=8)
    n = len(X)
    near, helps = np.square(X - X[0]).sum(axis=1), np.empty(n, np.uint8)
    gaps = np.square(candidates - X[0]).sum(axis=1).reshape(2, 4).min(axis=1)[:, None].copy()
    matrix, sizes = sparse.csr_array(X), np.square(candidates).sum(axis=1)
    parts = (matrix.data, matrix.indices, matrix.indptr)
    expected = weight @ np.maximum(near[:, None] - np.square(exact(X, candidates)), 0.0)
    for convert in (lambda kernel: kernel, in_python):
        for kernel, given in (
            (gains_of, (X, 0, n, weight, candidates)),
            (sparse_gains_of, (*parts, 0, n, weight, candidates, sizes)),
        ):
            gains = np.zeros(8)
            convert(kernel)(*given, gaps, np.zeros(n, np.int32), near, helps, gains)
            np.testing.assert_allclose(gains, expected)
        for kernel, given in (
            (add_center, (X, 0, n, weight, candidates)),
            (add_sparse_center, (*parts, 0, n, weight, candidates, sizes)),
        ):
            owner, nearest, heights = np.zeros(n, np.int32), near.copy(), np.zeros(1)
            bucket = np.zeros(n, np.uint16)
            convert(kernel)(*given, 3, 1 << 3, owner, nearest, helps, bucket, heights)
            reached = np.minimum(near, np.square(X - candidates[3]).sum(axis=1))
            np.testing.assert_allclose(nearest, reached)
            assert heights[0] == pytest.approx(weight @ reached)
            assert set(owner) == {0, 3}


def test_one_more_cluster_on_a_line_in_plain_python():
    values = np.array([0.0, 1.0, 5.0, 6.0])
    sums = [np.concatenate(([0.0], np.cumsum(terms))) for terms in (np.ones(4), values, values**2)]
    for convert in (lambda kernel: kernel, in_python):
        before = np.array([0.0, np.inf, np.inf, np.inf, np.inf])
        for expected in ([0.0, 0.5, 14.0, 26.0], [np.inf, 0.0, 0.5, 1.0]):
            after, cuts = np.full(5, np.inf), np.zeros(5, np.int32)
            convert(add_cluster)(*sums, before, after, cuts)
            np.testing.assert_allclose(after[1:], expected)
            before = after


def test_moves_name_who_moved_and_from_where():
    X, centers, _ = rows_and_centers(n=50)
    nearest = NearestCenters(measured_rows(X), centers)
    assert nearest.assign(centers) == []  # everybody is new
    before = nearest.bounds.labels.copy()
    (move,) = nearest.assign(centers[::-1] + 0.1)
    changed = np.flatnonzero(before != nearest.bounds.labels)
    np.testing.assert_array_equal(move.rows, changed)
    np.testing.assert_array_equal(move.before, before[changed])
    names = nearest.names
    np.testing.assert_array_equal(nearest.finish(), names)
