"""Brute force in blocks: the rough product only rules out, differences decide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from pellucid.solvers import pairwise_blocks
from pellucid.solvers.kd_tree import Nearest
from pellucid.solvers.nearest_kernels import measure_columns, measure_dense, measure_sparse
from pellucid.solvers.pairwise_blocks import (
    BLOCK_ROWS,
    RoughDistances,
    Sample,
    nearest_by_table,
    nearest_euclidean,
    nearest_minkowski,
    nearest_sparse_euclidean,
)
from tests.solvers.test_kd_tree import by_brute_force, sums

seeds = pytest.mark.parametrize("seed", range(3))


def euclidean(X, queries, k, excluded=None):
    found = Nearest.none_yet(len(queries), k, excluded)
    nearest_euclidean(X, queries, found)
    return found


def exact(X, queries):
    return np.array([sums(X, query, 2.0) for query in np.asarray(queries, dtype=float)])


def test_three_points_on_a_line():
    found = euclidean(np.array([[0.0], [5.0], [1.0]]), np.array([[0.8], [4.0]]), 2)
    assert found.indices.tolist() == [[2, 0], [1, 2]]
    np.testing.assert_allclose(found.distances, [[0.04, 0.64], [1.0, 9.0]])


@seeds
@pytest.mark.parametrize("n_queries", [1, 3, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_rows_and_bits_as_differences(seed, n_queries, dtype):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((BLOCK_ROWS + 200, 20)).astype(dtype)
    queries = rng.standard_normal((n_queries, 20)).astype(dtype)
    found = euclidean(X, queries, 6)
    wide = X.astype(float), queries.astype(float)
    np.testing.assert_array_equal(found.indices, by_brute_force(*wide, 6, 2.0))
    np.testing.assert_array_equal(found.distances, np.take_along_axis(exact(*wide), found.indices, axis=1))


@seeds
def test_ties_go_to_the_lower_index(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(700, 3)).astype(float)
    excluded = np.arange(30)
    found = euclidean(X, X[:30], 9, excluded)
    np.testing.assert_array_equal(found.indices, by_brute_force(X, X[:30], 9, 2.0, excluded))


@pytest.mark.parametrize(
    ("offset", "scale"), [(1e8, 1.0), (0.0, 1e50), (0.0, 1e-50), (-3e6, 1e-3)], ids=["offset", "huge", "tiny", "both"]
)
def test_offsets_and_scales_lose_nothing(offset, scale):
    rng = np.random.default_rng(0)
    X, queries = offset + scale * rng.standard_normal((600, 8)), offset + scale * rng.standard_normal((20, 8))
    np.testing.assert_array_equal(euclidean(X, queries, 5).indices, by_brute_force(X, queries, 5, 2.0))


def test_rows_and_queries_far_outside_the_sample_are_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    X[1::2] *= 1e25  # the sample takes every second row: in its units the others overflow float32
    queries = np.vstack([X[1:40:2] * (1 + 1e-9), X[:20:2], np.full((1, 4), 1e60)])
    np.testing.assert_array_equal(euclidean(X, queries, 4).indices, by_brute_force(X, queries, 4, 2.0))


def test_tight_clusters_far_apart_are_told_apart_exactly():
    # within a cluster float32 sees nothing: the bounds must give way to better ones
    rng = np.random.default_rng(0)
    centers = 1e4 * rng.standard_normal((3, 6))
    X = centers[rng.integers(3, size=9000)] + 1e-3 * rng.standard_normal((9000, 6))
    queries = X[:12] + 1e-4 * rng.standard_normal((12, 6))
    np.testing.assert_array_equal(euclidean(X, queries, 5).indices, by_brute_force(X, queries, 5, 2.0))


@pytest.mark.parametrize(("spread", "used"), [(1e-3, {np.float32, np.float64}), (1e4, {np.float32})])
def test_bounds_that_rule_out_too_little_give_way_to_better_ones(monkeypatch, spread, used):
    asked, encode = set(), RoughDistances.queries
    monkeypatch.setattr(RoughDistances, "queries", lambda self, Q: asked.add(self.dtype) or encode(self, Q))
    rng = np.random.default_rng(0)
    X = 1e4 * rng.integers(0, 2, size=(9000, 1)) + spread * rng.standard_normal((9000, 6))
    euclidean(X, X[:10], 3)
    assert asked == used


def low_rank(rng, n, d):
    return rng.standard_normal((n, 12)) @ rng.standard_normal((12, d)) + 0.05 * rng.standard_normal((n, d))


@seeds
def test_a_projection_rules_out_only_what_is_far(seed):
    rng = np.random.default_rng(seed)
    both = low_rank(rng, 1500, 300)
    X, queries = both[:1300], both[1300:]
    assert Sample(X).main_directions() is not None
    np.testing.assert_array_equal(euclidean(X, queries, 5).indices, by_brute_force(X, queries, 5, 2.0))


@seeds
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("projected", [False, True])
def test_bounds_are_below_the_distances(seed, dtype, projected):
    rng = np.random.default_rng(seed)
    X = 100.0 + low_rank(rng, 400, 260) * 10.0 ** rng.uniform(-3, 3, size=(400, 1))
    sample = Sample(X)
    rough = RoughDistances(X, sample, dtype, sample.main_directions() if projected else None)
    queries = np.vstack([X[:20], 100.0 + low_rank(rng, 20, 260)])
    encoded, shifts = rough.queries(queries)
    bounds = (encoded @ rough.rows(0).T).astype(float) + shifts[:, None]
    right = exact(X, queries) * sample.unit**2
    assert (bounds <= right).all()
    if not projected:  # and not far below
        size = sample.unit**2 * (
            np.square(X - sample.center).sum(axis=1) + np.square(queries - sample.center).sum(axis=1)[:, None]
        )
        assert (right - bounds <= 4 * rough.share * size + 1e-30).all()


@seeds
@pytest.mark.parametrize("p", [0.5, 1.0, 3.0, math.inf])
def test_minkowski_same_rows_as_differences(seed, p):
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((2500, 20)), rng.standard_normal((15, 20))
    found = Nearest.none_yet(15, 4)
    nearest_minkowski(X, queries, found, p)
    np.testing.assert_array_equal(found.indices, by_brute_force(X, queries, 4, p))


@seeds
def test_sparse_rows_give_the_bits_of_dense_ones(seed):
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((300, 40)) * (rng.random((300, 40)) < 0.1)  # some rows are empty
    dense[7] = dense[3]
    found = Nearest.none_yet(50, 6)
    nearest_sparse_euclidean(sparse.csr_array(dense), sparse.csr_array(dense[:50]), found)
    expected = euclidean(dense, dense[:50], 6)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def test_a_table_is_asked_for_in_blocks(monkeypatch):
    monkeypatch.setattr(pairwise_blocks, "TABLE_ENTRIES", 30)
    table, asked = np.random.default_rng(0).random((11, 10)), []
    found = Nearest.none_yet(11, 2)
    nearest_by_table(lambda part: asked.append(part) or table[part], 10, found)
    assert len(asked) == 4
    np.testing.assert_array_equal(found.indices, np.argsort(table, axis=1)[:, :2])


def test_plain_python_gives_the_same():
    rng = np.random.default_rng(0)
    X, queries = rng.standard_normal((12, 3)), rng.standard_normal((2, 3))
    rough = (exact(X, queries) - 0.1).astype(np.float32)
    compiled, plain = Nearest.none_yet(2, 3), Nearest.none_yet(2, 3)
    counts = [
        kernel(rough, X, 0, queries, np.zeros(2), 1.0, 1e-6, found.excluded, found.distances, found.indices)
        for kernel, found in ((measure_dense, compiled), (measure_dense.py_func, plain))
    ]
    assert counts[0] == counts[1]
    np.testing.assert_array_equal(compiled.indices, plain.indices)
    compiled.sort()
    np.testing.assert_array_equal(compiled.indices, by_brute_force(X, queries, 3, 2.0))


def test_plain_python_gives_the_same_for_columns_and_sparse_rows():
    rng = np.random.default_rng(1)
    dense = rng.integers(0, 3, size=(9, 4)).astype(float)
    X, queries = sparse.csr_array(dense), sparse.csr_array(dense[:2] + 1.0)
    rough = exact(dense, queries.toarray()) - 0.5
    for kernel, arguments in (
        (measure_columns, (np.ascontiguousarray(dense.T), 0, queries.toarray(), 1.0)),
        (measure_sparse, (rough, X.indptr, X.indices, X.data, queries.indptr, queries.indices, queries.data)),
    ):
        both = Nearest.none_yet(2, 3), Nearest.none_yet(2, 3)
        for run, found in zip((kernel, kernel.py_func), both, strict=True):
            scratch = (np.empty(9),) if kernel is measure_columns else ()
            run(*arguments, found.excluded, *scratch, found.distances, found.indices)
            found.sort()
        np.testing.assert_array_equal(both[0].indices, both[1].indices)
        p = 1.0 if kernel is measure_columns else 2.0
        np.testing.assert_array_equal(both[0].indices, by_brute_force(dense, queries.toarray(), 3, p))
