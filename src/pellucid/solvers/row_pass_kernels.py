"""Passes over the rows of a C-ordered float64 matrix for one target; BLAS would read each row twice.

``fastmath`` may reorder the sums, which lets them be vectorized: on 1,000,000 x 20 a residual pass takes a third of the
time of two BLAS products (``make bench FAMILY=linear_model``, Ridge).
"""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import kept

REORDER = {"reassoc", "contract", "nsz"}


@kept(fastmath=REORDER)
def residual_pass(X, w, offset, b, residual, pull):
    """Write ``residual = b - (X w - offset)`` and add ``X' residual`` to ``pull``. O(n p)."""
    n, p = X.shape
    whole = n - n % 4
    for i in range(0, whole, 4):  # as in transposed_pass; four sums at once also wait less for each other
        s0 = s1 = s2 = s3 = -offset
        for j in range(p):
            s0 += X[i, j] * w[j]
            s1 += X[i + 1, j] * w[j]
            s2 += X[i + 2, j] * w[j]
            s3 += X[i + 3, j] * w[j]
        r0, r1, r2, r3 = b[i] - s0, b[i + 1] - s1, b[i + 2] - s2, b[i + 3] - s3
        residual[i], residual[i + 1], residual[i + 2], residual[i + 3] = r0, r1, r2, r3
        for j in range(p):
            pull[j] += (r0 * X[i, j] + r1 * X[i + 1, j]) + (r2 * X[i + 2, j] + r3 * X[i + 3, j])
    for i in range(whole, n):
        fitted = -offset
        for j in range(p):
            fitted += X[i, j] * w[j]
        residual[i] = b[i] - fitted
        for j in range(p):
            pull[j] += residual[i] * X[i, j]


@kept(fastmath=REORDER)
def transposed_pass(X, r, pull, sums):
    """Add ``X' r`` to ``pull`` and the sums of the columns to ``sums``. O(n p)."""
    n, p = X.shape
    whole = n - n % 4
    for i in range(0, whole, 4):  # four rows at a time: the two sums are read and written a quarter as often
        for j in range(p):
            a, b, c, d = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
            pull[j] += (r[i] * a + r[i + 1] * b) + (r[i + 2] * c + r[i + 3] * d)
            sums[j] += (a + b) + (c + d)
    for i in range(whole, n):
        for j in range(p):
            pull[j] += r[i] * X[i, j]
            sums[j] += X[i, j]
