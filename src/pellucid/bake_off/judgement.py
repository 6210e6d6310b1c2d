"""The one look at the test rows: scores, confusion and calibration on rows that nobody has seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn import metrics

from pellucid.core.types import Array
from pellucid.model_selection import ScoreInterval, score_interval

Rows = tuple[pd.DataFrame, Array]

LEVEL = 0.95
MANY_ROWS = 1000
"""From here on the central limit theorem is as good as the bootstrap, and quicker."""
N_BINS = 10
"""Of predicted probabilities."""
MOST_CLASSES = 10
"""A matrix of more classes than this is no longer read."""
MOST_MISTAKES = 12
MOST_LISTED = 40


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


def judge(
    model: Any,
    learning: tuple[pd.DataFrame, Array],
    test: tuple[pd.DataFrame, Array],
    *,
    is_classification: bool,
    seed: int,
) -> Judgement:
    """Return how good a model, fitted to the learning rows, is on the test rows."""
    (X_learning, y_learning), (X, y) = learning, test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a model that is fitted to all rows later, and then says the same
        if is_classification:
            judgement = judge_classes(model, X, y)
        else:
            judgement = judge_numbers(model, X, y, float(y_learning.mean()), seed)
    return replace(judgement, n_seen_before=count_seen_before(X_learning, X))


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
        chances = probabilities[:, 1] if len(model.classes_) == 2 else probabilities
        event = {"pos_label": model.classes_[1]} if len(model.classes_) == 2 else {}
        scores["log loss"] = float(metrics.log_loss(y, probabilities, labels=model.classes_))
        scores["Brier score"] = float(metrics.brier_score_loss(y, chances, labels=model.classes_, **event))
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


@dataclass(frozen=True)
class Reliability:
    """Rows in bins of their predicted probability: the mean prediction, the share that came true, and how many."""

    event: str
    predicted: Array
    observed: Array
    counts: Array

    @property
    def mean_gap(self) -> float:
        """Mean distance between prediction and truth over the rows (the expected calibration error)."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.counts))


def reliability(probabilities: Array, classes: Array, actual: Array) -> Reliability:
    """Return the reliability of the second of two classes, or of the predicted class if there are more.

    Examples
    --------
    >>> chances = np.array([[0.9, 0.1], [0.9, 0.1], [0.25, 0.75], [0.25, 0.75]])
    >>> found = reliability(chances, np.array(["no", "yes"]), np.array(["no", "no", "yes", "no"]))
    >>> found.predicted, found.observed, found.counts
    (array([0.1 , 0.75]), array([0. , 0.5]), array([2, 2]))
    """
    if len(classes) == 2:
        chance, came_true, event = probabilities[:, 1], actual == classes[1], f"the class is {classes[1]}"
    else:
        best = probabilities.argmax(axis=1)
        chance, came_true = probabilities[np.arange(len(best)), best], actual == classes[best]
        event = "the predicted class is right"
    bins = np.minimum((chance * N_BINS).astype(int), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    used = counts > 0
    sums = [np.bincount(bins, weights=values, minlength=N_BINS)[used] for values in (chance, came_true)]
    return Reliability(event, sums[0] / counts[used], sums[1] / counts[used], counts[used])


@dataclass(frozen=True)
class Cell:
    """Rows of one class that were called another, and their share of that class."""

    count: int
    share: float
    is_right: bool


@dataclass(frozen=True)
class ClassRow:
    """How one class fares: its rows, the share of them found, the share of its calls that are right."""

    label: str
    n_rows: int
    found: float
    right_calls: float


@dataclass(frozen=True)
class Confusion:
    """Classes, cells by true and called class (none if there are too many), and the most frequent mistakes."""

    labels: list[str]
    cells: list[list[Cell]]
    classes: list[ClassRow]
    mistakes: list[tuple[str, str, int]]


def confusion_of(actual: Array, predicted: Array, classes: Array) -> Confusion:
    """Return the confusion of predictions on the test rows."""
    counts = metrics.confusion_matrix(actual, predicted, labels=classes)
    labels = [str(label) for label in classes]
    rows, calls = counts.sum(axis=1), counts.sum(axis=0)
    shares = counts / np.maximum(rows, 1)[:, None]
    cells = [
        [Cell(int(counts[i, j]), float(shares[i, j]), i == j) for j in range(len(labels))] for i in range(len(labels))
    ]
    listed = [
        ClassRow(labels[i], int(rows[i]), float(shares[i, i]), float(counts[i, i] / max(calls[i], 1)))
        for i in np.argsort(-rows, kind="stable")[:MOST_LISTED]
    ]
    off = np.where(np.eye(len(labels), dtype=bool), 0, counts)
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_MISTAKES]
    places = [divmod(int(place), len(labels)) for place in order]
    mistakes = [(labels[i], labels[j], int(off[i, j])) for i, j in places if off[i, j]]
    return Confusion(labels, cells if len(labels) <= MOST_CLASSES else [], listed, mistakes)
