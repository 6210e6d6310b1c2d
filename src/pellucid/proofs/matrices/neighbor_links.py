"""Links with nearest rows, recomputed from all distances: which must be there, and which may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import EPSILON


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
