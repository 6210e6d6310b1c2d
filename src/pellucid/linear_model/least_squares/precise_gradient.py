"""The gradient of least squares in twice the precision, straight from the data.

Refining an answer with a gradient computed in float64 cannot make it better than that gradient. Where the columns are
nearly collinear this costs digits that the data do determine; a gradient of twice the precision gives them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

import numpy as np

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.solvers.design import Design

BLOCK_ROWS = 512
"""Rows in one block at most; some twenty arrays of that size are alive at a time."""

PRECISE = 32
"""What a product of twice the precision costs in multiplications."""


class PreciseGradient:
    """Answers ``A'(b - A w) - alpha w`` with centering, products and sums in twice the precision of float64."""

    def __init__(self, design: Design, y: Array) -> None:
        self.design = design
        self.y = y  # (n, t), not centered
        self.mean, self.y_mean = self._means()

    def residual_and_gradient(self, w: Array, alpha: float) -> tuple[Array, Array]:
        """Return ``b - A w`` and ``A'(b - A w) - alpha w``, each rounded once at the end."""
        residual = np.empty(self.y.shape)
        parts = shares(self.design.shape[0], PRECISE * self.design.shape[0] * self.design.shape[1])
        gradients = []
        for k in range(self.y.shape[1]):
            sums = run_blocks(partial(self._part, k=k, w=w[:, k], residual=residual), parts)
            total = negative(two_product(np.asarray(alpha), w[:, k]))
            for one in sums:
                total = add(total, one)
            gradients.append(total[0] + total[1])
        if self.design.root_weight is not None:
            residual *= self.design.root_weight[:, None]
        return residual, np.stack(gradients, axis=1)

    def _part(self, part: slice, k: int, w: Array, residual: Array) -> Pair:
        """Write the residuals of these rows for target ``k``, not yet weighted; return their share of the gradient."""
        total = exactly(np.zeros(self.design.shape[1]))
        for rows, block in self._blocks(part):
            centered = add(exactly(block), negative(self.mean))
            target = add(exactly(self.y[rows, k]), negative((self.y_mean[0][k], self.y_mean[1][k])))
            r = add(target, negative(_times(centered, w)))
            residual[rows, k] = r[0]
            total = add(total, _transposed_times(centered, self._weighted(r, rows)))
        return total

    def intercept(self, w: Array) -> Array:
        """Return ``y_mean - mean w``, rounded once."""
        offset = np.empty(w.shape[1])
        for k in range(w.shape[1]):
            products = multiply(self.mean, exactly(w[:, k]))
            high, low = add((self.y_mean[0][k], self.y_mean[1][k]), negative(sum_rows(products)))
            offset[k] = high + low
        return offset

    def _means(self) -> tuple[Pair, Pair]:
        p, t = self.design.shape[1], self.y.shape[1]
        x_sum, y_sum = exactly(np.zeros(p)), exactly(np.zeros(t))
        if not self.design.fit_intercept:
            return x_sum, y_sum
        for rows, block in self._blocks(slice(0, self.design.shape[0])):
            x_sum = add(x_sum, sum_rows(self._weighted(exactly(block), rows)))
            y_sum = add(y_sum, sum_rows(self._weighted(exactly(self.y[rows]), rows)))
        weight = self.design.sample_weight
        total = float(self.design.shape[0]) if weight is None else sum_rows(exactly(weight))[0]
        return divide(x_sum, float(total)), divide(y_sum, float(total))

    def _weighted(self, x: Pair, rows: slice) -> Pair:
        if self.design.sample_weight is None:
            return x
        weight = self.design.sample_weight[rows]
        return multiply(x, exactly(weight if x[0].ndim == 1 else np.broadcast_to(weight[:, None], x[0].shape)))

    def _blocks(self, part: slice) -> Iterator[tuple[slice, Array]]:
        height = min(BLOCK_ROWS, max(16, self.design.shape[0] // 256))
        for start in range(part.start, part.stop, height):
            rows = slice(start, min(start + height, part.stop))
            yield rows, self.design.raw_rows(rows)


def _times(A: Pair, w: Array) -> Pair:
    products = multiply((A[0].T, A[1].T), exactly(np.broadcast_to(w[:, None], A[0].T.shape)))
    return sum_rows(products)


def _transposed_times(A: Pair, r: Pair) -> Pair:
    shape = A[0].shape
    return sum_rows(multiply(A, (np.broadcast_to(r[0][:, None], shape), np.broadcast_to(r[1][:, None], shape))))


# Sums and products in twice the precision of float64, by error-free transformations.
#
# A number is a pair ``(high, low)`` of float64 arrays whose exact sum is meant. The building blocks are Knuth's two-sum
# and Dekker's two-product, which give a rounded result together with its exact rounding error.


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
