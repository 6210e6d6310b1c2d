"""What classifiers with one line per class, or one for two classes, share: scores, labels, sparse weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import compute_class_weight, compute_sample_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.device.places import beside
from pellucid.core.input_rules import CLASSES, UNCHECKED, InputRules
from pellucid.core.labels import encode_labels, known_codes, label_column
from pellucid.core.scale.block_data import as_one_target
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.types import Array, ClassWeight, Data
from pellucid.proofs.training_data import TrainingData


class LinearClassifier:
    """Decides by ``coef_`` of shape (1 or n_classes, n_features) and ``intercept_``."""

    classes_: Array
    coef_: Any
    intercept_: Array

    def decision_function(self, X: Data) -> Array:
        """Return :math:`w'x + b`, of shape (n_samples,) for two classes and (n_samples, n_classes) otherwise."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False)
        scores = np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score; of tied scores, the first in ``classes_``."""
        return winners(self.decision_function(X), self.classes_)

    def sparsify(self) -> Self:
        """Turn ``coef_`` into a sparse matrix: smaller where an l1 penalty left many zeros."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_array(on_host(self.coef_) if is_foreign(self.coef_) else self.coef_)
        return self

    def densify(self) -> Self:
        """Turn ``coef_`` back into an array."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = beside(self, dense(self.coef_))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of BaseEstimator, beside
        tags.input_tags.sparse = True
        return tags


def winners(scores: Array, classes: Array) -> Array:
    """Return the label of the largest score; of two classes with one score, the second where it is above 0."""
    return classes[(scores > 0.0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]


def class_weights(class_weight: ClassWeight, data: TrainingData) -> Array:
    """Return the weight of each class as scikit-learn reads it; 0 for a class without rows."""
    if class_weight is None:
        return np.ones(len(data.classes))
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        return np.asarray(compute_class_weight(class_weight, classes=data.classes, y=data.classes))
    totals = np.bincount(data.y, weights=data.weight, minlength=len(data.classes))
    return np.where(totals > 0.0, totals.sum() / (len(totals) * np.where(totals > 0.0, totals, 1.0)), 0.0)


def machine_signs(codes: Array, n_classes: int) -> Array:
    """Return +1 for the rows of each machine's own class and -1 for the rest, of shape (n_machines, n_samples).

    Examples
    --------
    >>> machine_signs(np.array([0, 1, 1]), 2)
    array([[-1.,  1.,  1.]])
    """
    own = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes == own[:, None], 1.0, -1.0)


def machine_costs(signs: Array, weight: Array, class_weight: Array) -> Array:
    """Return what each row counts in each machine: its weight times that of its class.

    Of more than two classes the class weight is that of the machine's own class, and the rest has 1.
    """
    if len(signs) == 1:
        return np.where(signs > 0.0, class_weight[1], class_weight[0]) * weight
    return np.where(signs > 0.0, class_weight[:, None], 1.0) * weight


def dense(coef: Any) -> Array:
    """Return weights as an array, whether sparsified or not."""
    return np.asarray(coef.toarray() if sparse.issparse(coef) else coef)


@dataclass(frozen=True)
class LabelSetRules(InputRules):
    """Rules for labels, or for a 0/1 matrix of several labels; ``y`` becomes a matrix, one column for two classes."""

    target: str = UNCHECKED
    class_weight: ClassWeight = None

    def check(
        self, estimator: Any, X: Data, y: Data = None, *args: Any, classes: Array | None = None, **options: Any
    ) -> TrainingData:
        """Return the training data with their columns of 0 and 1; the weight of its class is part of a row's."""
        y = as_one_target(self, y) if is_in_blocks(X) else y
        if is_in_blocks(X) and getattr(y, "ndim", 1) != 1:
            raise ValueError(f"y must be one column of labels for rows in blocks, got {y.ndim} dimensions.")
        data = super().check(estimator, X, y, *args, **options)
        known = getattr(estimator, "classes_", None) if options.get("reset") is False else classes
        return self.completed(estimator, data, known)

    @property
    def summed_target(self) -> str:
        """Of rows in blocks, the labels."""
        return CLASSES

    def completed(self, estimator: Any, data: TrainingData, classes: Array | None = None) -> TrainingData:
        """Return the data with columns of 0 and 1 for labels, or for codes of those that ``data`` names."""
        y = data.y.toarray() if sparse.issparse(data.y) else data.y
        y = data.classes[y] if len(data.classes) else y
        check_classification_targets(y)
        if type_of_target(y, input_name="y").startswith("multilabel"):
            found, columns = np.arange(y.shape[1]), (y != 0).astype(np.float64)
        else:
            y = label_column(y)
            found, codes = encode_labels(y) if classes is None else (classes, known_codes(y, classes))
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
