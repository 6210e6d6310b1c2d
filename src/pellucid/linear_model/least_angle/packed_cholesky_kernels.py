"""Removing a column from a Cholesky factor in packed storage."""

# mypy: allow-untyped-defs

import math

from pellucid.solvers.compiling_kernels import kept


@kept
def delete_packed_column(packed, k, i):
    """Turn the upper factor ``R`` of ``R'R = G``, its k columns stored in turn, into that of ``G`` without ``i``.

    Writes the first ``k (k - 1) / 2`` entries of ``packed``; Givens rotations restore the triangle. O((k - i) k).
    """
    cosines = [0.0] * k
    sines = [0.0] * k
    for j in range(i + 1, k):
        old, new = j * (j + 1) // 2, (j - 1) * j // 2
        for row in range(i):
            packed[new + row] = packed[old + row]
        upper = packed[old + i]
        for row in range(i, j - 1):
            lower = packed[old + row + 1]
            packed[new + row] = cosines[row] * upper + sines[row] * lower
            upper = cosines[row] * lower - sines[row] * upper
        lower = packed[old + j]
        length = math.hypot(upper, lower)
        cosines[j - 1], sines[j - 1] = upper / length, lower / length
        packed[new + j - 1] = length
