"""The k smallest, ties to the lower index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.solvers.kd_tree import Nearest
from pellucid.solvers.nearest_kernels import EMPTY, keep_smallest, keep_smallest_of_rows, sort_heap


def smallest(table, k, excluded=None):
    found = Nearest.none_yet(len(table), k, excluded)
    keep_smallest_of_rows(np.asarray(table, dtype=float), 0, found.excluded, found.distances, found.indices)
    found.sort()
    return found


def test_of_equal_numbers_the_lower_index_is_kept():
    found = smallest([[3.0, 1.0, 1.0, 0.0, 1.0]], 3)
    assert found.indices.tolist() == [[3, 1, 2]]
    assert found.distances.tolist() == [[0.0, 1.0, 1.0]]


def test_the_order_of_arrival_does_not_matter():
    distances, indices = np.full(2, np.inf), np.full(2, EMPTY)
    for index in (4, 2, 3, 1):
        keep_smallest(distances, indices, 5.0, index)
    sort_heap(distances, indices)
    assert indices.tolist() == [1, 2]


def test_an_excluded_index_is_left_out():
    assert smallest([[0.0, 1.0, 2.0]], 2, [0]).indices.tolist() == [[1, 2]]


def test_not_a_number_comes_last():
    found = smallest([[np.nan, 2.0, np.inf, 1.0]], 4)
    assert found.indices.tolist() == [[3, 1, 0, 2]]
    assert found.distances.tolist() == [[1.0, 2.0, np.inf, np.inf]]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_same_as_a_stable_sort(values, data):
    k = data.draw(st.integers(1, len(values)))
    found = smallest([values], k)
    expected = np.argsort(values, kind="stable")[:k]
    assert found.indices[0].tolist() == expected.tolist()
    assert found.distances[0].tolist() == [values[i] for i in expected]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_plain_python_gives_the_same(k):
    table = np.random.default_rng(k).integers(0, 4, size=(3, 9)).astype(float)
    compiled, plain = smallest(table, k), Nearest.none_yet(3, k)
    keep_smallest_of_rows.py_func(table, 0, plain.excluded, plain.distances, plain.indices)
    plain.sort()
    np.testing.assert_array_equal(compiled.indices, plain.indices)
