"""What NetworkClassifier and NetworkRegressor take: examples of any shape, with labels, sets of labels or numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import is_multilabel

from pellucid.core.input_rules import CLASSES, UNCHECKED, InputRules
from pellucid.core.linear_classifier import LabelSetRules, class_weights
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.types import ClassWeight, Data
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class ExampleRules(InputRules):
    """Rules for examples of any shape: rows of a table, or images (n, channels, height, width).

    Images of bytes become float32: in float64, as tables of whole numbers do, they would take eight times the memory.
    """

    sparse: tuple[str, ...] = ("csr",)

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        return super().check(estimator, _without_bytes(X), *args, **options)

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new examples in the form of the training examples."""
        return super().check_rows(estimator, _without_bytes(X))

    def _options(self, *, reset: bool) -> dict[str, Any]:
        return {**super()._options(reset=reset), "allow_nd": True}


@dataclass(frozen=True)
class LabeledExampleRules(ExampleRules):
    """Rules for examples with labels, which become codes, or with a 0/1 matrix of several labels, which stays one.

    The weight of its class is part of a row's.
    """

    target: str = CLASSES
    class_weight: ClassWeight = None

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        if not is_in_blocks(X) and is_multilabel(y):
            return _ExampleLabelSetRules(class_weight=self.class_weight).check(estimator, X, y, *args, **options)
        data = super().check(estimator, X, y, *args, **options)
        if self.class_weight is None:
            return data
        return replace(data, weight=class_weights(self.class_weight, data)[data.y] * data.weights)


@dataclass(frozen=True)
class _ExampleLabelSetRules(ExampleRules, LabelSetRules):
    """Rules for examples that have several labels each."""

    target: str = UNCHECKED


def _without_bytes(X: Data) -> Data:
    is_images_of_bytes = isinstance(X, np.ndarray) and X.ndim > 2 and X.dtype == np.uint8
    return X.astype(np.float32) if is_images_of_bytes else X
