"""The compiled loops of trees, run as plain Python on tiny input and against what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from pellucid.proofs.tree.split_scores import running_medians
from pellucid.proofs.tree.tree_rows import child_keys, drawn_bits, drawn_columns, drawn_share
from pellucid.tree.decision_tree.column_cut_kernels import (
    child_key,
    draw_column,
    draw_share,
    part_rows,
    rank_column,
    sort_rows,
)
from pellucid.tree.decision_tree.column_cut_kernels import drawn as compiled_drawn
from pellucid.tree.decision_tree.decision_tree_solvers import rank_columns
from pellucid.tree.decision_tree.growth_kernels import find_preorder
from pellucid.tree.decision_tree.growth_rules import LEFT, N_WHOLES, RIGHT
from pellucid.tree.decision_tree.split_kernels import add_median_errors


def called(kernel):
    """Return a compiled function that calls a kernel which only compiled functions can call."""
    return njit(lambda *arguments: kernel(*arguments))


both = pytest.mark.parametrize("way", [called, lambda kernel: kernel.py_func], ids=["compiled", "python"])


@both
def test_ranks_are_places_among_the_different_values(way):
    column = np.array([3.5, -1.0, np.nan, 0.0, -0.0, 3.5, -np.pi])
    keys, others, spare = np.empty(7, np.uint64), np.empty(7, np.uint64), np.empty(7, np.uint32)
    order, ranks, values = np.empty(7, np.uint32), np.empty(7, np.uint32), np.empty(7)
    count = way(rank_column)(
        column, column.view(np.uint64), keys, others, order, spare, np.empty((6, 2048), np.int64), ranks, values
    )
    assert count == 4
    assert values[:4].tolist() == [-np.pi, -1.0, 0.0, 3.5]
    assert ranks.tolist() == [3, 1, 4, 2, 2, 3, 0]
    assert column[order][:-1].tolist() == sorted(column[[0, 1, 3, 4, 5, 6]])


def test_ranks_of_many_columns_are_those_of_numpy():
    X = np.random.default_rng(0).standard_normal((500, 3)).round(1)
    found = rank_columns(X)
    for j in range(3):
        values, ranks = np.unique(X[:, j], return_inverse=True)
        np.testing.assert_array_equal(found.ranks[j], ranks)
        np.testing.assert_array_equal(found.lowest[found.value_starts[j] : found.value_starts[j + 1]], values)
        np.testing.assert_array_equal(found.orders[j], np.argsort(X[:, j], kind="stable"))


@both
@pytest.mark.parametrize("n", [1, 7, 60])
def test_rows_are_sorted_and_parted_in_their_order(way, n):
    rng = np.random.default_rng(n)
    rows, rank = rng.permutation(n).astype(np.uint32), rng.integers(0, 300, n).astype(np.uint32)
    order = np.empty(n, np.uint32)
    way(sort_rows)(rows, 0, n, rank, np.empty((3, 256), np.int64), order)
    assert (np.diff(rank[order].astype(int)) >= 0).all()
    assert sorted(order.tolist()) == list(range(n))
    left = rng.integers(0, 2, n).astype(np.uint8)
    expected = [i for i in order if left[i]] + [i for i in order if not left[i]]
    way(part_rows)(order, 0, n, left, np.empty(n, np.uint32))
    assert order.tolist() == expected


@both
def test_running_medians_by_two_sums_are_those_by_two_heaps(way):
    rng = np.random.default_rng(3)
    y, weight = rng.integers(0, 6, 20).astype(float), rng.integers(1, 4, 20).astype(float)
    order = rng.permutation(20).astype(np.uint32)
    place = np.empty(20, np.uint32)
    place[np.argsort(y, kind="stable")] = np.arange(20)
    medians = np.zeros((6, 21))
    way(add_median_errors)(order, 0, 20, 1, y, 2.0, weight[:, np.newaxis], place, medians)
    found = list(running_medians(y[order], weight[order]))
    np.testing.assert_allclose(medians[0, 1:], [error for error, _ in found])
    np.testing.assert_allclose(medians[1, 1:], [median for _, median in found])


def test_nodes_draw_the_same_in_the_loops_and_in_the_proof():
    key = np.uint64(0x1234567890ABCDEF)
    columns = np.arange(9, dtype=np.int64)
    assert [int(called(draw_column)(key, turn, columns)) for turn in range(9)] == drawn_columns(key, 9).tolist()
    assert int(called(compiled_drawn)(key, 3)) == int(drawn_bits(key, 3))
    assert called(draw_share)(key, 4, 9) == float(drawn_share(key, 4, 9))
    assert [int(called(child_key)(key, is_left)) for is_left in (True, False)] == [
        int(child) for child in child_keys(key)
    ]


@both
def test_every_left_subtree_comes_right_after_its_root(way):
    # opened as  0: (1, 2), 1: (5, 6), 2: (3, 4); depth first: 0, 1, 5, 6, 2, 3, 4
    wholes = np.full((7, N_WHOLES), -1, np.int64)
    wholes[:3, LEFT], wholes[:3, RIGHT] = (1, 5, 3), (2, 6, 4)
    place, order = np.empty(7, np.int64), np.empty(7, np.int64)
    way(find_preorder)(wholes, place, order)
    assert order.tolist() == [0, 1, 5, 6, 2, 3, 4]
    assert place[order].tolist() == list(range(7))
