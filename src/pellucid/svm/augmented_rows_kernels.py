"""Products of the Gram matrix of sparse rows. Arguments are the parts of a checked CSR matrix and float64 arrays."""

# mypy: allow-untyped-defs

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def csr_scores_pass(data, indices, indptr, u, offset, scores):
    """Write ``X u + offset``. O(entries)."""
    for i in range(len(indptr) - 1):
        score = offset
        for a in range(indptr[i], indptr[i + 1]):
            score += data[a] * u[indices[a]]
        scores[i] = score


@njit(cache=True, nogil=True, error_model="numpy")
def csr_pull_pass(data, indices, indptr, r, pulled):
    """Add ``X' r`` to ``pulled``; rows with ``r`` of 0 are not read. O(entries)."""
    for i in range(len(indptr) - 1):
        if r[i] != 0.0:
            for a in range(indptr[i], indptr[i + 1]):
                pulled[indices[a]] += r[i] * data[a]


@njit(cache=True, nogil=True, error_model="numpy")
def csr_curve_pass(data, indices, indptr, constant, h, d, curved):
    """Add ``A' diag(h) A d`` to ``curved``, reading each row once and rows of weight 0 not at all. O(entries)."""
    p = len(d) - (constant > 0.0)
    for i in range(len(indptr) - 1):
        if h[i] == 0.0:
            continue
        score = constant * d[p] if constant > 0.0 else 0.0
        for a in range(indptr[i], indptr[i + 1]):
            score += data[a] * d[indices[a]]
        score *= h[i]
        for a in range(indptr[i], indptr[i + 1]):
            curved[indices[a]] += score * data[a]
        if constant > 0.0:
            curved[p] += score * constant


@njit(cache=True, nogil=True, error_model="numpy")
def csr_gram_pass(data, indices, indptr, start, stop, h, G, border):
    """Add the lower triangle of ``X' diag(h) X`` to ``G`` and ``X' h`` to ``border``, for some of the rows.

    The indices of each row rise. O(sum of squared row lengths).
    """
    for i in range(start, stop):
        if h[i] == 0.0:
            continue
        for a in range(indptr[i], indptr[i + 1]):
            weighted, j = h[i] * data[a], indices[a]
            border[j] += weighted
            for b in range(indptr[i], a + 1):
                G[j, indices[b]] += weighted * data[b]
