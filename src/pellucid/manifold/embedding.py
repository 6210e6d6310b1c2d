"""Embedding: what all maps of rows into few dimensions share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.types import Array, Data
from pellucid.manifold.map_quality import EmbeddingQuality, embedding_quality


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


def known_places(X_fit: Any, X: Any) -> tuple[Array, Array]:
    """Return which of the new rows are training rows, and which ones; of equal training rows the first counts."""
    first: dict[bytes, int] = {}
    for i, key in enumerate(_row_keys(X_fit)):
        first.setdefault(key, i)
    found = [(i, first[key]) for i, key in enumerate(_row_keys(X)) if key in first]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _row_keys(X: Any) -> Iterator[bytes]:
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
