"""A large matrix times four columns, each of its entries read once.

BLAS packs the matrix for its products, which for so few columns takes longer than the product. 4,000 x 4,000 times 4
columns takes 11 ms here on one thread, and times 8 columns in the same way 21.
``fastmath`` may reorder the sums, which lets them be vectorized; the order does not depend on the threads.
"""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import kept, lean_inlined_in_any_order

REORDER = {"reassoc", "contract", "nsz"}


@lean_inlined_in_any_order
def four_rows(A, i, B):
    """Return the products of rows i to i + 3 of ``A`` with the four rows of ``B``, a tuple for each row of ``A``.

    Sixteen sums keep the multipliers busy, and fit in registers.
    """
    a0 = a1 = a2 = a3 = 0.0
    b0 = b1 = b2 = b3 = 0.0
    c0 = c1 = c2 = c3 = 0.0
    d0 = d1 = d2 = d3 = 0.0
    for j in range(A.shape[1]):
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
    return (a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3), (d0, d1, d2, d3)


@kept(fastmath=REORDER, _nrt=False)
def times_four(A, B, out):
    """Write ``out = A @ B.T`` for C-ordered float64 ``A`` (m, n) and ``B`` (4, n). O(4 m n)."""
    m, n = A.shape
    for i in range(0, m - 3, 4):
        a, b, c, d = four_rows(A, i, B)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a
        out[i + 1, 0], out[i + 1, 1], out[i + 1, 2], out[i + 1, 3] = b
        out[i + 2, 0], out[i + 2, 1], out[i + 2, 2], out[i + 2, 3] = c
        out[i + 3, 0], out[i + 3, 1], out[i + 3, 2], out[i + 3, 3] = d
    for i in range(m - m % 4, m):
        for k in range(4):
            total = 0.0
            for j in range(n):
                total += A[i, j] * B[k, j]
            out[i, k] = total


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


@kept
def add_cross_gram(data, indices, indptr, row_data, row_indices, row_indptr, start, gram):
    """Add ``L[:, start:]' R`` to ``gram``, of a matrix ``L`` by columns and ``R`` by rows, for as many as it has rows.

    Only pairs that meet in a row of the data are visited. O(sum of the products of their numbers in each row).
    """
    for j in range(gram.shape[0]):
        for at in range(indptr[start + j], indptr[start + j + 1]):
            row, value = indices[at], data[at]
            for other in range(row_indptr[row], row_indptr[row + 1]):
                gram[j, row_indices[other]] += value * row_data[other]
