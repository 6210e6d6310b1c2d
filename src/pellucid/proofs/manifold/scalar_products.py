r"""Claims about coordinates from scalar products: axes, their order, what was missed, and what new rows are placed by.

The products :math:`B` come from distances D. Each entry has lost a few rounding errors of the largest squared distance;
a matrix of such errors has a norm of about the root of n times their size, and by that much eigenvalues may move.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.manifold.scalar_products import ScalarProducts, centered_rows
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.matrices.eigenpairs import eigenpair_claims, wrong_signs
from pellucid.proofs.matrices.missed_eigenvalues import missed_claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error

RESIDUAL = 1e-11
"""Residuals accepted, in parts of the largest eigenvalue, where no ``tol`` allows more."""

ALL_VALUES = 1000
"""Rows up to which the share of negative eigenvalues is claimed: it takes all of them."""


class ProductsOfRows:
    """The products of rows about their mean, never formed; it answers what a SymmetricMatrix does."""

    def __init__(self, X: Array) -> None:
        self.rows, self.unit = centered_rows(X)

    def times(self, block: Array) -> Array:
        """Return the products times a vector or a block of vectors."""
        return np.asarray(self.rows @ (self.rows.T @ block))

    @cached_property
    def trace(self) -> float:
        """The sum of all eigenvalues."""
        return float(np.vdot(self.rows, self.rows))

    @property
    def norm(self) -> float:
        """What no eigenvalue is above."""
        return self.trace

    @property
    def least_norm(self) -> float:
        """What the largest eigenvalue is at least."""
        return max(self.trace / max(min(self.rows.shape), 1), TINY)


def coordinate_claims(
    matrix: Any,
    fitted: Any,
    n_components: int,
    *,
    unit: float,
    tol: float = 0.0,
    rounding: float = 0.0,
    is_positive: bool,
    is_fit: bool,
) -> list[Claim]:
    """Return the claims about ``embedding_`` and ``eigenvalues_``, given the products of distances times ``unit``.

    ``rounding`` is that of the dtype in which the embedding is stored. Fewer axes than were asked for have an extent
    only if the others have none: then no eigenvalue above rounding may be left.
    """
    n = len(fitted.embedding_)
    values = np.asarray(fitted.eigenvalues_, dtype=np.float64) * unit * unit
    scaled = np.asarray(fitted.embedding_, dtype=np.float64) * unit
    has_extent = values > 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        vectors = scaled[:, has_extent] / np.sqrt(values[has_extent])
    level = max(float(values.max(initial=0.0)), matrix.least_norm)
    noise = max(RESIDUAL, 8 * sum_error(n), 4 * tol) + 64 * EPSILON * np.sqrt(n) / level + 4 * rounding
    flat = scaled[:, ~has_extent]
    disorder = int(np.sum(~(np.diff(values) <= 0.0))) + int(np.sum(~(values >= 0.0)))
    disorder += wrong_signs(vectors, max(1e-9, 8 * rounding)) + int(np.any(flat != 0.0))
    disorder += int(np.sum(np.cumsum(~has_extent)[has_extent] > 0)) if len(values) else 0
    return [
        *eigenpair_claims(
            matrix, values[has_extent], vectors, level=level, noise=noise, remedy="Raise max_iter, or lower tol."
        ),
        Claim("order", "eigenvalues out of order or below 0, and axes of the other sign", float(disorder), 0.0),
        missed_claim(
            matrix,
            values[has_extent],
            vectors,
            noise=noise,
            wants_all=int(has_extent.sum()) < n_components,
            is_positive=is_positive,
            is_fit=is_fit,
        ),
    ]


def negative_report(eigenvalues: Array) -> str:
    """Return what all eigenvalues of the products say of how far the distances are from those of points.

    Distances of points in some space have none below 0. The share is that of the sizes.
    """
    total = float(np.abs(eigenvalues).sum())
    below = float(-eigenvalues[eigenvalues < 0.0].sum())
    if below <= 8 * sum_error(len(eigenvalues)) * total:
        return ""
    return f"{below / total:.3g} of the eigenvalues, by size, are below 0: that part of the distances fits no points."


def means_claim(stored: Array, products: ScalarProducts, rounding: float = 0.0) -> Claim:
    """Return the claim about the mean squared distances by which new rows are placed."""
    means = products.means
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(np.asarray(stored, dtype=np.float64) * products.unit * products.unit - means)
    return Claim(
        "means",
        "largest distance of squared_means_ from the mean squared distance of a row, in parts of the largest",
        float(np.max(apart, initial=0.0)) / max(float(means.max(initial=0.0)), TINY),
        RESIDUAL + rounding,
    )
