"""Sparse matrices in model files: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pellucid.core.kinds.arrays import SparseRows
from pellucid.core.kinds.pages import Page, SchemaError, WritePage
from pellucid.core.kinds.plain import read_as

KIND = SparseRows(("n_samples", "n_features"))
ROWS = sparse.csr_array(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 4.0]]))


class ArraysAsRead(Page):
    """Hands out given arrays, as a file would."""

    def __init__(self, arrays):
        super().__init__()
        object.__setattr__(self, "arrays", arrays)

    error = SchemaError

    def entry(self, path):
        return self.arrays.get(path)

    def take(self, path):
        return self.arrays[path]


def written(matrix):
    page = WritePage()
    assert KIND.fits(matrix)
    return KIND.write(matrix, page, "X"), page.arrays


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_comes_back_whole(form, dtype):
    matrix = form(ROWS.astype(dtype))
    node, arrays = written(matrix)
    again = read_as(KIND, node, ArraysAsRead(arrays), "X")
    assert type(again) is form
    assert again.dtype == dtype
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())


def test_other_kinds_and_doubled_entries_do_not_fit():
    doubled = sparse.csr_array((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert not KIND.fits(doubled)
    assert not KIND.fits(ROWS.tocsc())
    assert not KIND.fits(ROWS.toarray())


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("indices", {1: 7}),  # a column that is not there
        ("indices", {1: 1}),  # the same column twice in a row
        ("indptr", {1: 4, 2: 2}),  # rows that run backwards
        ("indptr", {4: 3}),  # the last entry left out
        ("indptr", {0: 1}),
    ],
)
def test_refuses_what_is_no_matrix(part, change):
    node, arrays = written(ROWS)
    for place, value in change.items():
        arrays[f"X.{part}"][place] = value
    with pytest.raises(SchemaError, match="X must be a CSR matrix of shape"):
        read_as(KIND, node, ArraysAsRead(arrays), "X")


def test_refuses_a_node_of_another_form():
    with pytest.raises(SchemaError, match="X must be a CSR matrix"):
        read_as(KIND, {"csr_array": {"data": 1}}, ArraysAsRead({}), "X")
