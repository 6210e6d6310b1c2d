"""A large matrix times eight columns, each of its entries read once.

BLAS packs the matrix for its products, which for so few columns takes longer than the product: 4,000 x 4,000 times 8
columns takes 57 ms there and 11 here, on two threads of the same busy machine; reading the matrix alone takes 6.
``fastmath`` may reorder the sums, which lets them be vectorized; the order does not depend on the threads.
"""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import kept

REORDER = {"reassoc", "contract", "nsz"}


@kept(fastmath=REORDER, _nrt=False)
def times_eight(A, B, out):
    """Write ``out = A @ B.T`` for C-ordered float64 ``A`` (m, n) and ``B`` (8, n). O(8 m n).

    Two rows at a time: sixteen sums keep the multipliers busy, and fit in registers.
    """
    m, n = A.shape
    for i in range(0, m - 1, 2):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = 0.0
        for j in range(n):
            x, y = A[i, j], A[i + 1, j]
            a0 += x * B[0, j]
            b0 += y * B[0, j]
            a1 += x * B[1, j]
            b1 += y * B[1, j]
            a2 += x * B[2, j]
            b2 += y * B[2, j]
            a3 += x * B[3, j]
            b3 += y * B[3, j]
            a4 += x * B[4, j]
            b4 += y * B[4, j]
            a5 += x * B[5, j]
            b5 += y * B[5, j]
            a6 += x * B[6, j]
            b6 += y * B[6, j]
            a7 += x * B[7, j]
            b7 += y * B[7, j]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a0, a1, a2, a3
        out[i, 4], out[i, 5], out[i, 6], out[i, 7] = a4, a5, a6, a7
        out[i + 1, 0], out[i + 1, 1], out[i + 1, 2], out[i + 1, 3] = b0, b1, b2, b3
        out[i + 1, 4], out[i + 1, 5], out[i + 1, 6], out[i + 1, 7] = b4, b5, b6, b7
    if m % 2:
        for k in range(8):
            total = 0.0
            for j in range(n):
                total += A[m - 1, j] * B[k, j]
            out[m - 1, k] = total
