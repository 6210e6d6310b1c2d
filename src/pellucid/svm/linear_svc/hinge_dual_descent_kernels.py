"""One pass of dual coordinate descent over sparse rows. Arguments are checked by the caller."""

# mypy: allow-untyped-defs

import math

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def dual_descent_pass(
    data, indices, indptr, constant, signs, ridge, most, squares, alpha, u, order, n_active, highest, lowest
):
    """Set each active ``alpha[i]`` to its best value in [0, most[i]] and keep ``u = sum alpha_i t_i a_i``. O(entries).

    What is least is ``|u|^2 / 2 + sum ridge_i alpha_i^2 / 2 - sum alpha_i``; ``squares`` are ``|a_i|^2 + ridge_i``.

    Returns the number of rows still active (they come first in ``order``) and the largest and smallest projected
    gradient; a variable at a bound whose gradient lies beyond those of the last pass is put to the end of ``order``.
    """
    steepest, least = -math.inf, math.inf
    limit_high = highest if highest > 0.0 else math.inf
    limit_low = lowest if lowest < 0.0 else -math.inf
    last = len(u) - 1
    k = 0
    while k < n_active:
        i = order[k]
        score = constant * u[last] if constant > 0.0 else 0.0
        for a in range(indptr[i], indptr[i + 1]):
            score += data[a] * u[indices[a]]
        slope = signs[i] * score - 1.0 + ridge[i] * alpha[i]
        if (alpha[i] == 0.0 and slope > limit_high) or (alpha[i] == most[i] and slope < limit_low):
            n_active -= 1
            order[k], order[n_active] = order[n_active], i
            continue
        k += 1
        projected = slope
        if alpha[i] == 0.0:
            projected = min(slope, 0.0)
        elif alpha[i] == most[i]:
            projected = max(slope, 0.0)
        steepest, least = max(steepest, projected), min(least, projected)
        if projected == 0.0:
            continue
        old = alpha[i]
        if squares[i] > 0.0:
            alpha[i] = min(max(old - slope / squares[i], 0.0), most[i])
        else:
            alpha[i] = most[i]
        change = (alpha[i] - old) * signs[i]
        for a in range(indptr[i], indptr[i + 1]):
            u[indices[a]] += change * data[a]
        if constant > 0.0:
            u[last] += change * constant
    return n_active, steepest, least
