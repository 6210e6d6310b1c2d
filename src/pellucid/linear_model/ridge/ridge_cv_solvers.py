r"""Leave-one-out errors of ridge regression for all penalties at once, exactly, without refitting.

With :math:`A'A = V\Lambda V'` and :math:`z_i = V'a_i`, the error of row i when it is left out is

.. math:: \frac{b_i - z_i'(\Lambda + \alpha I)^{-1}V'A'b}{1 - h_i},\qquad
          h_i = \frac{s_i}{\sum s} + z_i'(\Lambda + \alpha I)^{-1}z_i ,

so one eigendecomposition and two matrix products serve every penalty. (:math:`s_i` is the weight of the row, which is
left out with all its weight.) Where a row has the fit to itself, :math:`1 - h_i` is rounding: few rows can, and those
are left out indeed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh, svd
from sklearn.base import BaseEstimator, RegressorMixin

from pellucid.core.threads import run_blocks, shared_blas, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_squares.normal_factor import triangular_factor
from pellucid.solvers.design import Design

SMALLEST_SAFE_PENALTY = 1e-9
"""Relative to the largest eigenvalue of A'A; below, an SVD is used, where small eigenvalues keep their digits."""

FEWEST_ROWS = 256

LEAST_FREE = 1e-7
"""Part :math:`1 - h_i` of its error that a row keeps, below which too many digits have cancelled."""

Refit = Callable[[int, float], Array]
"""The left-out error of a row at a penalty, per target in weighted units, by a fit without the row."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Errors summed over rows and, if asked for, each of them."""

    mean_squares: Array  # (t, a), mean over the rows of the squared errors
    errors: Array | None  # (n, t, a), in weighted units


def leave_one_out(
    design: Design, b: Array, alphas: Array, *, gram: Array | None, refit: Refit, keep_errors: bool
) -> LeaveOneOut:
    """Return the leave-one-out errors of ``b`` for every alpha; ``gram`` is None if rows are few."""
    n, t = b.shape
    errors = np.empty((n, t, len(alphas))) if keep_errors else None
    source: _ByFeatures | _ByRows
    source = _ByRows(design, b, alphas) if gram is None else _ByFeatures(design, b, alphas, gram, refit)

    def work(part: slice) -> Array:
        total = np.zeros((t, len(alphas)))
        for rows, left_out in source.errors(part):
            total += np.einsum("ija,ija->ja", left_out, left_out)
            if errors is not None:
                errors[rows] = left_out
        return total

    total = sum(run_blocks(work, split_evenly(n, thread_count())), start=np.zeros((t, len(alphas))))
    return LeaveOneOut(total / n, errors)


@dataclass(frozen=True, eq=False)
class FeatureDirections:
    """What tells the left-out errors of any row: the eigenvectors of ``A'A`` and the fit along them."""

    vectors: Array  # (p, p)
    inverses: Array  # (p, a)
    weights: Array  # (p, t, a)

    @classmethod
    def of(cls, design: Design, b: Array, alphas: Array, gram: Array) -> Self:
        """Return those of a design with more rows than columns."""
        with shared_blas(4.0 * len(gram) ** 3):
            values, vectors = eigh(gram, check_finite=False)
        if alphas.min() < SMALLEST_SAFE_PENALTY * values[-1]:
            _, s, right = svd(triangular_factor(design, b)[0], check_finite=False)
            values, vectors = s**2, right.T
        inverses = 1.0 / (np.maximum(values, 0.0)[:, None] + alphas)
        rotated = vectors.T @ design.transposed_times(b)  # (p, t)
        return cls(vectors, inverses, rotated[:, :, None] * inverses[:, None, :])

    def errors(self, rows: Array, b: Array, share: Array) -> tuple[Array, Array]:
        """Return errors of shape (m, t, a), and where, of shape (m, a), too many digits of them have cancelled."""
        p, t, a = self.weights.shape
        z = rows @ self.vectors
        residual = b[:, :, None] - (z @ self.weights.reshape(p, t * a)).reshape(-1, t, a)
        z *= z
        free = 1.0 - share[:, None] - z @ self.inverses
        return residual / np.maximum(free, LEAST_FREE)[:, None, :], free < LEAST_FREE


class _ByFeatures:
    """Errors from the eigenvectors of ``A'A``; for at least as many rows as columns."""

    def __init__(self, design: Design, b: Array, alphas: Array, gram: Array, refit: Refit) -> None:
        self.design, self.b, self.share = design, b, _intercept_leverage(design)
        self.alphas, self.refit = alphas, refit
        self.directions = FeatureDirections.of(design, b, alphas, gram)

    def errors(self, part: slice) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their errors of shape (m, t, a)."""
        for rows, block in self.design.row_blocks(part, FEWEST_ROWS):
            left_out, is_lone = self.directions.errors(block, self.b[rows], self.share[rows])
            for row, place in np.argwhere(is_lone):
                left_out[row, :, place] = self.refit(rows.start + row, self.alphas[place])
            yield rows, left_out


class _ByRows:
    """Errors from the eigenvectors of ``A A'``: the left-out error of row i is ``z_i / ((A A' + alpha I)^-1)_ii``.

    Nothing cancels in this form when a small penalty lets the fit pass through every row.
    """

    def __init__(self, design: Design, b: Array, alphas: Array) -> None:
        kernel = design.row_gram()
        inner = slice(None)
        if design.fit_intercept:  # push the direction that centering removed to the top, then leave it out
            u = np.sqrt(_intercept_leverage(design))
            kernel = kernel + max(2 * np.trace(kernel), 1.0) * np.outer(u, u)
            inner = slice(None, -1)
        with shared_blas(4.0 * len(kernel) ** 3):
            values, vectors = eigh(kernel, check_finite=False)
        self.vectors = vectors[:, inner]
        self.inverses = 1.0 / (np.maximum(values[inner], 0.0)[:, None] + alphas)  # (n, a)
        self.weights = (self.vectors.T @ b)[:, :, None] * self.inverses[:, None, :]  # (n, t, a)

    def errors(self, part: slice) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their errors of shape (m, t, a)."""
        k, t, a = self.weights.shape
        q = self.vectors[part]
        z = (q @ self.weights.reshape(k, t * a)).reshape(-1, t, a)
        yield part, z / ((q * q) @ self.inverses)[:, None, :]


def _intercept_leverage(design: Design) -> Array:
    n = design.shape[0]
    if not design.fit_intercept:
        return np.zeros(n)
    weight = np.ones(n) if design.sample_weight is None else design.sample_weight
    return weight / weight.sum()


class GivenPredictions(RegressorMixin, BaseEstimator):
    """Stands in for a model where a scorer wants one and predictions are at hand."""

    def fit(self, X: Data, y: Data = None) -> Self:
        """Learn nothing."""
        return self

    def predict(self, X: Data) -> Array:
        """Return ``X``."""
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True
