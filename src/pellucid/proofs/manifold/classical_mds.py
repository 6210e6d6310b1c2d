r"""Proof of classical MDS: the distances are those of the data, and the places are along the main axes of the products.

.. math:: B = -\tfrac12 HD^{(2)}H,\quad H = I - \tfrac1n 11',\qquad B = V\Lambda V',\qquad Z = V\Lambda^{1/2}

Of Euclidean distances, :math:`B` are the inner products of the rows about their mean, which need not be formed; others
are computed again. Each entry of :math:`B` has lost a few rounding errors of the largest squared distance; a matrix of
such errors has a norm of about the root of n times their size, and by that much eigenvalues may move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.distances import distances, is_given, named_metric
from pellucid.proofs.kernels.ridge_equations import rows_claim, rows_that_differ
from pellucid.proofs.matrices.eigenpairs import RESIDUAL, ProductsOfRows, SymmetricMatrix, coordinate_claims
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

ALL_VALUES = 1000
"""Rows up to which the share of negative eigenvalues is claimed: it takes all of them."""


SAME = 1e-12
"""Difference of a stored distance from the one computed again, in parts of the largest."""


def prove_classical_mds(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n, k = data.X.shape[0], parameters.n_components
    stored: Any = getattr(fitted, "dissimilarity_matrix_", None)  # that of Euclidean distances is left for later
    also = {"dissimilarity_matrix_": stored is None or stored.shape == (n, n)}
    if wrong := misshapen("exact", fitted, also, embedding_=(n, k), eigenvalues_=(k,), squared_means_=(n,)):
        return wrong
    is_euclidean = named_metric(parameters.metric, None, parameters.metric_params) == ("euclidean", {})
    products: Any = None
    if is_euclidean:
        claims, products = [_euclidean_claim(fitted.X_fit_, stored, data.X)], RowsAboutMean.of(data.X)
    else:
        between = all_distances(parameters.metric, parameters.metric_params, data.X, stored)
        claims, products = [distances_claim(stored, between)], ProductsAboutMean.of(between)
        claims += [] if is_given(parameters.metric) else [rows_claim(fitted.X_fit_, data.X)]
    lost = 64 * EPSILON * np.sqrt(n)
    claims += coordinate_claims(products, fitted, unit=products.unit, lost=lost, is_positive=is_euclidean)
    proof = graded("exact", [*claims, means_claim(fitted.squared_means_, products)])
    if is_euclidean or n > ALL_VALUES or is_fitting():
        return proof
    try:
        return replace(proof, reason=negative_report(np.linalg.eigvalsh(products.matrix)))
    except LinAlgError:
        return proof


def _euclidean_claim(stored_rows: Array, stored: Array | None, X: Array) -> Claim:
    """Return the claim about rows and, if someone has asked for them, their distances."""
    wrong = rows_that_differ(stored_rows, X)
    if stored is not None:
        wrong += float(not distances_claim(stored, distances(X, X, "euclidean")).holds)
    statement = "rows of X_fit_ that are not those of the data, and 1 if dissimilarity_matrix_ is there and not theirs"
    return Claim("training rows", statement, wrong, 0.0)


def all_distances(metric: Any, metric_params: Any, X: Array, stored: Array) -> Array:
    """Return the distances of all rows; a fit does not ask a function of the user's for all of them again."""
    if is_fitting() and callable(metric):
        return np.asarray(stored, dtype=np.float64)
    found = distances(X, X, metric, None, metric_params)
    if not is_given(metric):
        np.fill_diagonal(found, 0.0)
    return found


def distances_claim(stored: Array, between: Array) -> Claim:
    """Return the claim that the stored distances are those of the data."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = largest(stored - between)
    return difference_claim(apart / max(float(between.max(initial=0.0)), TINY))


def difference_claim(apart: float) -> Claim:
    """Return the claim that stored distances differ by no more than rounding."""
    statement = "largest difference of a stored distance from that of the data, in parts of the largest"
    return Claim("distances", statement, apart, SAME)


def unit_for(size: float) -> float:
    """Return the power of two that brings a size near 1, so that squares and their sums stay finite."""
    return float(0.5 ** np.frexp(size)[1]) if size > 0.0 else 1.0


@dataclass(frozen=True)
class ProductsAboutMean(SymmetricMatrix):
    """Products about the mean of distances times ``unit``, and the mean squares of these."""

    means: Array
    unit: float

    @classmethod
    def of(cls, between: Array) -> ProductsAboutMean:
        """Return the products that belong to the distances of all rows."""
        unit = unit_for(float(between.max(initial=0.0)))
        squares = np.square(np.asarray(between, dtype=np.float64) * unit)
        means = squares.mean(axis=1)
        return cls(-0.5 * (squares - means[:, None] - means + means.mean()), means, unit)


@dataclass(frozen=True)
class RowsAboutMean(ProductsOfRows):
    """The same of the Euclidean distances of rows, from the rows."""

    means: Array
    unit: float

    @classmethod
    def of(cls, X: Array) -> RowsAboutMean:
        """Return the products of rows about their mean."""
        centered = np.asarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float64)
        centered -= centered.mean(axis=0)  # that of rows far from 0 was rounded, and would be an axis of its own
        unit = unit_for(largest(centered))
        centered *= unit
        squares = np.einsum("ij,ij->i", centered, centered)
        return cls(centered, squares + squares.mean(), unit)


def negative_report(eigenvalues: Array) -> str:
    """Return what all eigenvalues of the products say of how far the distances are from those of points.

    Distances of points in some space have none below 0. The share is that of the sizes.
    """
    total = float(np.abs(eigenvalues).sum())
    below = float(-eigenvalues[eigenvalues < 0.0].sum())
    if below <= 8 * sum_error(len(eigenvalues)) * total:
        return ""
    return f"{below / total:.3g} of the eigenvalues, by size, are below 0: that part of the distances fits no points."


def means_claim(stored: Array, products: ProductsAboutMean | RowsAboutMean) -> Claim:
    """Return the claim about the mean squared distances by which new rows are placed."""
    means = products.means
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(np.asarray(stored, dtype=np.float64) * products.unit * products.unit - means)
    return Claim("means",
                 "largest distance of squared_means_ from the mean squared distance of a row, in parts of the largest",
                 float(np.max(apart, initial=0.0)) / max(float(means.max(initial=0.0)), TINY), RESIDUAL)  # fmt: skip


PROVES = {"ClassicalMDS": prove_classical_mds}
