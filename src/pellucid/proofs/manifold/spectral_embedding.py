r"""Proof of Laplacian eigenmaps: the links are those of the data, the places eigenvectors, and none was missed.

The places are :math:`D^{-1/2}v` with eigenvectors v of the normalized links M (see ``graph_links``). The trivial
one, the roots of the sums of the rows, is known without any search: it stands beside those that were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.matrices import kernel_matrix, resolved_kernel
from pellucid.proofs.manifold.classical_mds import rows_claim
from pellucid.proofs.matrices.eigenpairs import eigenpair_claims, wrong_signs
from pellucid.proofs.matrices.graph_links import halved, normalized_links, wrong_links
from pellucid.proofs.matrices.missed_eigenvalues import SymmetricMatrix, missed_claim
from pellucid.proofs.rounding import TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.training_data import TrainingData

NEIGHBORS, GIVEN, GIVEN_NEIGHBORS = "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"

RESIDUAL = 1e-10
"""Residuals accepted, of a matrix whose largest eigenvalue is 2, where ``eigen_tol`` allows no more."""

ROWS_AT_FIT, ROWS_AT_VERIFY = 16, 4000
"""Rows whose links are computed again."""


def prove_spectral_embedding(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    shape = _shape_fault(fitted, parameters, data)
    if shape:
        return Certificate("exact", (Claim("shape", shape, 1.0, 0.0),))
    rows = drawn(data.X.shape[0], ROWS_AT_FIT if is_fitting() else ROWS_AT_VERIFY)
    claims = (
        rows_claim(fitted.X_fit_, data.X),
        _links_claim(fitted.affinity_matrix_, parameters, data.X, rows),
        _meaning_claim(fitted, parameters, data.X),
        *_vector_claims(fitted, parameters),
    )
    return graded("exact", claims)


def _vector_claims(fitted: Any, parameters: Any) -> list[Claim]:
    """Return what is claimed of the eigenvectors of the stored links."""
    places = np.asarray(fitted.embedding_, dtype=np.float64)
    M, roots = normalized_links(fitted.affinity_matrix_)
    links = np.asarray(fitted.affinity_matrix_.sum(axis=1)).ravel() - fitted.affinity_matrix_.diagonal()
    trivial = np.where(links > 0.0, roots, 0.0)  # rows without links have no part in it
    trivial = trivial / max(float(np.linalg.norm(trivial)), TINY)
    if not trivial.any():
        left = float(np.max(np.abs(places), initial=0.0)) + float(np.max(fitted.eigenvalues_, initial=0.0))
        return [Claim("no links", "largest place or eigenvalue where nothing is linked", left, 0.0)]
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
        missed_claim(matrix, values, vectors, noise=noise, wants_all=False, is_positive=is_positive),
    ]


def _links_claim(stored: Any, parameters: Any, X: Any, rows: Array) -> Claim:
    if _is_one_of(parameters.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
        seen = at_most_wrong(len(rows), X.shape[0])
        k = _neighbors(parameters, X)
        wrong = wrong_links(stored, X, rows, k, is_given=parameters.affinity == GIVEN_NEIGHBORS)
        return Claim("affinity", f"links among {len(rows):,} rows that are not with nearest rows{seen}", wrong, 0.0)
    if _is_one_of(parameters.affinity, GIVEN):
        expected = halved(X)
    elif _is_one_of(parameters.affinity, "rbf"):
        expected = kernel_matrix(resolved_kernel("rbf", gamma=_gamma(parameters, X)), X)
    else:
        expected = halved(np.asarray(dense(parameters.affinity(X)), dtype=np.float64))
    apart = abs(stored - expected).max()
    return Claim(
        "affinity",
        "largest difference of a stored affinity from that of the data, in parts of the largest",
        float(apart) / max(float(abs(expected).max()), TINY),
        1e-10 + rounding_unit(X.dtype),
    )


def _meaning_claim(fitted: Any, parameters: Any, X: Any) -> Claim:
    """Return the claim that the numbers that the parameters mean are stored."""
    wrong = 0.0
    if _is_one_of(parameters.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
        wrong += fitted.n_neighbors_ != _neighbors(parameters, X)
    if _is_one_of(parameters.affinity, "rbf"):
        wrong += fitted.gamma_ != _gamma(parameters, X)
    return Claim("meaning", "n_neighbors_ or gamma_ that are not what the parameters mean", float(wrong), 0.0)


def _is_one_of(affinity: Any, *names: str) -> bool:
    """Return whether an affinity is one of these names; a function is none."""
    return isinstance(affinity, str) and affinity in names


def _neighbors(parameters: Any, X: Any) -> int:
    """Return how many neighbors the parameter means: None is a tenth of the rows."""
    return max(X.shape[0] // 10, 1) if parameters.n_neighbors is None else int(parameters.n_neighbors)


def _gamma(parameters: Any, X: Any) -> float:
    return 1.0 / X.shape[1] if parameters.gamma is None else float(parameters.gamma)


def _shape_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the shapes of the attributes, if anything is."""
    n, k = data.X.shape[0], parameters.n_components
    if fitted.embedding_.shape != (n, k) or fitted.eigenvalues_.shape != (k,):
        return f"embedding_ and eigenvalues_ are not those of {k} dimensions of {n} rows"
    if fitted.affinity_matrix_.shape != (n, n):
        return "affinity_matrix_ has not one row per training row"
    return ""


PROVES = {"SpectralEmbedding": prove_spectral_embedding}
