r"""Proof of a spectral clustering: links, eigenvectors, that none was missed, and the clusters in the embedding.

The embedding is :math:`D^{-1/2}v` with eigenvectors v of the normalized links M (see ``graph_links``), whose residuals
:math:`\|Mv - (2 - \lambda)v\|` put an eigenvalue within that distance of each (Weyl). The labels are proved as they
were found: k-means by its own claims, with the rows of the embedding as data; a rotation by one more round; the rows
that stand out by choosing them again.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.cluster.kmeans import prove_kmeans
from pellucid.proofs.kernels.matrices import kernel_matrix, resolved_kernel
from pellucid.proofs.matrices.graph_links import (
    affinity_claim,
    halved,
    link_vector_claims,
    neighbors_claim,
    normalized_links,
)
from pellucid.proofs.sampling import drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

GIVEN, GIVEN_NEIGHBORS = "precomputed", "precomputed_nearest_neighbors"

KERNEL = 1e-10
"""Distance of a stored affinity from the one computed again, in parts of the largest."""

NEARLY = 1e-7
"""Coordinates of rows of length 1 that differ by less may be taken for each other."""

ROWS_AT_FIT, NEIGHBORS_AT_FIT, ROWS_AT_VERIFY = 64, 16, 4000
"""Rows whose links are computed again."""


def prove_spectral_clustering(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows."""
    n, labels = data.X.shape[0], fitted.labels_
    k = min(n, parameters.n_components or parameters.n_clusters)
    highest = parameters.n_clusters if parameters.assign_labels == "kmeans" else k
    also = {"labels_": labels.dtype.kind in "iu" and np.all((labels >= 0) & (labels < highest))}
    shapes = {"eigenvalues_": (k,), "embedding_": (n, k), "affinity_matrix_": (n, n), "labels_": (n,)}
    wrong = misshapen("stationary", fitted, also, **shapes)
    return wrong or with_label_claims(fitted, parameters, embedding_claims(fitted, parameters, data))


def embedding_claims(fitted: Seen, parameters: Seen, data: TrainingData) -> list[Claim]:
    """Return what is claimed of links and embedding; at a fit only some rows of the links are looked at."""
    M, roots = normalized_links(fitted.affinity_matrix_)
    values, vectors = 2.0 - fitted.eigenvalues_, fitted.embedding_ * roots[:, None]
    return [
        _links_claim(fitted.affinity_matrix_, parameters, data.X),
        *link_vector_claims(M, values, vectors, fitted.embedding_, parameters.eigen_tol),
    ]


def with_label_claims(fitted: Seen, parameters: Seen, claims: list[Claim]) -> Certificate:
    """Return the certificate of embedding and labels; its grade is that of the labels."""
    if parameters.assign_labels == "kmeans":
        rows = TrainingData(fitted.embedding_, given=(fitted.embedding_, None, None))
        found = prove_kmeans(_as_kmeans(fitted), _kmeans_parameters(parameters), rows)
        return graded(found.grade, (*claims, *found.claims), found.reason)
    if parameters.assign_labels == "discretize":
        moved = _rows_that_move(fitted.embedding_, fitted.labels_)
        claim = Claim("assignment", "rows that one more round of rotation and labels would move", moved, 0.0)
        return Certificate("stationary", (*claims, claim))
    wrong = _rows_off_their_axis(fitted.embedding_, fitted.labels_)
    statement = "rows nearer to another axis, with the axes that the most outstanding rows make"
    return Certificate("replayed", (*claims, Claim("assignment", statement, wrong, 0.0)))


def _as_kmeans(fitted: Seen) -> Any:
    return SimpleNamespace(
        cluster_centers_=fitted.embedding_centers_, labels_=fitted.labels_, inertia_=fitted.embedding_inertia_
    )


def _kmeans_parameters(parameters: Seen) -> Any:
    return SimpleNamespace(n_clusters=parameters.n_clusters, tol=1e-4, init="k-means++")


def _links_claim(stored: Any, parameters: Seen, X: SparseOrDense) -> Claim:
    affinity = parameters.affinity if isinstance(parameters.affinity, str) else ""
    if affinity in ("nearest_neighbors", GIVEN_NEIGHBORS):
        rows = drawn(X.shape[0], NEIGHBORS_AT_FIT if is_fitting() else ROWS_AT_VERIFY)
        return neighbors_claim(stored, X, rows, parameters.n_neighbors, is_given=affinity == GIVEN_NEIGHBORS)
    rows = drawn(X.shape[0], ROWS_AT_FIT if is_fitting() else ROWS_AT_VERIFY)
    if affinity == GIVEN:
        return affinity_claim(stored, halved(X)[rows], rows, KERNEL)
    options = {name: getattr(parameters, name) for name in ("gamma", "degree", "coef0")}
    kernel = resolved_kernel(parameters.affinity, **options, X=X, params=parameters.kernel_params)
    return affinity_claim(stored, kernel_matrix(kernel, X[rows], X), rows, KERNEL)


def _rows_that_move(embedding: Array, labels: Array) -> float:
    """Return how many rows another label suits better, by more than rounding, in the best rotation for these."""
    unit = embedding / np.maximum(np.sqrt(np.sum(embedding**2, axis=0)), np.finfo(float).tiny)
    length = np.sqrt(np.sum(unit**2, axis=1))[:, None]
    unit = unit / np.where(length > 0.0, length, 1.0)
    sums = np.zeros((embedding.shape[1], embedding.shape[1]))
    np.add.at(sums, labels, unit)
    if not np.isfinite(sums).all():
        return float("inf")
    left, _, right = np.linalg.svd(sums)
    return _behind(unit @ (left @ right).T, labels)


def _rows_off_their_axis(embedding: Array, labels: Array) -> float:
    """Return how many rows have a larger coordinate than that of their label, by more than rounding."""
    if not np.isfinite(embedding).all():
        return float("inf")
    k = embedding.shape[1]
    chosen, basis = [], np.zeros((0, k))
    for _ in range(k):
        left = embedding - (embedding @ basis.T) @ basis
        left -= (left @ basis.T) @ basis
        length = np.sum(left**2, axis=1)
        row = int(np.flatnonzero(length >= (1.0 - 1e-9) * length.max())[0])
        chosen.append(row)
        basis = np.vstack([basis, left[row] / max(np.sqrt(length[row]), np.finfo(float).tiny)])
    left, _, right = np.linalg.svd(embedding[chosen])
    scale = np.sqrt(np.sum(embedding**2, axis=1))[:, None]
    coordinates = np.abs(embedding @ (left @ right).T) / np.where(scale > 0.0, scale, 1.0)
    return _behind(coordinates, labels)


def _behind(coordinates: Array, labels: Array) -> float:
    own = coordinates[np.arange(len(labels)), labels]
    return float(np.sum(~(own >= coordinates.max(axis=1) - NEARLY)))


PROVES = {"SpectralClustering": prove_spectral_clustering}
