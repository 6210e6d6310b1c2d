r"""Proof of Laplacian eigenmaps: the links are those of the data, the places eigenvectors, and none was missed.

The places are :math:`D^{-1/2}v` with eigenvectors v of the normalized links M (see ``numerics.laplacian``). The trivial
one, the roots of the sums of the rows, is known without any search: it stands beside those that were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.manifold.spectral.links import (
    GIVEN,
    GIVEN_NEIGHBORS,
    NEIGHBORS,
    gamma_meant,
    is_one_of,
    kernel_links,
    neighbors_meant,
    trivial_vector,
)
from pellucid.numerics.laplacian import normalized, symmetric_links
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.manifold.classical_mds import rows_claim
from pellucid.proofs.matrices.eigenpairs import eigenpair_claims, wrong_signs
from pellucid.proofs.matrices.graph_links import wrong_links
from pellucid.proofs.matrices.missed_eigenvalues import SymmetricMatrix, missed_claim
from pellucid.proofs.rounding import rounding_unit, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded
from pellucid.proofs.training_data import TrainingData

RESIDUAL = 1e-10
"""Residuals accepted, of a matrix whose largest eigenvalue is 2, where ``eigen_tol`` allows no more."""

ROWS_AT_FIT, ROWS_AT_VERIFY = 16, 4000
"""Rows whose links are computed again."""


def prove_spectral_embedding(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    shape = _shape_fault(fitted, parameters, data)
    if shape:
        return Certificate("exact", (Claim("shape", shape, 1.0, 0.0),))
    return spectral_embedding_claims(fitted, parameters, data, is_fit=False)


def spectral_embedding_claims(fitted: Any, parameters: Any, data: TrainingData, *, is_fit: bool) -> Certificate:
    """Return what is claimed; at a fit some rows of the links are looked at."""
    rows = drawn(data.X.shape[0], ROWS_AT_FIT if is_fit else ROWS_AT_VERIFY)
    claims = (
        rows_claim(fitted.X_fit_, data.X),
        _links_claim(fitted.affinity_matrix_, parameters, data.X, rows),
        _meaning_claim(fitted, parameters, data.X),
        *_vector_claims(fitted, parameters, is_fit=is_fit),
    )
    return graded("exact", claims)


def _vector_claims(fitted: Any, parameters: Any, *, is_fit: bool) -> list[Claim]:
    """Return what is claimed of the eigenvectors of the stored links."""
    places = np.asarray(fitted.embedding_, dtype=np.float64)
    trivial = trivial_vector(fitted.affinity_matrix_)
    if not trivial.any():
        left = float(np.max(np.abs(places), initial=0.0)) + float(np.max(fitted.eigenvalues_, initial=0.0))
        return [Claim("no links", "largest place or eigenvalue where nothing is linked", left, 0.0)]
    M, roots = normalized(fitted.affinity_matrix_)
    stored = fitted.embedding_.dtype
    rounding = 0.0 if stored == np.float64 else rounding_unit(stored)
    tol = 0.0 if isinstance(parameters.eigen_tol, str) else float(parameters.eigen_tol)
    noise = max(RESIDUAL, 8 * sum_error(len(roots)), 4 * tol) + 4 * rounding
    vectors = np.column_stack([trivial, places * roots[:, None]])
    values = np.concatenate([[2.0], 2.0 - fitted.eigenvalues_])
    matrix = SymmetricMatrix(M)
    disorder = int(np.sum(~(np.diff(values) <= noise))) + wrong_signs(places, max(1e-9, 8 * rounding))
    is_positive = bool(np.all((M.data if sparse.issparse(M) else M) >= 0.0))
    return [
        *eigenpair_claims(matrix, values, vectors, level=2.0, noise=noise, remedy="Lower eigen_tol."),
        Claim("order", "eigenvalues out of order, and vectors of the other sign", float(disorder), 0.0),
        missed_claim(matrix, values, vectors, noise=noise, wants_all=False, is_positive=is_positive, is_fit=is_fit),
    ]


def _links_claim(stored: Any, parameters: Any, X: Any, rows: Array) -> Claim:
    if is_one_of(parameters.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
        seen = at_most_wrong(len(rows), X.shape[0])
        k = neighbors_meant(parameters.n_neighbors, X.shape[0])
        wrong = wrong_links(stored, X, rows, k, is_given=parameters.affinity == GIVEN_NEIGHBORS)
        return Claim("affinity", f"links among {len(rows):,} rows that are not with nearest rows{seen}", wrong, 0.0)
    expected = symmetric_links(X) if is_one_of(parameters.affinity, GIVEN) else kernel_links(parameters, X)
    if not is_one_of(parameters.affinity, GIVEN):
        expected = symmetric_links(expected)
    apart = abs(stored - expected).max()
    return Claim(
        "affinity",
        "largest difference of a stored affinity from that of the data, in parts of the largest",
        float(apart) / max(float(abs(expected).max()), np.finfo(float).tiny),
        1e-10 + rounding_unit(X.dtype),
    )


def _meaning_claim(fitted: Any, parameters: Any, X: Any) -> Claim:
    """Return the claim that the numbers that the parameters mean are stored."""
    wrong = 0.0
    if is_one_of(parameters.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
        wrong += fitted.n_neighbors_ != neighbors_meant(parameters.n_neighbors, X.shape[0])
    if is_one_of(parameters.affinity, "rbf"):
        wrong += fitted.gamma_ != gamma_meant(parameters.gamma, X.shape[1])
    return Claim("meaning", "n_neighbors_ or gamma_ that are not what the parameters mean", float(wrong), 0.0)


def _shape_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the shapes of the attributes, if anything is."""
    n, k = data.X.shape[0], parameters.n_components
    if fitted.embedding_.shape != (n, k) or fitted.eigenvalues_.shape != (k,):
        return f"embedding_ and eigenvalues_ are not those of {k} dimensions of {n} rows"
    if fitted.affinity_matrix_.shape != (n, n):
        return "affinity_matrix_ has not one row per training row"
    return ""
