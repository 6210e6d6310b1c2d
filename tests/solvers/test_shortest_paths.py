"""Shortest paths: by hand, against SciPy, and the loops as plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from pellucid.manifold.isomap import shortest_paths, shortest_paths_kernels
from pellucid.manifold.isomap.shortest_paths import all_shortest_paths
from tests.plain_kernels import in_python


def grid_with_random_lengths(seed, side=9):
    rng, n = np.random.default_rng(seed), side * side
    number = np.arange(n).reshape(side, side)
    pairs = np.concatenate([np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
                            np.column_stack([number[:-1].ravel(), number[1:].ravel()])])  # fmt: skip
    pairs = np.concatenate([pairs, rng.integers(n, size=(n // 3, 2))])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    dense = np.zeros((n, n))
    dense[pairs[:, 0], pairs[:, 1]] = rng.uniform(0.1, 3.0, len(pairs))
    dense = np.maximum(dense, dense.T)
    order = rng.permutation(n)
    return sparse.csr_array(dense[order][:, order])


def test_a_ring_of_four_by_hand():
    ring = sparse.csr_array([[0.0, 1, 0, 4], [1, 0, 2, 0], [0, 2, 0, 2], [4, 0, 2, 0]])
    assert all_shortest_paths(ring).tolist() == [[0, 1, 3, 4], [1, 0, 2, 4], [3, 2, 0, 2], [4, 4, 2, 0]]


@pytest.mark.parametrize("seed", range(5))
def test_the_bits_of_dijkstras_method(seed):
    graph = grid_with_random_lengths(seed)
    np.testing.assert_array_equal(all_shortest_paths(graph), shortest_path(graph, method="D", directed=False))


def test_links_of_length_zero_are_links():
    graph = sparse.csr_array((np.array([0.0, 0.0, 1.0, 1.0]), ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert all_shortest_paths(graph).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_groups_of_any_size_give_the_same(size, monkeypatch):
    graph = grid_with_random_lengths(1)
    wanted = all_shortest_paths(graph)
    monkeypatch.setattr(shortest_paths, "SOURCES", size)
    np.testing.assert_array_equal(all_shortest_paths(graph), wanted)


def test_the_loops_do_the_same_as_plain_python(monkeypatch):
    graph = grid_with_random_lengths(2, side=4)
    wanted = all_shortest_paths(graph)
    for name in ("correct_paths", "group_neighbors"):
        monkeypatch.setattr(shortest_paths_kernels, name, in_python(getattr(shortest_paths_kernels, name)))
    np.testing.assert_array_equal(all_shortest_paths(graph), wanted)
