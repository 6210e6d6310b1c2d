"""Targets of classifiers by regression: a column of 0 and 1 for each class, or for each of several labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from pellucid.core.input_rules import UNCHECKED, InputRules
from pellucid.core.labels import encode_labels, known_codes, label_column
from pellucid.core.linear_classifier import class_weights
from pellucid.core.types import Array, Data
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class LabelSetRules(InputRules):
    """Rules for labels, or for a 0/1 matrix of several labels; ``y`` becomes a matrix, one column for two classes."""

    target: str = UNCHECKED
    class_weight: Any = None

    def check(
        self, estimator: Any, X: Data, y: Data = None, *args: Any, classes: Array | None = None, **options: Any
    ) -> TrainingData:
        """Return the training data with their columns of 0 and 1; the weight of its class is part of a row's."""
        data = super().check(estimator, X, y, *args, **options)
        y = data.y.toarray() if sparse.issparse(data.y) else data.y
        check_classification_targets(y)
        if type_of_target(y, input_name="y").startswith("multilabel"):
            found, columns = np.arange(y.shape[1]), (y != 0).astype(np.float64)
        else:
            y = label_column(y)
            known = getattr(estimator, "classes_", None) if options.get("reset") is False else classes
            found, codes = encode_labels(y) if known is None else (known, known_codes(y, known))
            own = np.arange(len(found)) if len(found) > 2 else np.array([1])  # of one or two classes, the second alone
            columns = (codes[:, None] == own).astype(np.float64)
        if self.class_weight is None:
            return replace(data, y=columns, classes=found)
        if np.ndim(y) == 2:  # several labels
            by_class = compute_sample_weight(self.class_weight, y)
        else:
            by_class = class_weights(self.class_weight, replace(data, y=codes, classes=found))[codes]
        return replace(data, y=columns, classes=found, weight=by_class * data.weights)


def is_multilabel(data: TrainingData) -> bool:
    """Return whether the target was a matrix of several labels."""
    return np.ndim(data.given[1]) == 2 and type_of_target(data.given[1]).startswith("multilabel")
