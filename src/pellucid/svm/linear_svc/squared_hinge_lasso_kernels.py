"""Coordinate descent on a quadratic model with an l1 penalty. Arguments are checked float64 arrays."""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def lasso_model_descent(H, g, old, new, aim, max_passes):
    """Minimize ``g'd + d'Hd/2 + |new|_1`` for ``d = new - old``, in place, until no coordinate's slope is off by more.

    ``H`` has a positive diagonal. Returns the passes done. O(passes p^2).
    """
    p = len(g)
    slope = g.copy()
    for j in range(p):
        d = new[j] - old[j]
        if d != 0.0:
            slope += d * H[j]
    for n_passes in range(1, max_passes + 1):
        worst = 0.0
        for j in range(p):
            h, w = H[j, j], new[j]
            target = h * w - slope[j]
            best = np.sign(target) * max(abs(target) - 1.0, 0.0) / h
            if best != w:
                worst = max(worst, h * abs(best - w))
                slope += (best - w) * H[j]
                new[j] = best
        if worst <= aim:
            return n_passes
    return max_passes
