r"""Links between rows, and the matrix whose largest eigenvectors tell rows apart that few links join.

.. math:: M = I + D^{-1/2}(A - \mathrm{diag}\,A)D^{-1/2}, \qquad L = 2I - M

:math:`A` are the affinities, :math:`D` the sums of its rows without the diagonal, :math:`L` the normalized Laplacian.
The smallest eigenvalues of :math:`L`, none of them below 0, are the largest of :math:`M`, none of them above 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pellucid.core.input_rules import unit_for
from pellucid.core.types import Array, SparseOrDense
from pellucid.solvers.kd_tree import KDTree, Nearest
from pellucid.solvers.pairwise_blocks import nearest_by_table, nearest_euclidean, nearest_sparse_euclidean

UNLINKED = 1e-200
"""Part of the largest sum of links that counts as none: the squares of what is divided by its root would overflow."""


def asymmetry(affinity: Any) -> float:
    """Return the largest difference of two affinities of the same rows, in parts of the largest affinity."""
    apart, size = abs(affinity - affinity.T).max(), abs(affinity).max()
    return float(apart) / float(size) if apart > 0.0 else 0.0


def symmetric_links(affinity: Any) -> Any:
    """Return given affinities, the mean of both orders where these differ."""
    if asymmetry(affinity) == 0.0:
        return affinity
    mean = (affinity + affinity.T) / 2.0
    if sparse.issparse(mean):
        mean = mean.tocsr()
        mean.sum_duplicates()  # and puts the columns of each row in order
    return mean


def without_diagonal(affinity: Any) -> Any:
    """Return a copy of the affinities, float64, with 0 for each row and itself."""
    if sparse.issparse(affinity):
        links = affinity.tocoo()
        apart = links.row != links.col
        rows, columns = links.row[apart], links.col[apart]
        return sparse.csr_array((links.data[apart].astype(np.float64), (rows, columns)), shape=links.shape)
    links = np.array(affinity, dtype=np.float64)
    np.fill_diagonal(links, 0.0)
    return links


def normalized(affinity: Any) -> tuple[Any, Array]:
    """Return :math:`M` and the roots of the sums of the rows, 1 for a row without links; refuse sums below 0."""
    links = without_diagonal(affinity)
    degrees = np.asarray(links.sum(axis=1)).ravel()
    if not np.all(degrees >= 0.0):
        worst = int(np.argmin(degrees))
        raise ValueError(
            f"affinity must link every row by a sum of at least 0, got {degrees[worst]:g} for row {worst}. "
            "Use an affinity without negative values, such as 'rbf'."
        )
    roots = np.where(degrees > UNLINKED * degrees.max(initial=0.0), np.sqrt(degrees), 1.0)
    if sparse.issparse(links):
        scale = sparse.diags_array(1.0 / roots)
        return (scale @ links @ scale + sparse.eye_array(len(roots))).tocsr(), roots
    links /= roots
    links /= roots[:, None]
    links.flat[:: len(roots) + 1] = 1.0
    return links, roots


def is_connected(affinity: Any) -> bool:
    """Return whether a way over links leads from every row to every other."""
    if sparse.issparse(affinity):
        return bool(connected_components(affinity, directed=False, return_labels=False) == 1)
    seen = np.zeros(len(affinity), bool)
    seen[0] = True
    newest = np.array([0])
    while len(newest):
        reached = (affinity[newest] != 0.0).any(axis=0) & ~seen
        seen |= reached
        newest = np.flatnonzero(reached)
    return bool(seen.all())


MOST_FOR_A_TREE, LEAF = 8, 30
"""Columns up to which nearest rows are found by a tree, and rows in its leaves."""


def neighbor_links(X: SparseOrDense, k: int, *, is_given: bool) -> Any:
    """Return half of who has the other among its k nearest rows, itself one of them; ``is_given``: X are distances."""
    linked = (_given_neighbors if is_given else _neighbors)(X, k)
    links = (0.5 * (linked + linked.T)).tocsr()
    links.sum_duplicates()  # and puts the columns of each row in order
    return links


def _neighbors(X: SparseOrDense, k: int) -> Any:
    """Return who is among the k nearest rows of each, itself one of them; of equally near ones the first counts."""
    n = X.shape[0]
    if k > n:
        raise ValueError(f"n_neighbors must be at most the number of rows, got {k} for {n} rows.")
    found = Nearest.none_yet(n, k)
    if sparse.issparse(X):
        nearest_sparse_euclidean(X, X, found)
    else:
        unit = unit_for(float(np.abs(X).max(initial=0.0)))  # squares then stay finite
        if X.shape[1] <= MOST_FOR_A_TREE:
            found = KDTree.of(X * unit, LEAF).query(X * unit, k)[0]
        else:
            nearest_euclidean(X * unit, X * unit, found)
    return _graph(found.indices, n)


def _given_neighbors(distances: Any, k: int) -> Any:
    """Return the same from given distances; of a sparse matrix those that it stores count."""
    n = distances.shape[0]
    if not sparse.issparse(distances):
        found = Nearest.none_yet(n, min(k, n))
        nearest_by_table(lambda part: distances[part], n, found)
        return _graph(found.indices, n)
    stored = np.diff(distances.indptr)
    if stored.min() < k:
        raise ValueError(
            f"n_neighbors must be at most the number of stored distances of each row, got {k} where a row has "
            f"{stored.min()}: {k} neighbors are required for some samples. Store more distances or ask for fewer."
        )
    rows = np.repeat(np.arange(n), stored)
    order = np.lexsort((distances.indices, distances.data, rows))
    first = order[(distances.indptr[:-1, None] + np.arange(k)).ravel()]
    return _graph(distances.indices[first].reshape(n, k), n)


def _graph(neighbors: Array, n: int) -> Any:
    k = neighbors.shape[1]
    return sparse.csr_array((np.ones(neighbors.size), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


TILE = 256
"""Rows and columns of a matrix that are compared with their mirror image in one go."""
ASYMMETRY = 1e-10
"""Relative difference between the two sides of a distance matrix that counts as rounding."""
