"""What data a search takes: whatever its estimator takes, of two columns at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from pellucid.core.input_rules import UNCHECKED, InputRules
from pellucid.core.types import Data
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class SearchInput(InputRules):
    """Rows of numbers; targets of any kind, or none: the estimator decides what they mean."""

    target: str = UNCHECKED
    sparse: tuple[str, ...] = ("csc",)
    dtypes: Any = "numeric"
    weights: bool = False

    def check(
        self, estimator: Any, X: Data, y: Data = None, sample_weight: Data | None = None, **options: Any
    ) -> TrainingData:
        """Return the training data; the target as an array, not looked at."""
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight must be None for {type(estimator).__name__}, got weights. Repeat the rows, or ask for "
                "them by metadata routing."
            )
        reset = options.get("reset", True)
        X = validate_data(estimator, X, **self._options(reset=reset) | {"ensure_min_features": 2})
        X = self._settled(estimator, X, look_for_nan=not self.missing)
        if y is not None:
            y = np.asarray(y)
            if y.ndim == 0:
                raise ValueError(f"y must hold a target for each row, got {y!r}.")
        return TrainingData(X, y, given=(X, y, None))


def search_input(selector: Any) -> SearchInput:
    """Return the rules for a selector: NaN goes through where its estimator takes it."""
    return SearchInput(missing=selector.estimator is not None and get_tags(selector.estimator).input_tags.allow_nan)
