"""Compiled loop of thresholds on the cosine coefficients of overlapping blocks. Arguments are float64 arrays."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import INNER, kept, loop

quick = loop(**INNER, fastmath={"nsz", "reassoc", "contract"})


@quick
def turned_product(matrix, block, size, out):
    """Write the transpose of ``matrix @ block``; the length of the tuple ``size`` is known when compiling."""
    for i in range(len(size)):
        for j in range(len(size)):
            total = matrix[i, 0] * block[0, j]
            for k in range(1, len(size)):
                total += matrix[i, k] * block[k, j]
            out[j, i] = total


@quick
def soften(block, threshold, is_hard):
    """Threshold a block but its mean, in place; return how many coefficients are not 0."""
    mean, n_kept = block[0, 0], 1
    block[0, 0] = 0.0
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            value = block[i, j]
            less = abs(value) - threshold
            n_kept += less > 0.0
            if is_hard:
                block[i, j] = value if less > 0.0 else 0.0
            else:
                block[i, j] = np.copysign(less if less > 0.0 else 0.0, value)
    block[0, 0] = mean
    return n_kept


@kept
def threshold_rows(padded, rows, step, size, cosines, turned, threshold, is_hard, top, total):
    """Add to ``total`` every block that starts in one of the rows, thresholded; return how many coefficients are kept.

    ``total`` starts at row ``top``. ``cosines`` is the orthonormal transform, ``turned`` its transpose. A block costs
    four times its size cubed.
    """
    block, half = np.empty((len(size), len(size))), np.empty((len(size), len(size)))
    n_kept = 0
    for row in rows:
        for column in range(0, padded.shape[1] - len(size) + 1, step):
            turned_product(cosines, padded[row : row + len(size), column : column + len(size)], size, half)
            turned_product(cosines, half, size, block)
            n_kept += soften(block, threshold, is_hard)
            turned_product(turned, block, size, half)
            turned_product(turned, half, size, block)
            for i in range(len(size)):
                for j in range(len(size)):
                    total[row - top + i, column + j] += block[i, j]
    return n_kept
