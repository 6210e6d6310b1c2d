"""Labels and probabilities from scores on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.array_api import array_namespace
from pellucid.core.arrays import on_host


def labels_of(scores: Any, classes: Any) -> Any:
    """Return the label of the largest score; of one column, the second label where it is above 0.

    Labels in words are NumPy arrays, wherever the scores are.
    """
    xp = array_namespace(scores)
    codes = xp.astype(scores > 0.0, xp.int64) if scores.ndim == 1 else xp.argmax(scores, axis=1)
    return classes[on_host(codes)] if isinstance(classes, np.ndarray) else xp.take(classes, codes, axis=0)


def log_shares(scores: Any) -> Any:
    """Return the logarithms of probabilities, whose ratios are the exponentials of the scores; one column has two."""
    xp = array_namespace(scores)
    if scores.ndim == 1:
        scores = xp.stack([xp.zeros_like(scores), scores], axis=1)
    top = xp.max(scores, axis=1, keepdims=True)
    moved = scores - xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    return moved - xp.log(xp.sum(xp.exp(moved), axis=1, keepdims=True))


def _log_odds(scores: Any) -> Any:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


FROM_SCORES: dict[str, Any] = {
    "decision_function": lambda _model, scores: _log_odds(scores),
    "predict_joint_log_proba": lambda _model, scores: scores,  # of naive Bayes, whose scores are these
    "predict": lambda model, scores: labels_of(scores, model.classes_),
    "predict_log_proba": lambda _model, scores: log_shares(scores),
    "predict_proba": lambda _model, scores: array_namespace(scores).exp(log_shares(scores)),
}
"""What a classifier answers whose device module gives ``class_scores``, log probabilities up to a number for a row."""
