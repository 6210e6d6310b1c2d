"""Products of sparse columns with dense results. Arguments are float64 data with their indices, checked before."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import kept


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
