"""The kd-tree finds what brute force finds, and looks at little of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pellucid.solvers.kd_tree import KDTree, Nearest, near_together
from pellucid.solvers.nearest_kernels import SHORT, box_distance, build, search

seeds = pytest.mark.parametrize("seed", range(4))
powers = pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])


def sums(X, query, p):
    """Sums of powers of differences, feature by feature."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        size = np.abs(query[j] - X[:, j])
        total = np.maximum(total, size) if p == math.inf else total + (size * size if p == 2 else size**p)
    return total


def by_brute_force(X, queries, k, p, excluded=None):
    answers = []
    for i, query in enumerate(queries):
        near = np.lexsort((np.arange(len(X)), sums(X, query, p)))
        answers.append([j for j in near if excluded is None or j != excluded[i]][:k])
    return np.array(answers)


def test_four_points_are_halved_at_the_median():
    tree = KDTree.of(np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 1.0], [3.0, 0.0]]), leaf_size=1)
    assert tree.order[:2].tolist() == [0, 2]
    assert set(tree.order[2:].tolist()) == {1, 3}
    assert tree.axes.tolist() == [0, 0, 0, -1, -1, -1, -1]
    assert tree.lower[2].tolist() == [3.0, 0.0]
    assert tree.upper[2].tolist() == [4.0, 1.0]


def test_a_far_branch_is_not_visited():
    tree = KDTree.of(np.array([[0.0], [1.0], [10.0], [11.0]]), leaf_size=2)
    found, visited = tree.query(np.array([[0.4], [10.6]]), 2)
    assert found.indices.tolist() == [[0, 1], [3, 2]]
    np.testing.assert_allclose(found.distances, [[0.16, 0.36], [0.16, 0.36]])
    assert visited.tolist() == [2, 2]  # the root and one leaf


def test_a_branch_at_equal_distance_is_visited_for_its_lower_index():
    # 0 is as far from row 1 as from row 0, which is in the other half
    tree = KDTree.of(np.array([[1.0], [-1.0]]), leaf_size=1)
    found, visited = tree.query(np.array([[0.0]]), 1)
    assert found.indices.tolist() == [[0]]
    assert visited.tolist() == [3]


@seeds
@powers
def test_same_rows_as_brute_force(seed, p):
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((200, 3)), rng.standard_normal((30, 3))
    found, visited = KDTree.of(X, 8).query(queries, 5, p=p)
    np.testing.assert_array_equal(found.indices, by_brute_force(X, queries, 5, p))
    assert visited.mean() < 30


@seeds
@powers
def test_ties_go_to_the_lower_index(seed, p):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(150, 2)).astype(float)  # nine places, so most distances are equal
    excluded = np.arange(40)
    found, _ = KDTree.of(X, 4).query(X[:40], 7, p=p, excluded=excluded)
    np.testing.assert_array_equal(found.indices, by_brute_force(X, X[:40], 7, p, excluded))


@powers
def test_distances_are_the_same_bits_as_sums_in_order(p):
    rng = np.random.default_rng(0)
    X, queries = 1e3 + rng.standard_normal((60, 5)), 1e3 + rng.standard_normal((9, 5))
    found, _ = KDTree.of(X, 4).query(queries, 60, p=p)
    for row, query in enumerate(queries):
        expected = np.sort(sums(X, query, p))
        if p == 3.0:  # NumPy's powers and the compiler's may differ in the last bit
            np.testing.assert_allclose(found.distances[row], expected, rtol=1e-14)
        else:
            np.testing.assert_array_equal(found.distances[row], expected)


@seeds
@pytest.mark.parametrize(("n", "leaf_size"), [(1, 1), (2, 1), (3, 1), (7, 2), (65, 8), (100, 30)])
def test_every_row_is_in_one_leaf_and_in_its_box(seed, n, leaf_size):
    X = np.random.default_rng(seed).integers(0, 4, size=(n, 2)).astype(float)
    tree = KDTree.of(X, leaf_size)
    assert sorted(tree.order.tolist()) == list(range(n))
    for node, (start, stop) in enumerate(tree.ends):
        rows = X[tree.order[start:stop]]
        np.testing.assert_array_equal(rows.min(axis=0), tree.lower[node])
        np.testing.assert_array_equal(rows.max(axis=0), tree.upper[node])
        if tree.axes[node] < 0:
            assert 1 <= stop - start <= max(2, leaf_size)


def test_many_queries_are_answered_in_the_order_they_came():
    rng = np.random.default_rng(0)
    X, queries = rng.standard_normal((300, 2)), rng.standard_normal((1500, 2))
    together, visited = KDTree.of(X, 8).query(queries, 3)
    alone, visited_alone = KDTree.of(X, 8).query(queries[700:710], 3)
    np.testing.assert_array_equal(together.indices[700:710], alone.indices)
    np.testing.assert_array_equal(visited[700:710], visited_alone)


def test_equal_trees_are_equal():
    X = np.random.default_rng(0).standard_normal((40, 3))
    assert KDTree.of(X, 5) == KDTree.of(X.copy(), 5)
    assert KDTree.of(X, 5) != KDTree.of(X, 10)


@powers
def test_plain_python_gives_the_same(p):
    rng = np.random.default_rng(1)
    X, queries = rng.standard_normal((20, 2)), rng.standard_normal((4, 2))
    tree = KDTree.of(X, 3)
    found, visited = tree.query(queries, 4, p=p)
    plain, seen = Nearest.none_yet(4, 4), np.zeros(4, int)
    parts = tree.columns, tree.order, tree.ends, tree.lower, tree.upper
    search.py_func(*parts, queries, np.arange(4), plain.excluded, p, 1.0, plain.distances, plain.indices, seen)
    np.testing.assert_array_equal(found.indices, plain.indices)
    np.testing.assert_array_equal(visited, seen)
    bare = KDTree(tree.columns, np.arange(20), *(np.zeros_like(part) for part in (tree.ends, *parts[3:], tree.axes)))
    bare.ends[0] = 0, 20
    build.py_func(
        np.ascontiguousarray(X.T), 0, tree.depth + 1, bare.order, bare.ends, bare.lower, bare.upper, bare.axes
    )
    assert bare == tree


@powers
def test_no_box_is_farther_than_a_point_in_it(p):
    rng = np.random.default_rng(2)
    for _ in range(200):
        points, query = rng.standard_normal((5, 4)), rng.standard_normal(4)
        bound = box_distance(points.min(axis=0), points.max(axis=0), query, p)
        assert bound * (1 - 1e-12 * (p == 3.0)) <= sums(points, query, p).min()


def test_threads_build_the_same_tree(monkeypatch):
    X = np.round(np.random.default_rng(0).standard_normal((500, 3)), 1)
    alone = KDTree.of(X, leaf_size=3)
    monkeypatch.setattr("pellucid.solvers.kd_tree.WORTH_SHARING", 0)
    assert KDTree.of(X, leaf_size=3) == alone
    assert KDTree.of(X[:5], leaf_size=2) == KDTree.of(X[:5].copy(), leaf_size=2)  # hardly a level to share


@pytest.mark.parametrize("k", [1, SHORT, SHORT + 1, 60])
def test_many_neighbors_come_in_order_as_few_do(k):
    rng = np.random.default_rng(1)
    X, queries = rng.integers(0, 4, (300, 5)).astype(float), rng.integers(0, 4, (20, 5)).astype(float)
    found, _ = KDTree.of(X, leaf_size=7).query(queries, k)
    np.testing.assert_array_equal(found.indices, by_brute_force(X, queries, k, 2.0))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_queries_that_follow_each_other_are_near(scale):
    rows = np.random.default_rng(0).standard_normal((4000, 3)) * scale
    order = near_together(rows)
    assert sorted(order) == list(range(4000))
    if scale == 1.0:
        steps = np.linalg.norm(np.diff(rows[order], axis=0), axis=1)
        assert np.median(steps) < 0.3 * np.median(np.linalg.norm(np.diff(rows, axis=0), axis=1))


def test_constant_and_many_columns_have_an_order_too():
    rows = np.hstack([np.full((50, 1), 7.0), np.random.default_rng(0).standard_normal((50, 40))])
    assert sorted(near_together(rows)) == list(range(50))
