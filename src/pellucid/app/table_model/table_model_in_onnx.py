"""The model of ``pellucid fit`` as ONNX operators: from the columns of a table to labels, probabilities or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.app.table_model.calibration import ISOTONIC, PLATT, Calibration
from pellucid.app.table_model.class_scores import LEAST_PROBABILITY
from pellucid.app.table_model.table_model import FAR
from pellucid.core.onnx.answers import Rows, answers, through
from pellucid.core.onnx.class_answers import labels_at
from pellucid.core.onnx.graph import WHOLE, Answers, Value


def table_model(model: Any, X: Rows) -> Answers:
    """Return the answers of the last step, calibrated, by the least expected cost, or within limits."""
    said = answers(model[-1], through(model[:-1], X))
    if "variable" in said:
        limits = zip(model.limits_ or FAR, FAR, strict=True)
        low, high = (far if limit is None else float(limit) for limit, far in limits)
        return {"variable": said["variable"] if model.limits_ is None else said["variable"].clip(low, high)}
    calibration = getattr(model, "calibration_", None)
    if calibration is not None:
        said = {**said, "probabilities": _calibrated(calibration, _scores(said, len(model.classes_)))}
    if model.costs_ is not None:
        label = labels_at((said["probabilities"] @ model.costs_).argmin(), model.classes_)
    elif model._says_likeliest:
        label = said["label"]
    else:
        label = labels_at(said["probabilities"].argmax(), model.classes_)
    return {"label": label} | {name: said[name] for name in ("probabilities",) if name in said}


def _scores(said: Answers, n_classes: int) -> Value:
    """Return a score for every row and class: the logarithm of its probability, or what decides."""
    if "probabilities" in said:
        return said["probabilities"].clip(LEAST_PROBABILITY, 1.0).log()
    scores = said["scores"]
    half = scores.reshape(-1, 1) / 2.0
    return scores.graph.joined([-half, half]) if n_classes == 2 else scores


def _calibrated(calibration: Calibration, scores: Value) -> Value:
    if calibration.kind == ISOTONIC:
        second = _interpolated(scores.column(1) - scores.column(0), calibration.scores, calibration.chances)
        return scores.graph.joined([1.0 - second, second])
    moved = calibration.inverse_temperature * scores
    return (moved + calibration.offsets if calibration.kind == PLATT else moved).softmax()


def _interpolated(x: Value, known: Any, values: Any) -> Value:
    """Return values on the lines between known points, and those at the ends beyond them; shape (rows, 1)."""
    if len(known) == 1:
        return x * 0.0 + float(values[0])
    slopes = np.diff(values) / np.diff(known)
    inside = x.clip(float(known[0]), float(known[-1]))
    place = (inside >= known[1:-1][None]).cast(WHOLE).sum() if len(known) > 2 else (inside * 0.0).cast(WHOLE)
    left, level, slope = (place.entries_of(np.asarray(part)) for part in (known[:-1], values[:-1], slopes))
    return (x >= float(known[-1])).where(float(values[-1]), slope * (inside - left) + level)


GRAPHS = {"TableModel": table_model}
"""By the name of the class."""
