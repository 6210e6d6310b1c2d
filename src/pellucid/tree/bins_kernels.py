"""Values of columns to bins. Arguments are arrays that the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept

MISSING = 255


@kept
def bin_columns(block, edges, is_categorical, words, has_missing):
    """Write the bins of up to four columns of a block of rows into one word per row, the first column lowest.

    ``edges`` is (n_columns, 256), sorted, filled up with infinity: the bin of a value is the number of edges below it.
    A category is its own bin. Columns with a missing value are marked in ``has_missing``.
    """
    for i in range(block.shape[0]):
        word = np.uint32(0)
        for k in range(block.shape[1]):
            value = block[i, k]
            b = np.int64(0)
            if np.isnan(value):
                b = np.int64(MISSING)
                has_missing[k] = True
            elif is_categorical[k]:
                b = np.int64(value)
            else:
                step = 128
                while step > 0:
                    b += step if value > edges[k, b + step - 1] else 0
                    step >>= 1
            word |= np.uint32(b) << np.uint32(8 * k)
        words[i] = word
