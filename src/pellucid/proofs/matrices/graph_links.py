r"""Links between rows: those with nearest rows, recomputed from all distances, and the matrix that embeds a graph.

.. math:: M_{ij} = A_{ij} / \sqrt{d_i d_j}, \qquad M_{ii} = 1, \qquad d_i = \sum_{j \ne i} A_{ij}

Its largest eigenvalues, none of them above 2, are 2 less the smallest of the normalized Laplacian of the affinities A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import EPSILON

UNLINKED = 1e-200
"""Part of the largest sum of links that counts as none: the squares of what is divided by its root would overflow."""


def normalized_links(affinity: Any) -> tuple[Any, Array]:
    """Return :math:`M`, sparse if the affinities are, and the roots of the sums of links, 1 for a row without links."""
    n = affinity.shape[0]
    if sparse.issparse(affinity):
        links = affinity.tocoo()
        apart = links.row != links.col
        rows, columns, values = links.row[apart], links.col[apart], links.data[apart].astype(np.float64)
        roots = _roots(np.bincount(rows, weights=values, minlength=n))
        parts = sparse.coo_array((values / roots[rows] / roots[columns], (rows, columns)), shape=(n, n))
        return (parts + sparse.eye_array(n)).tocsr(), roots
    values = np.array(affinity, dtype=np.float64)
    np.fill_diagonal(values, 0.0)
    roots = _roots(values.sum(axis=1))
    values /= roots[:, None]
    values /= roots
    np.fill_diagonal(values, 1.0)
    return values, roots


def _roots(degrees: Array) -> Array:
    """Return the roots of sums of links; NaN below 0, which no claim survives."""
    return np.where(np.abs(degrees) > UNLINKED * degrees.max(initial=0.0), np.sqrt(degrees), 1.0)


def halved(affinity: Any) -> Any:
    """Return given affinities, of two orders of the same rows the mean."""
    both = (affinity + affinity.T) / 2.0
    return both.tocsr() if sparse.issparse(both) else both


def wrong_links(stored: Any, X: Any, rows: Array, k: int, *, is_given: bool) -> float:
    """Return how many entries of some rows of the links are not half of who has the other among its nearest rows.

    Of rows at distances that rounding cannot tell apart, either may be among the nearest. Whether a row is among the
    nearest of another needs all distances of that one: where only some rows are looked at, links among them count.
    """
    links = sparse.csr_array(stored)[rows][:, rows].toarray()
    surely, perhaps = (np.zeros(links.shape) for _ in range(2))
    for i, row in enumerate(rows):
        distances = _distances_of(row, X, is_given=is_given)
        radius = np.sort(distances)[min(k, len(distances)) - 1]
        slack = 8 * EPSILON * (X.shape[1] + 4)
        surely[i] = distances[rows] < radius * (1.0 - slack)
        perhaps[i] = np.isfinite(distances[rows]) & (distances[rows] <= radius * (1.0 + slack))
    low, high = (surely + surely.T) / 2.0, (perhaps + perhaps.T) / 2.0
    is_half = np.isin(links, (0.0, 0.5, 1.0))
    return float(np.sum(~((links >= low) & (links <= high) & is_half)))


def _distances_of(row: int, X: Any, *, is_given: bool) -> Array:
    """Return the distances of one row to all: squared, or as they are given; infinite where none is stored."""
    if is_given:
        if not sparse.issparse(X):
            return np.asarray(X[row], dtype=np.float64)
        found = np.full(X.shape[1], np.inf)
        part = slice(X.indptr[row], X.indptr[row + 1])
        found[X.indices[part]] = X.data[part]
        return found
    if sparse.issparse(X):
        one = np.asarray(X[[row]].toarray(), dtype=np.float64)
        return np.concatenate(
            [np.square(X[start : start + 512].toarray() - one).sum(axis=1) for start in range(0, X.shape[0], 512)]
        )
    apart = X - X[row]  # before any scaling: an offset of the rows then costs no digits
    size = max(float(np.abs(apart).max()), 1e-300)
    return np.asarray(np.square(apart / size).sum(axis=1))
