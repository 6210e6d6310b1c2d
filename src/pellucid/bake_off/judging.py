"""The one look at the test rows: how good the chosen method is on rows that nobody has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn import metrics

from pellucid.core.types import Array
from pellucid.model_selection import ScoreInterval, score_interval

LEVEL = 0.95
MANY_ROWS = 1000
"""From here on the central limit theorem is as good as the bootstrap, and quicker."""


@dataclass(frozen=True)
class Judgement:
    """Truth and prediction on the test rows, and the scores they give."""

    actual: Array
    predicted: Array
    headline: ScoreInterval
    """Accuracy, or root mean squared error."""
    scores: dict[str, float]
    classes: Array | None = None
    probabilities: Array | None = None
    """Of shape (n_rows, n_classes); None for regression and for methods without probabilities."""
    n_seen_before: int = 0
    """Test rows that also stand among the learning rows."""


def judge_classes(model: Any, X: pd.DataFrame, y: Array) -> Judgement:
    """Return how well a classifier does."""
    predicted = np.asarray(model.predict(X))
    present = np.unique(y)
    scores = {
        "balanced accuracy": float(
            metrics.recall_score(y, predicted, labels=present, average="macro", zero_division=0.0)
        ),
        "macro F1": float(metrics.f1_score(y, predicted, labels=present, average="macro", zero_division=0.0)),
    }
    probabilities = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    if probabilities is not None:
        right = (y[:, None] == model.classes_).astype(float)
        of_right = np.clip((probabilities * right).sum(axis=1), np.finfo(float).tiny, 1.0)
        scores["log loss"] = float(-np.log(of_right).mean())
        scores["Brier score"] = float(np.square(probabilities - right).sum(axis=1).mean())
    if len(model.classes_) == len(present) == 2:
        ranking = probabilities[:, 1] if probabilities is not None else model.decision_function(X)
        scores["area under the ROC curve"] = float(metrics.roc_auc_score(y == model.classes_[1], ranking))
    headline = score_interval(y, predicted, "accuracy", level=LEVEL)
    return Judgement(y, predicted, headline, scores, model.classes_, probabilities)


def judge_numbers(model: Any, X: pd.DataFrame, y: Array, learning_mean: float, seed: int) -> Judgement:
    """Return how well a regressor does; R² compares it with always predicting the mean of the learning rows."""
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    misses = np.abs(y - predicted)
    total = float(np.sum((y - learning_mean) ** 2))
    scores = {
        "R²": 1.0 - float(np.sum(misses**2)) / total if total > 0 else float("nan"),
        "mean absolute error": float(misses.mean()),
        "half of the rows are missed by less than": float(np.median(misses)),
        "nine of ten rows are missed by less than": float(np.quantile(misses, 0.9)),
    }
    if len(y) > MANY_ROWS:
        return Judgement(y, predicted, _normal_interval(misses**2), scores)
    headline = score_interval(y, predicted, rmse, level=LEVEL, random_state=seed)
    return Judgement(y, predicted, headline, scores)


def count_seen_before(learning: pd.DataFrame, test: pd.DataFrame) -> int:
    """Return how many test rows have the same values in every column as some learning row."""
    keys = (pd.util.hash_pandas_object(frame, index=False) for frame in (learning, test))
    seen, asked = (key.to_numpy() for key in keys)
    return int(np.isin(asked, seen).sum())


def rmse(actual: Array, predicted: Array) -> float:
    """Return the root mean squared error; without scikit-learn's checks, which a bootstrap would repeat 2000 times."""
    return float(np.sqrt(np.mean((actual - predicted) ** 2)))


def _normal_interval(squares: Array) -> ScoreInterval:
    """Return the interval of a root mean square: half as wide, relative to it, as that of the mean square."""
    error = float(np.sqrt(squares.mean()))
    half = (
        float(norm.ppf((1 + LEVEL) / 2) * squares.std(ddof=1) / np.sqrt(len(squares)) / (2 * error)) if error else 0.0
    )
    return ScoreInterval("rmse", error, max(0.0, error - half), error + half, LEVEL, "normal", len(squares))
