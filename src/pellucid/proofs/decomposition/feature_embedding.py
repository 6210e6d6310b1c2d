r"""Proof of a feature embedding: eigenvectors of the similarities, in order, and no larger one missed.

The share of eigenvalues below 0, by size, says how far the similarities are from being products of any vectors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.kernels.ridge_equations import rows_claim
from pellucid.proofs.matrices.eigenpairs import ProductsOfRows, SymmetricMatrix, coordinate_claims
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

GIVEN = "precomputed"
ALL_VALUES = 1000
"""Rows up to which the share of negative eigenvalues is claimed: it takes all of them."""


def prove_feature_embedding(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with the similarities computed again."""
    n, k, is_given = data.X.shape[0], parameters.n_components, parameters.similarity == GIVEN
    if wrong := misshapen("exact", fitted, embedding_=(n, k), eigenvalues_=(k,)):
        return wrong
    similarities: Any = _cosines(data.X, parameters.similarity)
    if is_given:
        similarities = SymmetricMatrix(np.asarray(data.X, dtype=np.float64))
    rows = [] if is_given else [rows_claim(fitted.X_fit_, data.X)]
    proof = graded("exact", (*rows, *coordinate_claims(similarities, fitted, is_positive=not is_given)))
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


PROVES = {"FeatureEmbedding": prove_feature_embedding}
