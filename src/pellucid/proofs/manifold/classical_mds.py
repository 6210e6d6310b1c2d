"""Proof of classical MDS: the distances are those of the data, and the places are along the main axes of the products.

``verify`` computes all distances and products again. A fit to Euclidean distances of rows forms neither: there the
products are multiplied by vectors through the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pellucid.manifold.dissimilarities import all_distances, is_given
from pellucid.manifold.scalar_products import ScalarProducts
from pellucid.neighbors.metric import Metric
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.ridge_equations import rows_that_differ
from pellucid.proofs.manifold.scalar_products import (
    ALL_VALUES,
    ProductsOfRows,
    coordinate_claims,
    means_claim,
    negative_report,
)
from pellucid.proofs.matrices.missed_eigenvalues import SymmetricMatrix
from pellucid.proofs.rounding import TINY
from pellucid.proofs.sampling import graded
from pellucid.proofs.training_data import TrainingData

SAME = 1e-12
"""Difference of a stored distance from the one computed again, in parts of the largest."""


def prove_classical_mds(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    shape = _shape_fault(fitted, parameters, data)
    if shape:
        return Certificate("exact", (Claim("shape", shape, 1.0, 0.0),))
    distances = all_distances(Metric.resolve(parameters.metric, None, parameters.metric_params), data.X)
    products = ScalarProducts.of(distances)
    proof = classical_mds_claims(fitted, parameters, data, is_fit=False, products=products)
    proof = proof.with_claims(
        means_claim(fitted.squared_means_, products), distances_claim(fitted.dissimilarity_matrix_, distances)
    )
    if len(distances) > ALL_VALUES:
        return proof
    try:
        return replace(proof, reason=negative_report(np.linalg.eigvalsh(products.matrix)))
    except LinAlgError:
        return proof


def classical_mds_claims(
    fitted: Any, parameters: Any, data: TrainingData, *, is_fit: bool, products: ScalarProducts | None = None
) -> Certificate:
    """Return what is claimed of rows and places; without ``products`` those of Euclidean rows are not formed."""
    claims = [] if is_given(parameters.metric) else [rows_claim(fitted.X_fit_, data.X)]
    matrix = ProductsOfRows(data.X) if products is None else SymmetricMatrix(products.matrix)
    is_euclidean = isinstance(parameters.metric, str) and parameters.metric == "euclidean"
    claims += coordinate_claims(
        matrix,
        fitted,
        parameters.n_components,
        unit=matrix.unit if isinstance(matrix, ProductsOfRows) else products.unit,  # type: ignore[union-attr]
        is_positive=is_euclidean,
        is_fit=is_fit,
    )
    return graded("exact", claims)


def rows_claim(stored: Any, given: Any) -> Claim:
    """Return the claim that the rows kept for new ones are those of the data."""
    wrong = rows_that_differ(stored, given)
    return Claim("training rows", "rows of X_fit_ that are not those of the data", wrong, 0.0)


def distances_claim(stored: Array, distances: Array) -> Claim:
    """Return the claim that the stored distances are those of the data."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = float(np.max(np.abs(stored - distances), initial=0.0))
    return Claim(
        "distances",
        "largest difference of a stored distance from that of the data, in parts of the largest",
        apart / max(float(distances.max(initial=0.0)), TINY),
        SAME,
    )


def _shape_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the shapes of the attributes, if anything is."""
    n, k = data.X.shape[0], parameters.n_components
    if fitted.embedding_.shape != (n, k) or fitted.eigenvalues_.shape != (k,):
        return f"embedding_ and eigenvalues_ are not those of {k} dimensions of {n} rows"
    if fitted.squared_means_.shape != (n,) or fitted.dissimilarity_matrix_.shape != (n, n):
        return "squared_means_ or dissimilarity_matrix_ have not one row per training row"
    return ""
