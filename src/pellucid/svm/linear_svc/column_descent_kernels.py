"""One pass of coordinate descent over the columns of a CSC matrix. Arguments are checked by the caller."""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def column_pass(data, indices, indptr, signs, cost, curvature, u, margins, order):
    """Move each ``u[j]`` of the order once, in place, and keep the margins. O(entries).

    ``curvature[j]`` is at least the second derivative of the loss by ``u[j]``, and above 0.
    """
    for j in order:
        slope = 0.0
        for a in range(indptr[j], indptr[j + 1]):
            i = indices[a]
            if margins[i] < 1.0:
                slope -= 2.0 * cost[i] * (1.0 - margins[i]) * signs[i] * data[a]
        target = curvature[j] * u[j] - slope
        best = np.sign(target) * max(abs(target) - 1.0, 0.0) / curvature[j]
        change = best - u[j]
        if change != 0.0:
            u[j] = best
            for a in range(indptr[j], indptr[j + 1]):
                margins[indices[a]] += change * signs[indices[a]] * data[a]
