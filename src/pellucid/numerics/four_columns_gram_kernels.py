"""The product of a large matrix with itself, times four columns: each entry is read once, for both products."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import kept
from pellucid.numerics.four_columns_kernels import REORDER


@kept(fastmath=REORDER, _nrt=False)
def add_gram_four(A, B, offset, sums, out):
    """Add ``A' Y`` to ``out'`` and ``1' Y`` to ``sums``, with ``Y = A B' - 1 offset'``, for C-ordered float64.

    ``A`` is (m, n) with m a multiple of 4, ``B`` and ``out`` are (4, n). O(8 m n). Four rows at a time stay in cache
    between their products; sixteen sums keep the multipliers busy.
    """
    m, n = A.shape
    for i in range(0, m, 4):
        a0 = a1 = a2 = a3 = 0.0
        b0 = b1 = b2 = b3 = 0.0
        c0 = c1 = c2 = c3 = 0.0
        d0 = d1 = d2 = d3 = 0.0
        for j in range(n):
            w, x, y, z = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            a0 += w * B[0, j]
            b0 += x * B[0, j]
            c0 += y * B[0, j]
            d0 += z * B[0, j]
            a1 += w * B[1, j]
            b1 += x * B[1, j]
            c1 += y * B[1, j]
            d1 += z * B[1, j]
            a2 += w * B[2, j]
            b2 += x * B[2, j]
            c2 += y * B[2, j]
            d2 += z * B[2, j]
            a3 += w * B[3, j]
            b3 += x * B[3, j]
            c3 += y * B[3, j]
            d3 += z * B[3, j]
        p, q, r, s = offset[0], offset[1], offset[2], offset[3]
        a0, b0, c0, d0 = a0 - p, b0 - p, c0 - p, d0 - p
        a1, b1, c1, d1 = a1 - q, b1 - q, c1 - q, d1 - q
        a2, b2, c2, d2 = a2 - r, b2 - r, c2 - r, d2 - r
        a3, b3, c3, d3 = a3 - s, b3 - s, c3 - s, d3 - s
        sums[0] += a0 + b0 + c0 + d0
        sums[1] += a1 + b1 + c1 + d1
        sums[2] += a2 + b2 + c2 + d2
        sums[3] += a3 + b3 + c3 + d3
        for j in range(n):
            w, x, y, z = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            out[0, j] += w * a0 + x * b0 + y * c0 + z * d0
            out[1, j] += w * a1 + x * b1 + y * c1 + z * d1
            out[2, j] += w * a2 + x * b2 + y * c2 + z * d2
            out[3, j] += w * a3 + x * b3 + y * c3 + z * d3
