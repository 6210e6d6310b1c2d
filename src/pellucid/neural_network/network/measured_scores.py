"""Scores of a network measured by hand, for its proof: losses with their slopes, and what share of rows is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData


def answer_kind(data: TrainingData) -> str:
    """Return what becomes of the scores: one class a row, several labels, or numbers."""
    if not len(data.classes):
        return "identity"
    return "softmax" if data.y.ndim == 1 else "logistic"


ScoreLoss = Callable[[Array, Array], tuple[Array, Array]]
"""From scores and targets to the loss of each row, and its slopes with respect to the scores, by hand."""


def _of_classes(scores: Array, codes: Array) -> tuple[Array, Array]:
    losses = special.logsumexp(scores, axis=1) - scores[np.arange(len(scores)), codes]
    return losses, special.softmax(scores, axis=1) - np.eye(scores.shape[1])[codes]


def _of_label_sets(scores: Array, labels: Array) -> tuple[Array, Array]:
    losses = (np.logaddexp(0.0, scores) - labels * scores).sum(axis=1)
    return losses, special.expit(scores) - labels


def _of_numbers(scores: Array, targets: Array) -> tuple[Array, Array]:
    residuals = scores - targets.reshape(scores.shape)
    return (residuals**2).sum(axis=1) / 2, residuals


LOSSES: dict[str, ScoreLoss] = {"softmax": _of_classes, "logistic": _of_label_sets, "identity": _of_numbers}


def _accuracy(scores: Array, codes: Array, share: Array, unit: float) -> tuple[Any, Any]:
    """Return the share of rows that are right, and of those that rounding may have decided."""
    top = np.sort(scores, axis=1)[:, -2:]
    is_open = top[:, -1] - top[:, 0] <= unit * (1 + np.abs(scores).max(axis=1))
    return share @ (scores.argmax(axis=1) == codes), share @ is_open


def _label_accuracy(scores: Array, labels: Array, share: Array, unit: float) -> tuple[Any, Any]:
    """Return the share of rows whose labels are all right, and of those that rounding may have decided."""
    is_open = np.abs(scores).min(axis=1) <= unit * (1 + np.abs(scores).max(axis=1))
    return share @ ((scores > 0) == (labels > 0)).all(axis=1), share @ is_open


def _r2(scores: Array, targets: Array, share: Array, unit: float) -> tuple[Any, Any]:
    """Return the mean share of variance explained, and what rounding may have done to it."""
    targets = targets.reshape(scores.shape)
    spread = (share[:, None] * (targets - share @ targets) ** 2).sum(axis=0)
    residual = (share[:, None] * (targets - scores) ** 2).sum(axis=0)
    varies = spread > 0  # a constant target is explained wholly or not at all
    unexplained = residual / np.where(varies, spread, 1.0)
    return np.where(varies, 1 - unexplained, residual == 0).mean(), unit * (1 + unexplained.mean())


SCORES = {"softmax": _accuracy, "logistic": _label_accuracy, "identity": _r2}
