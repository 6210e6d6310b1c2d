"""Products of sparse rows with centers, and their sums. Rows are in compressed form: values, columns, ends."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import lean, lean_and_kept, lean_in_any_order

FEW_DIGITS_LOST = 0.1
"""Share of a center's square that a squared distance must have to be told from products."""


@lean_in_any_order
def four_products(values, columns, start, stop, unit, coded, k):
    """Return the products of a row with four columns in a row: they stay in registers."""
    a = b = c = d = np.float32(0.0)
    for e in range(start, stop):
        value, j = np.float32(values[e] * unit), columns[e]
        a += value * coded[j, k]
        b += value * coded[j, k + 1]
        c += value * coded[j, k + 2]
        d += value * coded[j, k + 3]
    return a, b, c, d


@lean_and_kept
def take_sparse_rows(values, columns, ends, rows, unit, coded, sizes, products, squares):
    """Write ``sizes[k] + x'coded[:, k]`` for each row, in ``unit``, and the square of the row. O(entries k).

    ``coded`` and ``products`` have a multiple of four columns.
    """
    for r in range(rows.size):
        start, stop, total = ends[rows[r]], ends[rows[r] + 1], 0.0
        for e in range(start, stop):
            total += (values[e] * unit) ** 2
        for k in range(0, coded.shape[1], 4):
            a, b, c, d = four_products(values, columns, start, stop, unit, coded, k)
            products[r, k], products[r, k + 1], products[r, k + 2], products[r, k + 3] = a, b, c, d
        for k in range(sizes.size):
            products[r, k] += np.float32(sizes[k])
        squares[r] = total


@lean_and_kept
def move_sparse_sums(values, columns, ends, weight, rows, before, labels, first, stop, sums, totals, counts):
    """Do what ``move_sums`` does for dense rows."""
    for r in range(rows.size):
        i = rows[r]
        w = weight[i] if weight.size > 0 else 1.0
        for k, sign in ((before[r], -1), (labels[i], 1)):
            if first <= k < stop:
                totals[k] += sign * w
                counts[k] += sign
                for e in range(ends[i], ends[i + 1]):
                    sums[k, columns[e]] += sign * w * values[e]


@lean
def sparse_squared_distance(values, columns, ends, i, centers, k, sizes):
    """Return the squared distance of a row to a center; ``sizes`` are the squared lengths of the centers.

    What the columns without an entry add is a difference; where that loses digits, it is summed.
    """
    inside, missing = 0.0, sizes[k]
    for e in range(ends[i], ends[i + 1]):
        center = centers[k, columns[e]]
        inside += (values[e] - center) * (values[e] - center)
        missing -= center * center
    if inside + missing < FEW_DIGITS_LOST * sizes[k]:
        missing, e = 0.0, ends[i]
        for j in range(centers.shape[1]):
            if e < ends[i + 1] and columns[e] == j:
                e += 1
            else:
                missing += centers[k, j] * centers[k, j]
    return inside + missing


@lean_and_kept
def own_sparse_distances(values, columns, ends, first, stop, weight, centers, sizes, labels, distances):
    """Do what ``own_distances`` does for dense rows."""
    total = 0.0
    for i in range(first, stop):
        value = sparse_squared_distance(values, columns, ends, i, centers, labels[i], sizes)
        total += value * (weight[i] if weight.size > 0 else 1.0)
        if distances.size > 0:
            distances[i] = value
    return total
