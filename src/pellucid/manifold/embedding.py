"""Embedding: what all maps of rows into few dimensions share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.types import Array, Data
from pellucid.manifold.embedding_quality import EmbeddingQuality, embedding_quality


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
