"""The one look at the test rows: scores, confusion and calibration on rows that nobody has seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn import metrics

from pellucid.app.bake_off.measures import ACCURACY, RMSE, Answers, Measure, answers_of, measure_for
from pellucid.app.bake_off.options import RowFacts
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
FEWEST_DRAWS, MOST_DRAWS, MOST_DRAWN_ROWS = 100, 400, 2e6
"""Of rows, for the interval of a measure that has none of its own."""
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
    measure: Measure | None = None
    """What the methods were chosen by; the headline shows it."""
    weights: Array | None = None
    threshold: float | None = None
    """Probability of the second of two classes from which on it is called, if the measure asked for one."""
    answers: Answers | None = None
    """What the model said, as the measure takes it."""


def judge(
    model: Any,
    learning: tuple[pd.DataFrame, Array],
    test: tuple[pd.DataFrame, Array],
    *,
    is_classification: bool,
    seed: int,
    measure: Measure | None = None,
    facts: RowFacts | None = None,
    threshold: float | None = None,
) -> Judgement:
    """Return how good a model, fitted to the learning rows, is on the test rows, whose facts may be given."""
    (X_learning, y_learning), (X, y) = learning, test
    facts = facts or RowFacts()
    if measure is None:
        measure = measure_for(None, y_learning, is_classification=is_classification, weighted=facts.weights is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a model that is fitted to all rows later, and then says the same
        if is_classification:
            judgement = judge_classes(model, X, y, measure, facts, threshold)
        else:
            judgement = judge_numbers(model, X, y, float(y_learning.mean()), seed, measure, facts)
        if not measure.is_default or facts.weights is not None or facts.groups is not None:
            judgement = replace(judgement, headline=resampled_interval(judgement, measure, facts, seed))
    return replace(judgement, n_seen_before=count_seen_before(X_learning, X))


def judge_classes(
    model: Any,
    X: pd.DataFrame,
    y: Array,
    measure: Measure | None = None,
    facts: RowFacts | None = None,
    threshold: float | None = None,
) -> Judgement:
    """Return how well a classifier does; ``measure`` and a threshold may decide otherwise than it would itself."""
    measure = measure or Measure(ACCURACY, model.classes_)
    weights = facts.weights if facts else None
    answers = answers_of(model, X, measure.classes)
    predicted = np.asarray(model.predict(X))
    present = np.unique(y)
    of_classes = {"labels": present, "average": "macro", "zero_division": 0.0, "sample_weight": weights}
    scores = {
        "balanced accuracy": float(metrics.recall_score(y, predicted, **of_classes)),
        "macro F1": float(metrics.f1_score(y, predicted, **of_classes)),
    }
    if not measure.is_share:
        scores = {"accuracy": float(np.average(predicted == y, weights=weights)), **scores}
    classes, probabilities = measure.classes, answers.probabilities
    assert classes is not None  # the measure is of classes
    if probabilities is not None:
        chances = probabilities[:, 1] if len(classes) == 2 else probabilities
        event = {"pos_label": classes[1]} if len(classes) == 2 else {}
        given = {"labels": classes, "sample_weight": weights}
        scores["log loss"] = float(metrics.log_loss(y, probabilities, **given))
        scores["Brier score"] = float(metrics.brier_score_loss(y, chances, **given, **event))
    if len(classes) == len(present) == 2:
        ranking = probabilities[:, 1] if probabilities is not None else answers.ranking
        if ranking is not None:
            area = metrics.roc_auc_score(y == classes[1], ranking, sample_weight=weights)
            scores["area under the ROC curve"] = float(area)
    headline = score_interval(y, predicted, "accuracy", level=LEVEL)
    return Judgement(
        y,
        predicted,
        headline,
        scores,
        classes,
        probabilities,
        measure=measure,
        weights=weights,
        threshold=threshold,
        answers=answers,
    )


def judge_numbers(
    model: Any,
    X: pd.DataFrame,
    y: Array,
    learning_mean: float,
    seed: int,
    measure: Measure | None = None,
    facts: RowFacts | None = None,
) -> Judgement:
    """Return how well a regressor does; R² compares it with always predicting the mean of the learning rows."""
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    weights = facts.weights if facts else None
    misses = np.abs(y - predicted)
    total = float(np.average((y - learning_mean) ** 2, weights=weights))
    left = float(np.average(misses**2, weights=weights))
    scores = {
        "R²": 1.0 - left / total if total > 0 else float("nan"),
        "mean absolute error": float(np.average(misses, weights=weights)),
        "half of the rows are missed by less than": float(np.median(misses)),
        "nine of ten rows are missed by less than": float(np.quantile(misses, 0.9)),
    }
    measure = measure or Measure(RMSE, None)
    if not measure.is_default:
        scores = {"root mean squared error": float(np.sqrt(left)), **scores}
    if len(y) > MANY_ROWS:
        headline = _normal_interval(misses**2)
    else:
        headline = score_interval(y, predicted, rmse, level=LEVEL, random_state=seed)
    return Judgement(y, predicted, headline, scores, measure=measure, weights=weights, answers=Answers(predicted))


def resampled_interval(judgement: Judgement, measure: Measure, facts: RowFacts, seed: int) -> ScoreInterval:
    """Return the interval of any measure by drawing the rows, or whole groups of them, again and again."""
    actual, answers = judgement.actual, judgement.answers
    assert answers is not None  # judged with a measure
    rng = np.random.default_rng(seed)
    rows_of = _rows_by_group(facts.groups) if facts.groups is not None else None
    errors = []
    for _ in range(int(np.clip(MOST_DRAWN_ROWS / len(actual), FEWEST_DRAWS, MOST_DRAWS))):
        if rows_of is None:
            rows = rng.integers(0, len(actual), len(actual))
        else:
            rows = np.concatenate([rows_of[k] for k in rng.integers(0, len(rows_of), len(rows_of))])
        try:
            errors.append(measure.error(actual[rows], answers.of(rows), facts.of(rows).weights, judgement.threshold))
        except ValueError:  # a class that no row drawn has
            continue
    own = measure.error(actual, answers, facts.weights, judgement.threshold)
    ends = np.quantile(errors or [own], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    low, high = sorted(measure.shown(float(end)) for end in ends)
    return ScoreInterval(measure.name, measure.shown(own), low, high, LEVEL, "bootstrap", len(actual))


def _rows_by_group(groups: Array) -> list[Array]:
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]


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
