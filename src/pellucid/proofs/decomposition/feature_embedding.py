r"""Proof of a feature embedding: eigenvectors of the similarities, in order, and no larger one missed.

The share of eigenvalues below 0, by size, says how far the similarities are from being products of any vectors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.ridge_equations import rows_that_differ
from pellucid.proofs.matrices.eigenpairs import eigenpair_claims, wrong_signs
from pellucid.proofs.matrices.missed_eigenvalues import ProductsOfRows, SymmetricMatrix, missed_claim
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import graded, is_fitting
from pellucid.proofs.training_data import TrainingData

GIVEN = "precomputed"
RESIDUAL = 1e-11
ALL_VALUES = 1000
"""Rows up to which the share of negative eigenvalues is claimed: it takes all of them."""


def prove_feature_embedding(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with the similarities computed again."""
    n, k = data.X.shape[0], parameters.n_components
    if fitted.embedding_.shape != (n, k) or fitted.eigenvalues_.shape != (k,):
        shape = f"embedding_ and eigenvalues_ are not those of {k} dimensions of {n} rows"
        return Certificate("exact", (Claim("shape", shape, 1.0, 0.0),))
    is_given = parameters.similarity == GIVEN
    similarities: Any = (
        SymmetricMatrix(data.X.astype(np.float64)) if is_given else _cosines(data.X, parameters.similarity)
    )
    proof = _embedding_claims(fitted, parameters, data, similarities)
    if not is_given or n > ALL_VALUES or is_fitting():
        return proof
    values = np.linalg.eigvalsh(similarities.matrix)
    share = float(-values[values < 0.0].sum()) / max(float(np.abs(values).sum()), TINY)
    told = f"{share:.3g} of the eigenvalues, by size, are below 0: that part of the similarities fits no vectors."
    return replace(proof, reason=told if share > sum_error(n) else "")


def _cosines(X: Array, similarity: str) -> ProductsOfRows:
    """Return the cosines of rows, about their own mean for correlations; 0 for flat rows."""
    rows = np.asarray(X, dtype=np.float64)
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), TINY)
    if similarity == "correlation":
        rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1)
    is_flat = lengths <= 1e-13 * np.sqrt(X.shape[1])
    return ProductsOfRows(np.where(is_flat[:, None], 0.0, rows / np.where(is_flat, 1.0, lengths)[:, None]))


def _embedding_claims(fitted: Any, parameters: Any, data: TrainingData, matrix: Any) -> Certificate:
    """Return what is claimed of the vectors, given the similarities."""
    rows = []
    if parameters.similarity != GIVEN:
        wrong = rows_that_differ(fitted.X_fit_, data.X)
        rows = [Claim("training rows", "rows of X_fit_ that are not those of the data", wrong, 0.0)]
    values = fitted.eigenvalues_
    has_extent = values > 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = fitted.embedding_[:, has_extent] / np.sqrt(values[has_extent])
    level = max(float(values.max(initial=0.0)), matrix.least_norm)
    noise = max(RESIDUAL, 8 * sum_error(len(vectors)))
    disorder = int(np.sum(~(np.diff(values) <= 0.0))) + wrong_signs(vectors)
    disorder += int(np.any(fitted.embedding_[:, ~has_extent] != 0.0))
    return graded(
        "exact",
        (
            *rows,
            *eigenpair_claims(matrix, values[has_extent], vectors, level=level, noise=noise),
            Claim("order", "eigenvalues out of order, and vectors of the other sign", float(disorder), 0.0),
            missed_claim(
                matrix,
                values[has_extent],
                vectors,
                noise=noise,
                wants_all=not has_extent.all(),
                is_positive=parameters.similarity != GIVEN,
            ),
        ),
    )


PROVES = {"FeatureEmbedding": prove_feature_embedding}
