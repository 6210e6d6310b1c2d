"""Compiled loops of nonnegative factorization. Arguments are arrays and scalars that the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept, lean

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}
FAINT = 1e-200
"""Curvature of a part that has all but vanished, beside data of about 1: the best values for it would overflow."""


@kept(fastmath=ANY_ORDER)
def descend(factor, gram, products, order, most_sweeps, enough, block, gradient):
    """Sweep over the entries of each column of ``factor`` (q, m), each to its best value given the others.

    Minimizes half of ``f' gram f`` less ``products' f`` for every column ``f`` of at least 0. Columns are taken in
    blocks as wide as ``block`` (q, width), each swept until a sweep gains no more than ``enough`` of what the first
    did, or ``most_sweeps`` times. ``gradient`` (width,) is room for one row. O(q^2 m) a sweep.
    """
    q, m = factor.shape
    width = block.shape[1]
    for start in range(0, m, width):
        n = min(width, m - start)
        for t in range(q):
            for i in range(n):
                block[t, i] = factor[t, start + i]
            for i in range(n, width):
                block[t, i] = 0.0
        first = 0.0
        for sweep in range(most_sweeps):
            gain = 0.0
            for k in range(q):
                t = order[k]
                for i in range(n):
                    gradient[i] = -products[t, start + i]
                for i in range(n, width):
                    gradient[i] = 0.0
                _add_rows(gram[t], block, gradient)
                gain += _move(block[t], gradient, gram[t, t])
            if sweep == 0:
                first = gain
            if gain <= enough * first:
                break
        for t in range(q):
            for i in range(n):
                factor[t, start + i] = block[t, i]


@kept(fastmath=ANY_ORDER)
def _add_rows(weights, rows, total):
    """Add the weighted sum of ``rows`` to ``total``, four rows at a time."""
    q, width = rows.shape
    r = 0
    while r + 4 <= q:
        a, b, c, d = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
        one, two, three, four = rows[r], rows[r + 1], rows[r + 2], rows[r + 3]
        for i in range(width):
            total[i] += (a * one[i] + b * two[i]) + (c * three[i] + d * four[i])
        r += 4
    while r < q:
        a, one = weights[r], rows[r]
        for i in range(width):
            total[i] += a * one[i]
        r += 1


@kept(fastmath=ANY_ORDER)
def _move(row, gradient, curvature):
    """Move the entries of a row to their best values of at least 0; return what that gains."""
    gain = 0.0
    if curvature <= 0.0:  # nothing to multiply with: only an l1 penalty, which is part of the gradient, counts
        for i in range(row.shape[0]):
            if gradient[i] > 0.0:
                gain += gradient[i] * row[i]
                row[i] = 0.0
        return gain
    if curvature <= FAINT:
        return gain
    inverse = 1.0 / curvature
    for i in range(row.shape[0]):
        step = gradient[i] * inverse
        step = step if step < row[i] else row[i]
        gain += step * (gradient[i] - 0.5 * curvature * step)
        row[i] -= step
    return gain


@kept(fastmath=ANY_ORDER)
def ratios_of_rows(values, indices, indptr, W, columns, smallest, ratios):
    """Write each stored entry of CSR rows over that entry of ``W`` times the transposed ``columns``. O(nnz q)."""
    for i in range(indptr.shape[0] - 1):
        row = W[i]
        for k in range(indptr[i], indptr[i + 1]):
            column, product = columns[indices[k]], 0.0
            for t in range(row.shape[0]):
                product += row[t] * column[t]
            ratios[k] = values[k] / (product if product > smallest else smallest)


@kept(fastmath=ANY_ORDER)
def add_weighted_rows(values, indices, indptr, others, out):
    """Write to each row of ``out`` (n, q) the sum of rows of ``others``, weighted by the entries of a CSR row.

    ``indptr`` are the n + 1 ends of these rows among all entries. O(nnz q).
    """
    for i in range(out.shape[0]):
        total = out[i]
        total[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            weight, other = values[k], others[indices[k]]
            for t in range(total.shape[0]):
                total[t] += weight * other[t]


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
