"""Distances of two blocks of rows, added up by cluster. Arguments are float64 arrays that the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}


@kept(fastmath=ANY_ORDER, _nrt=False)
def add_distances(products, A, B, own, other, limit, a_codes, ends, ended, a_sums, b_sums):
    """Add the distance of each row of ``A`` to each of ``B`` to the sums of both.

    ``products`` are those of the rows of ``A`` with those of ``B``, times -2, and are written over; ``own`` and
    ``other`` are the squared lengths of the rows. A squared distance below ``limit`` times both lengths has lost
    digits and is summed from differences. The rows of ``B`` stand in segments of one cluster each, number ``ended[s]``
    up to row ``ends[s]``. ``a_sums[k, i]`` are distances of row i to cluster k, and so ``b_sums`` for the clusters
    ``a_codes`` of the rows of ``A``. O(n m d).
    """
    for i in range(products.shape[0]):
        squares, mine, rough = products[i], own[i], 0
        for j in range(squares.size):
            both = mine + other[j]
            square = both + squares[j]
            squares[j] = square
            rough += 1 if square < limit * both else 0
        if rough > 0:
            for j in range(squares.size):
                if squares[j] < limit * (mine + other[j]):
                    total = 0.0
                    for k in range(A.shape[1]):
                        total += (A[i, k] - B[j, k]) ** 2
                    squares[j] = total
        column, start = b_sums[a_codes[i]], 0
        for segment in range(ends.size):
            total = 0.0
            for j in range(start, ends[segment]):
                distance = np.sqrt(squares[j] if squares[j] > 0.0 else 0.0)
                total += distance
                column[j] += distance
            a_sums[ended[segment], i] += total
            start = ends[segment]
