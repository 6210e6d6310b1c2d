"""The product of a large matrix with itself, times four columns: each entry is read once, for both products."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import kept
from pellucid.numerics.four_columns_kernels import REORDER, four_rows


@kept(fastmath=REORDER, _nrt=False)
def add_gram_four(A, B, offset, out):
    """Add ``A' Y`` to ``out'``, with ``Y = A B' - 1 offset'``, for C-ordered float64.

    ``A`` is (m, n) with m a multiple of 4, ``B`` and ``out`` are (4, n). O(8 m n). Four rows at a time stay in cache
    between their products.
    """
    m, n = A.shape
    p, q, r, s = offset[0], offset[1], offset[2], offset[3]
    for i in range(0, m, 4):
        (a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3), (d0, d1, d2, d3) = four_rows(A, i, B)
        a0, b0, c0, d0 = a0 - p, b0 - p, c0 - p, d0 - p
        a1, b1, c1, d1 = a1 - q, b1 - q, c1 - q, d1 - q
        a2, b2, c2, d2 = a2 - r, b2 - r, c2 - r, d2 - r
        a3, b3, c3, d3 = a3 - s, b3 - s, c3 - s, d3 - s
        for j in range(n):
            w, x, y, z = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            out[0, j] += w * a0 + x * b0 + y * c0 + z * d0
            out[1, j] += w * a1 + x * b1 + y * c1 + z * d1
            out[2, j] += w * a2 + x * b2 + y * c2 + z * d2
            out[3, j] += w * a3 + x * b3 + y * c3 + z * d3
