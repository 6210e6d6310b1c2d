"""The design matrix a linear fit sees: centered and weighted, but never copied.

Every linear model works with ``A = sqrt(W) (X - 1 mean')`` and ``b = sqrt(W) (y - y_mean)``. A copy of ``X`` would cost
as much memory as the data and often more time than the fit, so a design answers products with ``A`` from ``X`` itself.
All answers are float64, whatever the dtype of ``X``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.solvers.dense_design import DenseDesign
from pellucid.solvers.sparse_design import SparseDesign


class Design(Protocol):
    """What a solver may ask of ``A``."""

    shape: tuple[int, int]
    sample_weight: Array | None
    root_weight: Array | None
    fit_intercept: bool
    total_weight: float

    @property
    def mean(self) -> Array:
        """What was subtracted from the columns."""

    def center(self, y: Array) -> tuple[Array, Array]:
        """Return ``b = sqrt(W) (y - y_mean)`` and ``y_mean``."""

    def times(self, w: Array) -> Array:
        """Return ``A w``."""

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``."""

    def residual_and_correlations(self, b: Array, w: Array) -> tuple[Array, Array]:
        """Return ``b - A w`` and ``A'(b - A w)``."""

    def normal_equations(self, b: Array) -> tuple[Array, Array]:
        """Return ``A'A`` and ``A'b``."""

    def gram(self, columns: Array | None = None, others: Array | None = None) -> Array:
        """Return ``A[:, columns]' A[:, others]``; None means all columns, and ``others`` defaults to ``columns``."""

    def columns(self, indices: Array) -> Array:
        """Return ``A[:, indices]``, dense, in Fortran order."""

    def sq_norms(self) -> Array:
        """Return the squared norms of the columns of ``A``."""

    def row_gram(self) -> Array:
        """Return ``A A'``."""

    def row_blocks(self, part: slice | None = None, rows_at_least: int = 1) -> Iterator[tuple[slice, Array]]:
        """Yield the rows of ``A`` in this part, or all, in dense blocks; a block may be overwritten by the next."""

    def raw_rows(self, rows: slice) -> Array:
        """Return ``X[rows]`` as it was given, dense, in float64."""


def make_design(
    X: Array,
    *,
    fit_intercept: bool,
    sample_weight: Array | None = None,
    known: tuple[Array, Array] | None = None,
) -> Design:
    """Return the design of a dense array or a sparse matrix; ``known`` are mean and scatter of the columns."""
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if sparse.issparse(X):
        return SparseDesign(X, fit_intercept=fit_intercept, sample_weight=weight)
    return DenseDesign(X, fit_intercept=fit_intercept, sample_weight=weight, known=known if fit_intercept else None)


def centering_noise(design: Design) -> Array:
    """Return the squared norm that rounding of the mean leaves in each column: a constant column has no more."""
    return (10 * np.finfo(np.float64).eps * np.abs(design.mean)) ** 2 * design.total_weight
