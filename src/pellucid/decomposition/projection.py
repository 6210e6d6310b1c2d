"""Projections of rows on components, on all threads, and the estimators that have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.threads import own_threads, run_blocks, shares
from pellucid.core.types import Array, Data, SparseOrDense

BLOCK_ROWS = 4096


def projected(X: SparseOrDense, components: Array, mean: Array | None = None) -> Array:
    """Return ``(X - mean) components'`` in the dtype of the rows."""
    V = components.T.astype(X.dtype, copy=False)
    if sparse.issparse(X):
        Z = np.asarray(X @ V)
        return Z if mean is None else Z - (mean @ components.T).astype(X.dtype)
    out = np.empty((X.shape[0], V.shape[1]), dtype=X.dtype)

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, part.stop))
            block = X[rows] if mean is None else X[rows] - mean.astype(X.dtype, copy=False)
            np.matmul(block, V, out=out[rows])

    run_blocks(work, shares(X.shape[0], X.size * max(V.shape[1], 1)))
    return out


class Projecting(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedEstimator):
    """Base of transformers whose answer is the product of a row with each of ``components_``."""

    components_: Array

    def transform(self, X: Data) -> Array:
        """Return the coordinates of rows along the components, of shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        with own_threads():
            return projected(X, self.components_)

    def inverse_transform(self, X: Data) -> Array:
        """Return the rows in the span of the components with these coordinates."""
        check_is_fitted(self)
        return np.asarray(check_array(X, dtype=(np.float64, np.float32)) @ self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(card_of(type(self)).rules_for(self).sparse)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
