"""Exponentials of squared distances, from products of rows, by loops that compile to vector instructions.

NumPy has such loops for some processors only; elsewhere an exponential takes longer than the product it belongs to.
"""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.numerics.compiling_kernels import kept

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
