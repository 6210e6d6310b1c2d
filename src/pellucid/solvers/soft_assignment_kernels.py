"""Loops of one EM step over a block of rows. Arguments are float64 arrays that the caller has checked."""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import kept

# Exponentials of squared distances, from products of rows, by loops that compile to vector instructions.
#
# NumPy has such loops for some processors only; elsewhere an exponential takes longer than the product it belongs to.


FAST = {"contract", "nsz", "nnan", "ninf"}

S0, S1, S2, S3, S4, S5, S6 = (np.float32(math.log(2.0) ** k / math.factorial(k)) for k in range(7))
D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11, D12, D13 = (math.log(2.0) ** k / math.factorial(k) for k in range(14))
"""The series of 2 to the power of a number between -1/2 and 1/2, as far as float32 and float64 see it."""


SINGLE_SHIFT, DOUBLE_SHIFT = np.float32(1.5 * 2.0**23), 1.5 * 2.0**52
"""A number plus this is rounded to a whole one, and the last bits of the sum spell it."""


@kept(fastmath=FAST)
def single_exponentials(products, norms, column_norms, rate, powers):
    """Turn each product of two rows into 2 to the power of ``-rate`` times their squared distance, in float32.

    ``norms`` and ``column_norms`` are squared lengths, ``powers`` is room for one row. What is below 2**-126 becomes
    about that.
    """
    bits = powers.view(np.int32)
    for i in range(products.shape[0]):
        length, row = norms[i], products[i]
        for j in range(row.shape[0]):
            power = rate * (np.float32(2.0) * row[j] - length - column_norms[j])
            power = power if power > np.float32(-126.0) else np.float32(-126.0)
            power = power if power < np.float32(0.0) else np.float32(0.0)
            shifted = power + SINGLE_SHIFT
            x = power - (shifted - SINGLE_SHIFT)
            powers[j] = shifted
            x2 = x * x
            row[j] = (S0 + x * S1) + x2 * ((S2 + x * S3) + x2 * ((S4 + x * S5) + x2 * S6))
        for j in range(row.shape[0]):
            bits[j] = (bits[j] + np.int32(127)) << np.int32(23)  # 2 to the power of the whole number
        for j in range(row.shape[0]):
            row[j] *= powers[j]


@kept(fastmath=FAST)
def double_exponentials(products, norms, column_norms, rate, powers):
    """Do the same in float64; what is below 2**-1022 becomes about that."""
    bits = powers.view(np.int64)
    for i in range(products.shape[0]):
        length, row = norms[i], products[i]
        for j in range(row.shape[0]):
            power = rate * (2.0 * row[j] - length - column_norms[j])
            power = power if power > -1022.0 else -1022.0
            power = power if power < 0.0 else 0.0
            shifted = power + DOUBLE_SHIFT
            x = power - (shifted - DOUBLE_SHIFT)
            powers[j] = shifted
            x2 = x * x
            x4 = x2 * x2
            end = ((D8 + x * D9) + x2 * (D10 + x * D11)) + x4 * (D12 + x * D13)
            row[j] = ((D0 + x * D1) + x2 * (D2 + x * D3)) + x4 * (((D4 + x * D5) + x2 * (D6 + x * D7)) + x4 * end)
        for j in range(row.shape[0]):
            bits[j] = (bits[j] + 1023) << 52
        for j in range(row.shape[0]):
            row[j] *= powers[j]


LOG2_E = 1.0 / math.log(2.0)


@kept(fastmath=FAST)
def write_columns(rows, center, inverse, features):
    """Write the columns of ``(rows - center) * inverse`` as the last rows but one of ``features``. O(n d).

    Features stand in rows, one entry for each row of the data: loops over them are long whatever ``d`` is.
    """
    n, d = rows.shape
    first = features.shape[0] - 1 - d
    for j in range(d):
        middle, factor, out = center[j], inverse[j], features[first + j]
        for i in range(n):
            out[i] = (rows[i, j] - middle) * factor


@kept(fastmath=FAST)
def write_products(features, d):
    """Write the products of columns ``a <= b``, by ``a`` and then ``b``, above the columns. O(n d^2)."""
    first, place = features.shape[0] - 1 - d, 0
    for a in range(d):
        one = features[first + a]
        for b in range(a, d):
            other, out = features[first + b], features[place]
            for i in range(out.shape[0]):
                out[i] = one[i] * other[i]
            place += 1


@kept(fastmath=FAST)
def responsibilities_pass(scores, weight, top, powers):
    """Turn log joint densities of shape (K, n) into responsibilities times weights, in place.

    ``top`` receives the logarithm of the sum over the components of each row's densities; ``powers`` is room for one
    row. The largest score of each row is taken off first, so nothing overflows. O(K n).
    """
    n_components, n = scores.shape
    bits = powers.view(np.int64)
    totals = np.zeros(n)
    for i in range(n):
        top[i] = scores[0, i]
    for k in range(1, n_components):
        row = scores[k]
        for i in range(n):
            top[i] = row[i] if row[i] > top[i] else top[i]
    for k in range(n_components):
        row = scores[k]
        for i in range(n):
            power = LOG2_E * (row[i] - top[i])
            power = power if power > -1022.0 else -1022.0
            shifted = power + DOUBLE_SHIFT
            x = power - (shifted - DOUBLE_SHIFT)
            powers[i] = shifted
            x2 = x * x
            x4 = x2 * x2
            end = ((D8 + x * D9) + x2 * (D10 + x * D11)) + x4 * (D12 + x * D13)
            row[i] = ((D0 + x * D1) + x2 * (D2 + x * D3)) + x4 * (((D4 + x * D5) + x2 * (D6 + x * D7)) + x4 * end)
        for i in range(n):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(n):
            row[i] *= powers[i]
            totals[i] += row[i]
    for i in range(n):
        top[i] += math.log(totals[i])
        totals[i] = weight[i] / totals[i]
    for k in range(n_components):
        row = scores[k]
        for i in range(n):
            row[i] *= totals[i]


@kept
def count_above(values, least):
    """Return how many entries of a matrix are above ``least``."""
    count = 0
    for k in range(values.shape[0]):
        row = values[k]
        for i in range(row.shape[0]):
            count += 1 if row[i] > least else 0
    return count


@kept(fastmath=FAST)
def add_significant(responsibilities, rows, center, inverse, least, sums):
    """Add squares, values and 1 of ``(rows - center) * inverse``, times responsibilities above ``least``, to sums.

    Four rows at a time: the sums are then read and written once for four products. O(K n d).
    """
    n, d = rows.shape
    places, shares = np.empty(n + 3, np.int64), np.empty(n + 3)
    for k in range(responsibilities.shape[0]):
        of_rows, squares, values, count = responsibilities[k], sums[k, :d], sums[k, d : 2 * d], 0
        for i in range(n):
            if of_rows[i] > least:
                places[count], shares[count] = i, of_rows[i]
                count += 1
                sums[k, 2 * d] += of_rows[i]
        for i in range(count, count + 3):
            places[i], shares[i] = 0, 0.0
        for i in range(0, count, 4):
            one, two, three, four = rows[places[i]], rows[places[i + 1]], rows[places[i + 2]], rows[places[i + 3]]
            p, q, r, s = shares[i], shares[i + 1], shares[i + 2], shares[i + 3]
            for j in range(d):
                a, b = (one[j] - center[j]) * inverse[j], (two[j] - center[j]) * inverse[j]
                c, e = (three[j] - center[j]) * inverse[j], (four[j] - center[j]) * inverse[j]
                pa, qb, rc, se = p * a, q * b, r * c, s * e
                values[j] += (pa + qb) + (rc + se)
                squares[j] += (pa * a + qb * b) + (rc * c + se * e)
