"""Embedding: what all maps share, how they are turned, and where new rows go by stress."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import svd
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.manifold.map_quality import EmbeddingQuality, embedding_quality
from pellucid.solvers.leading_eigenvectors import signed


class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    """Base of the maps: ``embedding_`` holds the places of the training rows, ``transform`` finds those of new ones."""

    embedding_: Array

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Array:
        """Fit, and return the places of the training rows, of shape (n_samples, n_components)."""
        return self.fit(X, **params).embedding_

    def quality(self, n_neighbors: int = 5, *, distances: Data = None) -> EmbeddingQuality:
        """Return trustworthiness, continuity, stress and distance correlation of the map of the training rows.

        It is compared with the distances that the map was made from, or with others of the same rows.
        """
        check_is_fitted(self)
        known = self.input_distances() if distances is None else distances
        return embedding_quality(known, self.embedding_, n_neighbors)

    @abstractmethod
    def input_distances(self) -> Array:
        """Return the distances of all training rows as they were given, of shape (n_samples, n_samples)."""

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def known_places(X_fit: Any, X: SparseOrDense) -> tuple[Array, Array]:
    """Return which of the new rows are training rows, and which ones; of equal training rows the first counts."""
    first: dict[bytes, int] = {}
    for i, key in enumerate(_row_keys(X_fit)):
        first.setdefault(key, i)
    found = [(i, first[key]) for i, key in enumerate(_row_keys(X)) if key in first]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _row_keys(X: SparseOrDense) -> Iterator[bytes]:
    if sparse.issparse(X):
        ends = X.indptr
        for i in range(X.shape[0]):
            part = slice(ends[i], ends[i + 1])
            values = X.data[part].astype(np.float64)
            kept = values != 0.0
            yield X.indices[part][kept].astype(np.int64).tobytes() + values[kept].tobytes()
    else:
        for row in np.asarray(X, dtype=np.float64) + 0.0:  # minus zero becomes zero
            yield row.tobytes()


def oriented(places: Array) -> Array:
    """Return the places about their mean, turned so that columns are at right angles and spread less and less.

    The first of the largest entries of each column is above 0.
    """
    centered = places - places.mean(axis=0)
    centered -= centered.mean(axis=0)
    left, roots, _ = svd(centered, full_matrices=False, check_finite=False)
    found = np.zeros_like(centered)
    found[:, : len(roots)] = signed(left * roots)
    return np.ascontiguousarray(found)


# Places of new rows on a map that stays as it is: each one for itself minimizes its stress with the known rows.
#
# .. math:: \min_z \sum_j w_j(\|z - z_j\| - \delta_j)^2,\qquad
# z \leftarrow \frac{\sum_j w_j(z_j + \delta_j(z - z_j)/\|z - z_j\|)}{\sum_j w_j},
#
# a step that never raises the stress. It begins at the mean of the nearest places; a row at distance 0 from a known one
# stands where that one does.


NEAREST = 5
MOST_STEPS = 1000
STILL = 1e-10
"""Movement in one step, in parts of the size of the map, that ends the search."""
BLOCK_ENTRIES = 2**20


def place_by_stress(places: Array, distances: Array, wanted: Array, weights: Array) -> Array:
    """Return the places (q, p) of rows with distances (q, n) to the rows of the known places (n, p).

    ``wanted`` are their distances on the map, with ``weights``, both (q, n). A row at distance 0 from known ones stands
    where the first of these does.
    """
    is_known = distances == 0.0
    found = places[is_known.argmax(axis=1)].astype(np.float64)
    new = np.flatnonzero(~is_known.any(axis=1))
    height = max(1, BLOCK_ENTRIES // max(1, places.size))
    for start in range(0, len(new), height):
        part = new[start : start + height]
        found[part] = _placed(places, wanted[part], weights[part])
    return found


def _placed(places: Array, wanted: Array, weights: Array) -> Array:
    near = np.argsort(wanted, axis=1, kind="stable")[:, : min(NEAREST, len(places))]
    found = places[near].mean(axis=1)
    size = max(float(np.ptp(places, axis=0).max(initial=0.0)), np.finfo(float).tiny)
    total, center = weights.sum(axis=1, keepdims=True), weights @ places
    moving = np.arange(len(found))
    for _ in range(MOST_STEPS):
        apart = found[moving, None] - places
        distance = np.sqrt(np.einsum("qnp,qnp->qn", apart, apart))
        pull = weights[moving] * wanted[moving] / np.where(distance > 0.0, distance, np.inf)
        following = (center[moving] + np.einsum("qn,qnp->qp", pull, apart)) / total[moving]
        moved = np.abs(following - found[moving]).max(axis=1, initial=0.0)
        found[moving] = following
        moving = moving[moved > STILL * size]  # most rows stand still long before the last one does
        if not len(moving):
            break
    return found
