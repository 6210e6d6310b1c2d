"""Spectral clustering: the links of the rows, and clusters from the embedding by a rotation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.kernels.choice import kernel_from
from pellucid.kernels.functions import check_products, check_symmetric
from pellucid.kernels.kernel import Kernel
from pellucid.solvers.laplacian import neighbor_links, symmetric_links


def links_of(parameters: Any, X: SparseOrDense) -> Any:
    """Return the affinities of all rows, dense, or sparse for links with nearest rows and for given sparse ones."""
    if uses_neighbors(parameters.affinity):
        return neighbor_links(X, parameters.n_neighbors, is_given=parameters.affinity == GIVEN_NEIGHBORS)
    if isinstance(parameters.affinity, str) and parameters.affinity == GIVEN:
        return symmetric_links(X)
    links = affinity_kernel(parameters)(X)
    check_products(links)
    return check_symmetric(links)


NEIGHBORS, GIVEN, GIVEN_NEIGHBORS = "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"


def is_pairwise(affinity: Any) -> bool:
    """Return whether ``X`` holds affinities or distances of the rows instead of rows."""
    return isinstance(affinity, str) and affinity in (GIVEN, GIVEN_NEIGHBORS)


def uses_neighbors(affinity: Any) -> bool:
    """Return whether rows are linked with their nearest rows."""
    return isinstance(affinity, str) and affinity in (NEIGHBORS, GIVEN_NEIGHBORS)


def affinity_kernel(parameters: Any) -> Kernel:
    """Return the kernel that the parameters mean."""
    return kernel_from(
        parameters.affinity,
        gamma=parameters.gamma,
        degree=parameters.degree,
        coef0=parameters.coef0,
        params=parameters.kernel_params,
    )


# Clusters from an embedding by a rotation: the axis nearest to each row is its cluster.
#
# ``discretize`` (Yu and Shi, 2003) goes back and forth between labels and a rotation until neither changes: labels are
# the largest coordinates of the rotated rows, the rotation is the one that brings the rows nearest to the axes of their
# labels. ``cluster_qr`` (Damle, Minden and Ying, 2019) rotates once: the rows that stand out most, one after the other,
# become the axes as nearly as a rotation can make them.


NEARLY = 1e-9
"""Lengths of rows that differ by this part are equal: the first row counts."""


MOST_ROUNDS = 300
"""Rounds of labels and rotations; a dozen is usual."""


def discretize(
    vectors: Data, *, max_svd_restarts: int = 30, n_iter_max: int = MOST_ROUNDS, random_state: RandomState = None
) -> Array:
    """Return the labels of the rows of an embedding, of shape (n_samples, n_clusters).

    The first axes are a random row, and rows as far from it and from each other as can be.
    """
    rows, rng = unit_rows(np.asarray(vectors, dtype=np.float64)), check_random_state(random_state)
    for _ in range(max_svd_restarts):
        try:
            return _alternated(rows, int(rng.randint(len(rows))), n_iter_max)
        except LinAlgError:
            continue
    raise LinAlgError(f"SVD did not converge from any of {max_svd_restarts} starts.")


def unit_rows(vectors: Array) -> Array:
    """Return the rows of an embedding with columns of one length, each row of length 1; rows of zeros stay."""
    columns = vectors / np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(float).tiny)
    length = np.linalg.norm(columns, axis=1)[:, None]
    return np.asarray(columns / np.where(length > 0.0, length, 1.0))


def _alternated(rows: Array, first: int, most: int) -> Array:
    n, k = rows.shape
    rotation, met = np.zeros((k, k)), np.zeros(n)
    rotation[:, 0] = rows[first]
    for j in range(1, k):
        met += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[met.argmin()]
    labels = (rows @ rotation).argmax(axis=1)
    for _ in range(most + 1):
        members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))
        U, _, V = np.linalg.svd(members @ rows)
        before, labels = labels, (rows @ (V.T @ U.T)).argmax(axis=1)
        if np.array_equal(before, labels):
            break
    return labels


def cluster_qr(vectors: Data) -> Array:
    """Return the labels of the rows of an embedding, of shape (n_samples, n_clusters)."""
    rows = np.asarray(vectors, dtype=np.float64)
    U, _, V = np.linalg.svd(rows[outstanding_rows(rows)].T)
    return np.abs(rows @ (U @ V)).argmax(axis=1)


def outstanding_rows(rows: Array) -> Array:
    """Return as many rows as there are columns: each the longest when the directions of those before are taken away."""
    left, chosen = rows.copy(), []
    for _ in range(min(rows.shape)):
        length = np.einsum("ij,ij->i", left, left)
        row = int(np.argmax(length >= (1.0 - NEARLY) * length.max()))
        chosen.append(row)
        direction = left[row] / max(np.sqrt(length[row]), np.finfo(float).tiny)
        left -= np.outer(left @ direction, direction)
    return np.array(chosen)
