"""Compiled loops of nonnegative factorization. Arguments are arrays and scalars that the caller has checked."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import kept

ANY_ORDER = {"nnan", "nsz", "reassoc", "contract"}


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
