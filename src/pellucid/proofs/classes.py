"""What weights of classes mean, and which rows each machine of a classifier tells apart: written again for proofs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData


def class_weights(class_weight: Any, data: TrainingData) -> Array:
    """Return the weight of each class: 1, as a dictionary says (else 1), or 'balanced'; then 0 for one without rows.

    Examples
    --------
    >>> data = TrainingData(np.zeros((3, 1)), np.array([0, 1, 1]), classes=np.array(["a", "b"]))
    >>> class_weights("balanced", data), class_weights({"b": 5.0}, data)
    (array([1.5 , 0.75]), array([1., 5.]))
    """
    n_classes = len(data.classes)
    if class_weight is None:
        return np.ones(n_classes)
    if not isinstance(class_weight, str):
        return np.array([float(class_weight.get(_key(label), 1.0)) for label in data.classes])
    totals = np.array([data.weights[data.y == code].sum() for code in range(n_classes)])
    return np.array([data.weights.sum() / (n_classes * total) if total > 0.0 else 0.0 for total in totals])


def codes_among(classes: Array, y: Array) -> Array:
    """Return which of the classes each label is; refuse a label that is none of them.

    Examples
    --------
    >>> codes_among(np.array(["b", "a"]), np.array(["a", "b", "b"]))
    array([1, 0, 0])
    """
    order = np.argsort(classes)
    codes = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)]
    wrong = classes[codes] != y
    if wrong.any():
        unknown = sorted({str(label) for label in y[wrong].tolist()})
        raise ValueError(f"y must have the labels of the fit, got {', '.join(unknown)} too.")
    return np.asarray(codes)


def machine_signs(codes: Array, n_classes: int) -> Array:
    """Return +1 for the rows of each machine's own class, else -1, (n_machines, n_samples); two classes share one.

    Examples
    --------
    >>> machine_signs(np.array([0, 1, 1]), 2)
    array([[-1.,  1.,  1.]])
    """
    own = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == code, 1.0, -1.0) for code in own])


def machine_costs(signs: Array, weight: Array, class_weight: Array) -> Array:
    """Return what each row counts in each machine: its weight times that of its class.

    Of more than two classes the class weight is that of the machine's own class, and the rest has 1.
    """
    others = class_weight[:1] if len(signs) == 1 else np.ones(len(signs))
    own = class_weight[1:] if len(signs) == 1 else class_weight
    return np.where(signs > 0.0, own[:, None], others[:, None]) * weight


def class_columns(parameters: Seen, data: TrainingData) -> TrainingData:
    """Return the data with a column of 0 and 1 for each class, or for the second of two, and classes weighted."""
    own = np.arange(len(data.classes)) if len(data.classes) > 2 else np.array([1])
    class_weight = getattr(parameters, "class_weight", None)
    weight = data.weight if class_weight is None else class_weights(class_weight, data)[data.y] * data.weights
    return replace(data, y=(data.y[:, None] == own).astype(np.float64), weight=weight)


def labels_themselves(_parameters: Any, data: TrainingData) -> TrainingData:
    """Return the data with labels instead of their codes."""
    return replace(data, y=data.classes[data.y], classes=np.empty(0))


def has_label_sets(data: TrainingData) -> bool:
    """Return whether the target was a matrix of several labels, a column each."""
    return np.ndim(data.given[1]) == 2 and np.shape(data.given[1])[1] > 1


def _key(label: Any) -> Any:
    """Return under which key scikit-learn looks for the weight of a label: a whole number wherever it can be one."""
    try:
        return int(label)
    except ValueError:
        return str(label)
