"""The gradient of least squares in twice the precision, straight from the data.

Refining an answer with a gradient computed in float64 cannot make it better than that gradient. Where the columns are
nearly collinear this costs digits that the data do determine; a gradient of twice the precision gives them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from pellucid.core.double_double import Pair, add, divide, exactly, multiply, negative, sum_rows, two_product
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
