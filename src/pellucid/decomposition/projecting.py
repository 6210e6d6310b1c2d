"""Projecting: what transformers along fixed directions, through the origin, share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data
from pellucid.decomposition.projection import projected


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
