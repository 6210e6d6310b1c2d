"""The units in which every column of sigmoid outputs bends alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

BLOCK = 1 << 18
"""Entries copied in one go."""

MULTIPLES = (0.0, *(0.5**k for k in range(40, 0, -1)))


@dataclass(frozen=True)
class Columns:
    """Means and units of the columns; with an intercept the last unknown is the score at the means."""

    mean: Array
    unit: Array
    fit_intercept: bool

    @property
    def n_unknowns(self) -> int:
        """Number of columns, and one for the intercept."""
        return len(self.unit) + self.fit_intercept

    def line(self, u: Array) -> tuple[Array, float]:
        """Return weights and intercept for the unknowns."""
        w = u[: len(self.unit)] / self.unit
        return w, float(4.0 * u[-1] - self.mean @ w) if self.fit_intercept else 0.0

    def gradient(self, by_weight: Array, by_intercept: float) -> Array:
        """Return the gradient by the unknowns from that by the weights and the intercept."""
        if not self.fit_intercept:
            return np.asarray(by_weight / self.unit)
        return np.append((by_weight - self.mean * by_intercept) / self.unit, 4.0 * by_intercept)

    def centered(self, X: Any) -> tuple[Any, Columns]:
        """Return dense rows less their means, in float64, and their columns: a mean far from 0 then costs no digits."""
        if sparse.issparse(X) or not self.fit_intercept:
            return X, self
        return np.subtract(X, self.mean, dtype=np.float64), replace(self, mean=np.zeros_like(self.mean))


def measure_columns(X: Any, weight: Array, alpha: float, *, fit_intercept: bool) -> Columns:
    """Return the means and units of the columns of ``X``."""
    total = float(weight.sum())
    mean = np.asarray(weight @ X, dtype=np.float64) / total
    if sparse.issparse(X):
        squares = np.asarray(weight @ X.multiply(X), dtype=np.float64) / total
        variance = np.maximum(squares - mean**2, EPSILON * squares)
    else:
        parts = [weight[part] @ (X[part] - mean) ** 2 for part in _blocks(X)]
        variance = np.sum(parts, axis=0) / total
    if not fit_intercept:
        variance = variance + mean**2
    unit = np.sqrt(variance / 16.0 + alpha)
    return Columns(mean * fit_intercept, np.where(unit > 0.0, unit, 1.0), fit_intercept)


def _blocks(X: Any) -> list[slice]:
    """Return parts of the rows that are small enough to be copied."""
    height = max(1, BLOCK // X.shape[1])
    return [slice(start, start + height) for start in range(0, X.shape[0], height)]
