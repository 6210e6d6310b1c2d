"""What the filters share: a mask of columns, and tags."""

from __future__ import annotations

from typing import Any

from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.types import Array


class FilterSelector(SelectorMixin, CertifiedEstimator):
    """Base of the filters."""

    support_: Array

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
