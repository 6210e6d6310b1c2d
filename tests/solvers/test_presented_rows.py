"""Rows are shown by content: each kind once, whatever the order they come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pellucid.linear_model.sgd.sgd_solvers import BLOCK, MANY_ROWS, shuffled
from pellucid.proofs.linear_model.mistakes import repeated_weight
from pellucid.solvers import presented_rows
from pellucid.solvers.presented_rows import present_as_given, present_by_content
from pellucid.solvers.presented_rows_kernels import dense_hashes, mixed, sparse_hashes


def table(seed, n=40):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 2, n), rng.integers(0, 3, n).astype(float)


def shown(X, codes, weight):
    """Return what is shown, in order: row, label, weight."""
    found = present_by_content(X, codes, weight)
    return [(tuple(X[i]), codes[i], found.weight[i]) for i in found.order]


def test_equal_rows_of_one_class_are_shown_once():
    X, codes = np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([0, 0, 0, 1])
    found = present_by_content(X, codes, np.array([1.0, 1.0, 2.5, 1.0]))
    kinds = {(X[i, 0], codes[i]): found.weight[i] for i in found.order}
    assert kinds == {(1.0, 0): 3.5, (2.0, 0): 1.0, (1.0, 1): 1.0}
    assert found.shown_as[0] == found.shown_as[2]


def test_rows_as_given_keep_their_order_and_lose_those_of_weight_0():
    found = present_as_given(np.array([1.0, 0.0, 3.0]))
    assert found.order.tolist() == [0, 2]


def test_minus_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert len(present_by_content(X, np.zeros(2, int), np.ones(2)).order) == 1


@given(st.integers(0, 1000))
def test_the_order_of_the_rows_does_not_matter(seed):
    X, codes, weight = table(seed)
    other = np.random.default_rng(seed).permutation(len(X))
    assert shown(X, codes, weight) == shown(X[other], codes[other], weight[other])


@given(st.integers(0, 1000))
def test_a_weight_is_so_many_rows(seed):
    X, codes, weight = table(seed)
    again = np.repeat(np.arange(len(X)), weight.astype(int))
    assert shown(X, codes, weight) == shown(X[again], codes[again], np.ones(len(again)))


@given(st.integers(0, 1000))
def test_sparse_and_narrow_rows_are_shown_in_the_same_order(seed):
    X, codes, weight = table(seed)
    dense = present_by_content(X, codes, weight)
    for form in (sparse.csr_array, lambda X: X.astype(np.float32), lambda X: sparse.csr_matrix(X.astype(np.float32))):
        found = present_by_content(form(X), codes, weight)
        np.testing.assert_array_equal(found.order, dense.order)
        np.testing.assert_array_equal(found.weight, dense.weight)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_that_share_a_hash_are_told_apart(monkeypatch, form):
    X, codes, weight = table(3)
    wanted = {(tuple(X[i]), codes[i]): 0.0 for i in np.flatnonzero(weight)}
    for i in range(len(X)):
        if weight[i]:
            wanted[(tuple(X[i]), codes[i])] += weight[i]
    monkeypatch.setattr(presented_rows, "content_hashes", lambda X, codes: np.zeros(X.shape[0], dtype=np.uint64))
    found = present_by_content(form(X), codes, weight)
    assert {(tuple(X[i]), codes[i]): found.weight[i] for i in found.order} == wanted


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_proof_adds_up_the_same_weights(form):
    X, codes, weight = table(4)
    found = present_by_content(form(X), codes, weight)
    np.testing.assert_array_equal(repeated_weight(form(X), codes, weight)[found.order], found.weight[found.order])


def test_the_hashes_are_those_of_plain_python():
    X, codes = np.array([[1.5, 0.0], [0.0, -2.0]]), np.array([0, 1])
    rows = sparse.csr_array(X)
    with np.errstate(over="ignore"):
        slow, fast = np.empty((2, 2), np.uint64), np.empty((2, 2), np.uint64)
        dense_hashes.py_func(X, codes, slow[0])
        sparse_hashes.py_func(rows.data, rows.indices, rows.indptr, codes, slow[1])
        assert mixed.py_func(np.uint64(7)) == mixed(np.uint64(7))
    dense_hashes(X, codes, fast[0])
    sparse_hashes(rows.data, rows.indices, rows.indptr, codes, fast[1])
    np.testing.assert_array_equal(slow, fast)
    np.testing.assert_array_equal(fast[0], fast[1])


@pytest.mark.parametrize("n", [5, MANY_ROWS + 3])
def test_a_shuffled_epoch_has_every_row_once(n):
    random = np.random.default_rng(0)
    first, second = shuffled(np.arange(n), random), shuffled(np.arange(n), random)
    np.testing.assert_array_equal(np.sort(first), np.arange(n))
    assert (first != second).any()
    if n > MANY_ROWS:  # neighbors stay neighbors, in blocks
        assert np.mean(np.diff(first) == 1) > 1 - 2 / BLOCK
