"""What the filters share: a mask of columns, and tags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.finite import check_finite
from pellucid.core.input_rules import UNCHECKED, InputRules
from pellucid.core.types import Array, Data
from pellucid.proofs.training_data import TrainingData


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


@dataclass(frozen=True)
class FilterInput(InputRules):
    """Floats are numbers, everything else are labels."""

    target: str = UNCHECKED

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data with a target of one dimension."""
        data = super().check(estimator, X, y, *args, **options)
        target = column_or_1d(data.y, warn=True)
        if target.dtype.kind == "f":
            check_finite(target, estimator, "y")
        elif target.dtype.kind == "O":
            target = target.astype(str)
        return replace(data, y=np.asarray(target))
