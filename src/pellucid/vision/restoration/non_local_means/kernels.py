"""Compiled loop of non-local means: all pairs of pixels of one displacement at a time, each pair once."""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import INNER, kept, loop

SUMS = {"nsz", "reassoc", "contract"}
"""Sums over a patch may be taken in any order: half of the time."""

quick = loop(**INNER, fastmath=SUMS)
in_order = loop(**INNER, fastmath={"nsz", "contract"})

S0, S1, S2, S3, S4, S5, S6 = (np.float32(math.log(2.0) ** k / math.factorial(k)) for k in range(7))
"""The series of 2 to the power of a number between -1/2 and 1/2, as far as float32 sees it."""


@quick
def write_squares(a, b, n, out):
    """Write the squared differences of two rows."""
    for x in range(n):
        difference = a[x] - b[x]
        out[x] = difference * difference


@quick
def add_patches(squares, patch, n, columns, distances):
    """Write the sum over each patch: ``squares`` are the rows it covers. The patch's size is known when compiling."""
    for x in range(n + len(patch) - 1):
        total = squares[0, x]
        for k in range(1, len(patch)):
            total += squares[k, x]
        columns[x] = total
    for x in range(n):
        total = columns[x]
        for k in range(1, len(patch)):
            total += columns[x + k]
        distances[x] = total


@in_order
def powers_of_two(distances, n, spared, shift, bias, digits, powers, bits):
    r"""Turn each distance d into :math:`2^{-\max(d - spared, 0)}`, in place; what is below 2**-126 becomes about that.

    A number plus ``shift`` is rounded to a whole one, and the last ``bits`` of the sum spell it; it is moved by
    ``digits`` to where numbers keep their exponent. In another order the shift would cancel.
    """
    for x in range(n):
        power = spared - distances[x]
        power = power if power > -126.0 else type(power)(-126.0)
        power = power if power < 0.0 else type(power)(0.0)
        shifted = power + shift
        powers[x] = shifted
        f = power - (shifted - shift)
        f2 = f * f
        distances[x] = (S0 + f * S1) + f2 * ((S2 + f * S3) + f2 * ((S4 + f * S5) + f2 * S6))
    for x in range(n):
        bits[x] = (bits[x] + bias) << digits
    for x in range(n):
        distances[x] *= powers[x]


@quick
def add_weighted(factors, pixels, total, weights):
    """Add pixels times factors to one row, and the factors to the other."""
    for x in range(total.size):
        total[x] += factors[x] * pixels[x]
        weights[x] += factors[x]


@kept
def means_strip(padded, top, patch, radius, spared, shift, bias, digits, powers, bits, total, weights):
    """Add to ``total`` and ``weights`` all pixels near those of a strip, by the likeness of their patches.

    The strip starts at row ``top`` of the image, which is ``padded`` by the radius and half a patch. A pair of pixels
    is looked at once: from the one above, or to the left, of the other. O(rows W radius^2).
    """
    height, width = total.shape
    half = len(patch) // 2
    pad = radius + half
    room = width + radius + 2 * half
    squares = np.empty((len(patch), room), padded.dtype)
    columns, likeness = np.empty(room, padded.dtype), np.empty(room, padded.dtype)
    for i in range(height):
        for j in range(width):
            total[i, j] = padded[pad + top + i, pad + j]
            weights[i, j] = 1.0
    for down in range(radius + 1):
        for right in range(1 if down == 0 else -radius, radius + 1):
            left = pad - max(0, right)  # first column, in the padded image, of the upper pixels
            n = width + abs(right)
            for row in range(-down - half, height + half):
                upper = pad + top + row
                write_squares(
                    padded[upper, left - half :],
                    padded[upper + down, left - half + right :],
                    n + 2 * half,
                    squares[(row + down + half) % len(patch)],
                )
                center = row - half
                if center < -down:
                    continue
                add_patches(squares, patch, n, columns, likeness)
                powers_of_two(likeness, n, spared, shift, bias, digits, powers, bits)
                if center >= 0:
                    other = padded[pad + top + center + down, pad + right :]
                    add_weighted(likeness[pad - left :], other, total[center], weights[center])
                if center + down < height:
                    other = padded[pad + top + center, pad - right :]
                    add_weighted(likeness[pad - right - left :], other, total[center + down], weights[center + down])
