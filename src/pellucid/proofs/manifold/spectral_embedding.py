r"""Proof of Laplacian eigenmaps: the links are those of the data, the places eigenvectors, and none was missed.

The places are :math:`D^{-1/2}v` with eigenvectors v of the normalized links M (see ``graph_links``). The trivial
one, the roots of the sums of the rows, is known without any search: it stands beside those that were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.proofs.arrays import SparseOrDense, dense, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.matrices import kernel_matrix, resolved_kernel
from pellucid.proofs.kernels.ridge_equations import rows_claim
from pellucid.proofs.matrices.graph_links import (
    affinity_claim,
    halved,
    link_vector_claims,
    neighbors_claim,
    normalized_links,
)
from pellucid.proofs.rounding import TINY, rounding_unit
from pellucid.proofs.sampling import drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

NEIGHBORS, GIVEN, GIVEN_NEIGHBORS = "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"

ROWS_AT_FIT, ROWS_AT_VERIFY = 16, 4000
"""Rows whose links are computed again."""


def prove_spectral_embedding(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n, k = data.X.shape[0], parameters.n_components
    if wrong := misshapen("exact", fitted, embedding_=(n, k), eigenvalues_=(k,), affinity_matrix_=(n, n)):
        return wrong
    claims = (
        rows_claim(fitted.X_fit_, data.X),
        _links_claim(fitted.affinity_matrix_, parameters, data.X),
        _meaning_claim(fitted, parameters, data.X),
        *_vector_claims(fitted, parameters),
    )
    return graded("exact", claims)


def _vector_claims(fitted: Seen, parameters: Seen) -> list[Claim]:
    """Return what is claimed of the eigenvectors of the stored links."""
    places = np.asarray(fitted.embedding_, dtype=np.float64)
    M, roots = normalized_links(fitted.affinity_matrix_)
    links = np.asarray(fitted.affinity_matrix_.sum(axis=1)).ravel() - fitted.affinity_matrix_.diagonal()
    trivial = np.where(links > 0.0, roots, 0.0)  # rows without links have no part in it
    trivial = trivial / max(float(np.linalg.norm(trivial)), TINY)
    if not trivial.any():
        left = largest(places) + float(np.max(fitted.eigenvalues_, initial=0.0))
        return [Claim("no links", "largest place or eigenvalue where nothing is linked", left, 0.0)]
    stored = fitted.embedding_.dtype
    rounding = 0.0 if stored == np.float64 else rounding_unit(stored)
    vectors = np.column_stack([trivial, places * roots[:, None]])
    values = np.concatenate([[2.0], 2.0 - fitted.eigenvalues_])
    return link_vector_claims(M, values, vectors, places, parameters.eigen_tol, rounding)


def _links_claim(stored: Any, parameters: Seen, X: SparseOrDense) -> Claim:
    some = drawn(X.shape[0], ROWS_AT_FIT if is_fitting() else ROWS_AT_VERIFY)
    if _is_one_of(parameters.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
        is_given = parameters.affinity == GIVEN_NEIGHBORS
        return neighbors_claim(stored, X, some, _neighbors(parameters, X), is_given=is_given)
    rows = some if is_fitting() else np.arange(X.shape[0])
    if _is_one_of(parameters.affinity, GIVEN):
        expected = halved(X)[rows]
    elif _is_one_of(parameters.affinity, "rbf"):
        expected = kernel_matrix(resolved_kernel("rbf", gamma=_gamma(parameters, X)), X[rows], X)
    else:
        expected = halved(np.asarray(dense(parameters.affinity(X)), dtype=np.float64))[rows]
    return affinity_claim(stored, expected, rows, 1e-10 + rounding_unit(X.dtype))


def _meaning_claim(fitted: Seen, parameters: Seen, X: SparseOrDense) -> Claim:
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


def _neighbors(parameters: Seen, X: SparseOrDense) -> int:
    """Return how many neighbors the parameter means: None is a tenth of the rows."""
    return max(X.shape[0] // 10, 1) if parameters.n_neighbors is None else int(parameters.n_neighbors)


def _gamma(parameters: Seen, X: SparseOrDense) -> float:
    return 1.0 / X.shape[1] if parameters.gamma is None else float(parameters.gamma)


PROVES = {"SpectralEmbedding": prove_spectral_embedding}
