"""The exact end of nonnegative least squares: the method of Lawson and Hanson, from a start that is nearly right."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept, lean

FEASIBLE = 1e-12
"""A gradient above minus this part of the numbers it is a sum of counts as 0."""

INDEPENDENT = 1e-13
"""Part of a diagonal entry that its pivot must be, or the components count as dependent."""


@kept
def finish_columns(factor, gram, products):
    """Make each column ``f`` of ``factor`` (q, m) that of the least ``f' gram f / 2 - products' f``, of at least 0.

    A column whose components depend on each other is left as it is. O(q^3 m) where the starts are nearly right.
    """
    q, m = factor.shape
    lower, found, column, right = np.empty((q, q)), np.empty(q), np.empty(q), np.empty(q)
    chosen = np.empty(q, np.int64)
    for j in range(m):
        for t in range(q):
            column[t], right[t] = factor[t, j], products[t, j]
        if _finish(column, gram, right, lower, found, chosen):
            for t in range(q):
                factor[t, j] = column[t]


@lean
def _finish(column, gram, right, lower, found, chosen):
    """Solve for the entries above 0, and let others in and out until no gradient asks for more; return success."""
    q = column.shape[0]
    n = np.int64(0)  # for a plain 0, what takes it would be compiled anew
    for t in range(q):
        if column[t] > 0.0:
            chosen[n] = t
            n += 1
    for _ in range(3 * q + 10):
        if not _solve(gram, right, chosen, n, lower, found):
            return False
        part = 1.0
        for k in range(n):
            if found[k] <= 0.0:
                old = column[chosen[k]]
                part = min(part, old / (old - found[k]) if old > 0.0 else 0.0)
        kept_count = np.int64(0)
        for k in range(n):
            t = chosen[k]
            column[t] += part * (found[k] - column[t])
            is_out = part < 1.0 and found[k] <= 0.0 and column[t] <= 1e-14 * abs(found[k])
            if is_out:
                column[t] = 0.0
            else:
                if part == 1.0:
                    column[t] = found[k]
                chosen[kept_count] = t
                kept_count += 1
        if kept_count < n:
            n = kept_count
            continue
        worst = _most_wanted(column, gram, right)
        if worst < 0:
            return True
        chosen[n] = worst
        n += 1
    return False


@lean
def _solve(gram, right, chosen, n, lower, found):
    """Solve the equations of the first ``n`` chosen entries by a Cholesky factor; return whether that works."""
    for i in range(n):
        for k in range(i + 1):
            total = gram[chosen[i], chosen[k]]
            for r in range(k):
                total -= lower[i, r] * lower[k, r]
            if i > k:
                lower[i, k] = total / lower[k, k]
            elif total <= INDEPENDENT * gram[chosen[i], chosen[i]]:
                return False
            else:
                lower[i, i] = np.sqrt(total)
        total = right[chosen[i]]
        for r in range(i):
            total -= lower[i, r] * found[r]
        found[i] = total / lower[i, i]
    for i in range(n - 1, -1, -1):
        total = found[i]
        for r in range(i + 1, n):
            total -= lower[r, i] * found[r]
        found[i] = total / lower[i, i]
    return True


@lean
def _most_wanted(column, gram, right):
    """Return the entry at 0 whose gradient is the most below 0, or -1 where none is."""
    worst, least = -1, 0.0
    for t in range(column.shape[0]):
        if column[t] == 0.0:
            gradient, size = -right[t], abs(right[t])
            for r in range(column.shape[0]):
                gradient += gram[t, r] * column[r]
                size += abs(gram[t, r] * column[r])
            if gradient < -FEASIBLE * size and gradient < least:
                worst, least = t, gradient
    return worst
