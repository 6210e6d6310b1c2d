"""Sums and products in twice the precision of float64, by error-free transformations.

A number is a pair ``(high, low)`` of float64 arrays whose exact sum is meant. The building blocks are Knuth's two-sum
and Dekker's two-product, which give a rounded result together with its exact rounding error.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from pellucid.core.types import Array

Pair: TypeAlias = tuple[Array, Array]

_SPLITTER = float(2**27 + 1)


def two_sum(a: Array, b: Array) -> Pair:
    """Return ``a + b`` rounded, and its exact rounding error."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def two_product(a: Array, b: Array) -> Pair:
    """Return ``a * b`` rounded, and its exact rounding error (magnitudes below about 1e300)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def add(x: Pair, y: Pair) -> Pair:
    """Return ``x + y``."""
    high, low = two_sum(x[0], y[0])
    return _renormalize(high, low + (x[1] + y[1]))


def multiply(x: Pair, y: Pair) -> Pair:
    """Return ``x * y``."""
    high, low = two_product(x[0], y[0])
    return _renormalize(high, low + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, divisor: float) -> Pair:
    """Return ``x / divisor`` for one float64 divisor."""
    high = x[0] / divisor
    back, lost = two_product(high, np.asarray(divisor))
    return _renormalize(high, ((x[0] - back) - lost + x[1]) / divisor)


def negative(x: Pair) -> Pair:
    """Return ``-x``."""
    return -x[0], -x[1]


def exactly(x: Array) -> Pair:
    """Return a float64 array as a pair."""
    return x, np.zeros_like(x)


def sum_rows(x: Pair) -> Pair:
    """Return the sum over the first axis, halving the rows until one is left."""
    while len(x[0]) > 1:
        half = len(x[0]) // 2
        rest = (x[0][2 * half :], x[1][2 * half :])
        x = add((x[0][:half], x[1][:half]), (x[0][half : 2 * half], x[1][half : 2 * half]))
        if len(rest[0]):
            x = (np.concatenate([x[0], rest[0]]), np.concatenate([x[1], rest[1]]))
    return x[0][0], x[1][0]


def _renormalize(high: Array, low: Array) -> Pair:
    total = high + low
    return total, low - (total - high)


def _split(a: Array) -> Pair:
    """Return ``a`` as the sum of two numbers of at most 26 bits each."""
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
