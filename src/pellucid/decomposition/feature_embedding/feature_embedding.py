"""FeatureEmbedding: vectors for things of which only similarities are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import InputRules
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.kernels.functions import check_symmetric
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.leading_eigenvectors import dense_times, eigenpairs_at_once, leading_eigenpairs, signed

LARGE, FEW = 500, 0.1
"""Rows from which, and part of them up to which, a few eigenvectors are found without all the others."""

SMALL = 1e-12
"""Part of the largest eigenvalue below which one is 0."""


class FeatureEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    r"""Vectors whose inner products come nearest to the similarities of things that have no vectors.

    .. math:: \min_Z \|S - ZZ'\|_F:\quad S = V\Lambda V',\quad Z = V_k\Lambda_k^{1/2},\qquad
       z(s) = \Lambda_k^{-1/2}V_k's

    Nothing is centered: the similarities are taken as they are. A new thing with similarities s to the known ones gets
    :math:`z(s)`; for a known one that is its own vector.

    Parameters
    ----------
    n_components : int, default=2
        Length of the vectors, at most the number of things.
    similarity : {'precomputed', 'cosine', 'correlation'}, default='cosine'
        'precomputed' takes ``X`` for similarities; otherwise they are those of its rows.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, the first of the largest entries of each column above 0.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\Lambda_k`, falling; 0 for a dimension that the similarities have no use for, whose column is 0.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows; not there if similarities were given.
    certificate_, trace_ : Certificate, Trace
        Residuals of the eigenvectors, that none was missed, the share of eigenvalues below 0; sum of eigenvalues.

    Examples
    --------
    Two words that are used alike, and one that is not:

    >>> model = FeatureEmbedding(2, similarity="precomputed").fit([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    >>> model.eigenvalues_, (model.embedding_ @ model.embedding_.T).round(3) + 0.0
    (array([1.5, 1. ]), array([[0.75, 0.75, 0.  ],
           [0.75, 0.75, 0.  ],
           [0.  , 0.  , 1.  ]]))
    """

    embedding_: Array
    eigenvalues_: Array
    X_fit_: Array

    def __init__(self, n_components: int = 2, *, similarity: str = "cosine") -> None:
        self.n_components = n_components
        self.similarity = similarity

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to similarities (n_samples, n_samples), or to ``X`` of shape (n_samples, n_features)."""
        data = self._check(X)
        n, k = data.X.shape[0], self.n_components
        if k > n:
            raise ValueError(
                f"n_components must be at most the number of rows, got {k} for n_samples={n}. Ask for fewer."
            )
        S = similarities_of(data.X, self.similarity)
        is_large = n >= LARGE and k <= FEW * n
        found = leading_eigenpairs(dense_times(np.ascontiguousarray(S)), n, k, goal=1e-12) if is_large else (
            eigenpairs_at_once(S, k)
        )  # fmt: skip
        largest = max(float(found.values.max(initial=0.0)), 0.0)
        values = np.where(found.values > SMALL * largest, found.values, 0.0)
        attributes: dict[str, Any] = {
            "embedding_": np.ascontiguousarray(signed(found.vectors) * np.sqrt(values)),
            "eigenvalues_": values,
        }
        if self.similarity != GIVEN:
            attributes["X_fit_"] = data.X.copy()
        return self._adopt(Fit(attributes, found.trace, reached=False), data)

    def fit_transform(self, X: Data, y: Data = None, **params: Any) -> Array:
        """Fit, and return the vectors, of shape (n_samples, n_components)."""
        return self.fit(X, **params).embedding_

    def transform(self, X: Data) -> Array:
        """Return the vectors of new rows, or of things with given similarities to all known ones."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        S = similarities_to(X, getattr(self, "X_fit_", None), self.similarity)
        return np.asarray(S @ (self.embedding_ / np.where(self.eigenvalues_ > 0.0, self.eigenvalues_, np.inf)))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.similarity == GIVEN
        return tags


GIVEN = "precomputed"
SIMILARITIES = ("cosine", "correlation", GIVEN)


def unit_rows(X: Array, similarity: str) -> Array:
    """Return rows of length 1, about their mean for correlations; rows of zeros stay."""
    rows = np.asarray(X, dtype=np.float64)
    size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    rows = rows / np.where(size > 0.0, size, 1.0)
    if similarity == "correlation":
        rows = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    is_flat = length <= 1e-13 * np.sqrt(X.shape[1])
    return np.asarray(np.where(is_flat, 0.0, rows / np.where(is_flat, 1.0, length)))


def similarities_of(X: Array, similarity: Any) -> Array:
    """Return the similarities of all rows, float64."""
    if similarity == GIVEN:
        return np.asarray(X, dtype=np.float64)
    rows = unit_rows(X, similarity)
    return np.asarray(rows @ rows.T)


def similarities_to(new: Array, X: SparseOrDense, similarity: Any) -> Array:
    """Return the similarities of new rows to the known ones; given ones are those."""
    if similarity == GIVEN:
        return np.asarray(new, dtype=np.float64)
    return np.asarray(unit_rows(new, similarity) @ unit_rows(X, similarity).T)


@dataclass(frozen=True)
class SimilarityRules(InputRules):
    """Similarities are square and symmetric; with ``given=False`` the rows are vectors, whose products they are."""

    given: bool = True

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        data = super().check(estimator, X, *args, **options)
        if not self.given:
            return data
        rows, columns = data.X.shape
        if rows != columns:
            raise ValueError(
                f"X must be square if it holds similarities, got shape {(rows, columns)}. Use similarity='cosine' or "
                "'correlation' for rows."
            )
        dense = data.X.toarray() if sparse.issparse(data.X) else data.X
        return replace(data, X=check_symmetric(np.array(dense, dtype=np.float64)))
