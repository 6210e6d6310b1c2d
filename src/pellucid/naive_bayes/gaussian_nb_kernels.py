"""Passes over the rows of a C-ordered float64 block: moments per class, and log densities of all classes."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept

LANE = 64
"""Rows scored together: with 50 columns they stay in the first-level cache, and the sums run along them as vectors."""


@kept
def class_moments_pass(X, codes, weight, pivot, total, shift, square):
    """Add each row's weight ``w`` to ``total`` of its class, ``w d`` to ``shift`` and ``w d^2`` to ``square``.

    ``d`` is the row less the ``pivot`` of its class. O(n p).
    """
    n, p = X.shape
    for i in range(n):
        c = codes[i]
        w = weight[i]
        total[c] += w
        for j in range(p):
            d = X[i, j] - pivot[c, j]
            shift[c, j] += w * d
            square[c, j] += w * d * d


@kept
def gaussian_scores_pass(X, mean, scale, offset, out):
    """Write ``out[i, c] = offset[c] - sum_j ((X[i, j] - mean[c, j]) * scale[c, j])^2``. O(n p K)."""
    n, p = X.shape
    lanes = np.empty((p, LANE))
    score = np.empty(LANE)
    for start in range(0, n, LANE):
        m = min(LANE, n - start)
        for r in range(m):
            for j in range(p):
                lanes[j, r] = X[start + r, j]
        for c in range(mean.shape[0]):
            for r in range(m):
                score[r] = offset[c]
            for j in range(p):
                mu = mean[c, j]
                s = scale[c, j]
                for r in range(m):
                    z = (lanes[j, r] - mu) * s
                    score[r] -= z * z
            for r in range(m):
                out[start + r, c] = score[r]
