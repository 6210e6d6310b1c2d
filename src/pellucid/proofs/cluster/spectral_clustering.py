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
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.cluster.kmeans import prove_kmeans
from pellucid.proofs.kernels.matrices import ProofKernel, kernel_matrix, resolved_kernel
from pellucid.proofs.matrices.eigenpairs import eigenpair_claims, wrong_signs
from pellucid.proofs.matrices.graph_links import halved, normalized_links, wrong_links
from pellucid.proofs.matrices.missed_eigenvalues import SymmetricMatrix, missed_claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.training_data import TrainingData

GIVEN, GIVEN_NEIGHBORS = "precomputed", "precomputed_nearest_neighbors"

RESIDUAL = 1e-10
"""Residuals accepted, of a matrix whose largest eigenvalue is 2, where ``eigen_tol`` allows no more."""

KERNEL = 1e-10
"""Distance of a stored affinity from the one computed again, in parts of the largest."""

NEARLY = 1e-7
"""Coordinates of rows of length 1 that differ by less may be taken for each other."""

ROWS_AT_FIT, NEIGHBORS_AT_FIT, ROWS_AT_VERIFY = 64, 16, 4000
"""Rows whose links are computed again."""


def prove_spectral_clustering(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows."""
    shape = shape_fault(fitted, parameters, data)
    if shape:
        return Certificate("stationary", (Claim("shape", shape, 1.0, 0.0),))
    return with_label_claims(fitted, parameters, embedding_claims(fitted, parameters, data))


def embedding_claims(fitted: Any, parameters: Any, data: TrainingData) -> list[Claim]:
    """Return what is claimed of links and embedding; at a fit only some rows of the links are looked at."""
    M, roots = normalized_links(fitted.affinity_matrix_)
    at_fit = NEIGHBORS_AT_FIT if _uses_neighbors(parameters.affinity) else ROWS_AT_FIT
    looked_at = drawn(data.X.shape[0], at_fit if is_fitting() else ROWS_AT_VERIFY)
    values, vectors = 2.0 - fitted.eigenvalues_, fitted.embedding_ * roots[:, None]
    noise = max(RESIDUAL, 8 * sum_error(len(vectors)), 4 * _tolerance(parameters))
    is_positive = bool(np.all((M.data if sparse.issparse(M) else M) >= 0.0))
    matrix = SymmetricMatrix(M)
    return [
        _links_claim(fitted.affinity_matrix_, parameters, data.X, looked_at),
        *_vector_claims(matrix, values, vectors, fitted.embedding_, noise),
        missed_claim(matrix, values, vectors, noise=noise, wants_all=False, is_positive=is_positive),
    ]


def with_label_claims(fitted: Any, parameters: Any, claims: list[Claim]) -> Certificate:
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


def _as_kmeans(fitted: Any) -> Any:
    return SimpleNamespace(
        cluster_centers_=fitted.embedding_centers_, labels_=fitted.labels_, inertia_=fitted.embedding_inertia_
    )


def _kmeans_parameters(parameters: Any) -> Any:
    return SimpleNamespace(n_clusters=parameters.n_clusters, tol=1e-4, init="k-means++")


def _tolerance(parameters: Any) -> float:
    return 0.0 if isinstance(parameters.eigen_tol, str) else float(parameters.eigen_tol)


def shape_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the shapes of the attributes, if anything is."""
    n = data.X.shape[0]
    k = min(n, parameters.n_components or parameters.n_clusters)
    if fitted.eigenvalues_.shape != (k,) or fitted.embedding_.shape != (n, k):
        return f"eigenvalues_ and embedding_ are not those of {k} components of {n} rows"
    if fitted.affinity_matrix_.shape != (n, n) or fitted.labels_.shape != (n,):
        return "affinity_matrix_ or labels_ have not one row per training row"
    highest = parameters.n_clusters if parameters.assign_labels == "kmeans" else k
    if fitted.labels_.dtype.kind not in "iu" or not np.all((fitted.labels_ >= 0) & (fitted.labels_ < highest)):
        return "labels_ are not numbers of clusters"
    return ""


def _uses_neighbors(affinity: Any) -> bool:
    return isinstance(affinity, str) and affinity in ("nearest_neighbors", GIVEN_NEIGHBORS)


def _links_claim(stored: Any, parameters: Any, X: Any, rows: Array) -> Claim:
    seen = at_most_wrong(len(rows), X.shape[0])
    if _uses_neighbors(parameters.affinity):
        statement = f"links among {len(rows):,} rows that are not those with their nearest rows{seen}"
        is_given = parameters.affinity == GIVEN_NEIGHBORS
        wrong = wrong_links(stored, X, rows, parameters.n_neighbors, is_given=is_given)
        return Claim("affinity", statement, wrong, 0.0)
    if isinstance(parameters.affinity, str) and parameters.affinity == GIVEN:
        expected = halved(X)[rows]
    else:
        expected = kernel_matrix(_kernel(parameters, X), X[rows], X)
    apart = abs(stored[rows] - expected)
    size = max(float(abs(expected).max()), np.finfo(float).tiny)
    return Claim(
        "affinity",
        f"largest distance of a stored affinity of {len(rows):,} rows from that of the data, in parts of the largest"
        + seen,
        float(apart.max()) / size,
        KERNEL,
    )


def _kernel(parameters: Any, X: Any) -> ProofKernel:
    options = {name: getattr(parameters, name) for name in ("gamma", "degree", "coef0")}
    return resolved_kernel(parameters.affinity, **options, X=X, params=parameters.kernel_params)


def _vector_claims(
    matrix: SymmetricMatrix, values: Array, vectors: Array, embedding: Array, noise: float
) -> list[Claim]:
    disorder = int(np.sum(~(np.diff(values) <= noise))) + wrong_signs(embedding)
    return [
        *eigenpair_claims(matrix, values, vectors, level=2.0, noise=noise, remedy="Lower eigen_tol."),
        Claim("order", "eigenvalues out of order, and vectors of the other sign", float(disorder), 0.0),
    ]


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
