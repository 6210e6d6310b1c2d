"""Products of sparse columns, compiled and as plain Python, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pellucid.solvers.product_kernels import add_cross_gram


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
@pytest.mark.parametrize("start", [0, 2])
def test_pairs_that_meet_in_a_row_are_added(compiled, start):
    rng = np.random.default_rng(0)
    left = sparse.random_array((9, 5), density=0.4, rng=rng, format="csc")
    right = sparse.random_array((9, 4), density=0.4, rng=rng, format="csr")
    gram = np.ones((3, 4))
    kernel = add_cross_gram if compiled else add_cross_gram.py_func
    kernel(left.data, left.indices, left.indptr, right.data, right.indices, right.indptr, start, gram)
    np.testing.assert_allclose(gram, 1.0 + (left.T @ right).toarray()[start : start + 3])
