"""Ridge regressions of many short rows, each with equations of its own."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept

DEPENDENT = 1e-13
"""Part of a diagonal entry below which its pivot counts as 0: that coefficient is then 0."""


@kept(fastmath={"nnan", "nsz", "reassoc", "contract"})
def solve_rows(values, indices, indptr, others, alpha, out, gram, some):
    """Write the ridge regression of each CSR row on rows of ``others`` (m, q) to ``out`` (n, q).

    ``indptr`` are the n + 1 ends of these rows among all entries; ``gram`` (q, q) is room, and ``some`` (q + 1, k) for
    k entries at once. Return the sum of the products of the right sides and the solutions. O(nnz q^2 + n q^3).
    """
    q, width, total = others.shape[1], some.shape[1], 0.0
    for i in range(out.shape[0]):
        right = out[i]
        for t in range(q):
            right[t] = 0.0
            for r in range(t):
                gram[t, r] = 0.0
            gram[t, t] = alpha
        for start in range(indptr[i], indptr[i + 1], width):
            n = min(width, indptr[i + 1] - start)
            for k in range(n):
                some[q, k] = values[start + k]
                for t in range(q):
                    some[t, k] = others[indices[start + k], t]
            for t in range(q):
                right[t] += _product(some[q], some[t], n)
                for r in range(t + 1):
                    gram[t, r] += _product(some[r], some[t], n)
        total += _solve(gram, right)
    return total


@kept(fastmath={"nnan", "nsz", "reassoc", "contract"})
def _product(one, other, n):
    """Return the sum of the products of the first ``n`` numbers."""
    total = 0.0
    for k in range(n):
        total += one[k] * other[k]
    return total


@kept
def _solve(gram, right):
    """Solve for ``right`` in place by a Cholesky factor of the lower half; return the product of both."""
    q = right.shape[0]
    product = 0.0
    for i in range(q):
        size = gram[i, i]
        for k in range(i):
            for r in range(k):
                gram[i, k] -= gram[i, r] * gram[k, r]
            gram[i, k] *= gram[k, k]
            gram[i, i] -= gram[i, k] * gram[i, k]
        for k in range(i):
            right[i] -= gram[i, k] * right[k]
        gram[i, i] = 1.0 / np.sqrt(gram[i, i]) if gram[i, i] > DEPENDENT * size else 0.0
        right[i] *= gram[i, i]
        product += right[i] * right[i]
    for i in range(q - 1, -1, -1):
        for r in range(i + 1, q):
            right[i] -= gram[r, i] * right[r]
        right[i] *= gram[i, i]
    return product
