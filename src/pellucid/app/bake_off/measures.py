"""What counts as an error: the share of mistakes, a score of scikit-learn by its name, or a table of costs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from pellucid.app.table_model.class_scores import costs_of_threshold, least_cost
from pellucid.app.tables.reading import TableError
from pellucid.core.checks import did_you_mean
from pellucid.core.types import Array, Data

ACCURACY, RMSE, COST = "accuracy", "neg_root_mean_squared_error", "cost per row"
OF_CLUSTERS = frozenset(
    f"{name}_score"
    for name in (
        "adjusted_mutual_info",
        "adjusted_rand",
        "completeness",
        "fowlkes_mallows",
        "homogeneity",
        "mutual_info",
        "normalized_mutual_info",
        "rand",
        "v_measure",
    )
)
"""Scores that scikit-learn names beside the others, but that compare two groupings of rows."""
WORSE_IF_LARGER = "neg_"
"""So begin the names of errors among scikit-learn's scores; all others are at best 1."""
SHORT_FOR = {"roc": "ROC", "auc": "AUC", "ovr": "OvR", "ovo": "OvO", "r2": "R²", "d2": "D²", "f1": "F1"}
JACKKNIFE_PARTS = 10
N_THRESHOLDS = 100
MOST_AUC_CLASSES = 30
"""Each has a curve of its own, which takes time."""

SHORT_NAMES = {
    "auc": "roc_auc",
    "log_loss": "neg_log_loss",
    "logloss": "neg_log_loss",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
}
"""What people call scores, and what they are called here."""


@dataclass(frozen=True)
class Answers:
    """What a fitted method says about some rows."""

    predicted: Array
    probabilities: Array | None = None
    """One column per class of the measure; None for numbers, and for methods without probabilities."""
    ranking: Array | None = None
    """Of two classes, the score of the second, for methods without probabilities."""

    def of(self, rows: Array) -> Answers:
        """Return the answers about some of the rows."""
        parts = (self.predicted, self.probabilities, self.ranking)
        return Answers(*(None if part is None else part[rows] for part in parts))  # type: ignore[arg-type]


def answers_of(method: Any, X: Data, classes: Array | None) -> Answers:
    """Ask a fitted method about rows; ``classes`` are those of the whole table, of which it may have seen a part.

    Where there are probabilities, the predicted class is the likeliest, the first of equals: asking once is enough.
    """
    if classes is None:
        return Answers(np.asarray(method.predict(X), dtype=np.float64))
    if hasattr(method, "predict_proba"):
        known = np.asarray(method.predict_proba(X), dtype=np.float64)
        predicted = np.asarray(method.classes_)[known.argmax(axis=1)]
        if np.array_equal(method.classes_, classes):
            return Answers(predicted, known)
        chances = np.zeros((len(known), len(classes)))
        chances[:, np.searchsorted(classes, method.classes_)] = known
        return Answers(predicted, chances)
    predicted = np.asarray(method.predict(X))
    if len(classes) == 2 and len(getattr(method, "classes_", ())) == 2 and hasattr(method, "decision_function"):
        return Answers(predicted, ranking=np.asarray(method.decision_function(X), dtype=np.float64))
    return Answers(predicted)


@dataclass(frozen=True)
class FoldScore:
    """What the answers on one validation set are worth."""

    error: float
    spread: float
    """The standard error of that error over the rows."""
    balanced: float = float("nan")
    """The mean over the classes of the share of their rows that is found."""
    auc: float = float("nan")
    """Area under the ROC curve, of several classes the mean of one against the others."""
    log_loss: float = float("nan")


@dataclass(frozen=True)
class Measure:
    """An error, the smaller the better: 1 minus a score that is at best 1, or what is to be small itself."""

    name: str
    classes: Array | None
    """The classes of the target in their order; None for numbers."""
    costs: Array | None = None
    """Of calling a row of a true class (rows) by another (columns)."""
    is_of_labels: bool = False
    """Whether it looks at the predicted classes alone, so that another threshold changes it."""
    limits: tuple[float | None, float | None] | None = None
    """Between which numbers predictions are kept; None if nothing is known of that."""

    @property
    def is_default(self) -> bool:
        """Whether nobody asked for another: the share of mistakes, or the root mean squared error."""
        return self.name in (ACCURACY, RMSE)

    @property
    def is_share(self) -> bool:
        """Whether the score is a share of rows."""
        return self.name == ACCURACY

    def within_limits(self, answers: Answers) -> Answers:
        """Return the answers with predicted numbers between the limits."""
        return answers if self.limits is None else replace(answers, predicted=np.clip(answers.predicted, *self.limits))

    @property
    def is_score(self) -> bool:
        """Whether more is better, as people write it."""
        return self.costs is None and not self.name.startswith(WORSE_IF_LARGER)

    @property
    def title(self) -> str:
        """The head of its column."""
        if self.is_default:
            return "Right" if self.is_share else "Error"
        words = self.name.removeprefix(WORSE_IF_LARGER).split("_")
        name = " ".join(SHORT_FOR.get(word, word) for word in words)
        return name[:1].upper() + name[1:]

    def shown(self, error: float) -> float:
        """Return an error as people write it: a score that should be large stays one."""
        return 1.0 - error if self.is_score else error

    def decided(self, answers: Answers, threshold: float | None = None) -> Array:
        """Return the classes as called: the cheapest, or the second of two from above a threshold on."""
        chances = answers.probabilities
        costs = self.costs if threshold is None or self.costs is not None else costs_of_threshold(threshold)
        if self.classes is None or chances is None or costs is None:
            return answers.predicted
        return np.asarray(self.classes[least_cost(chances, costs)])

    def error(
        self, actual: Array, answers: Answers, weights: Array | None = None, threshold: float | None = None
    ) -> float:
        """Return the error on some rows; weights stand for repetitions."""
        losses = self.losses(actual, answers, threshold)
        if losses is None:
            called = Answers(self.decided(answers, threshold), answers.probabilities, answers.ranking)
            return self.by_scikit_learn(actual, called, weights)
        mean = float(np.average(losses, weights=weights))
        return float(np.sqrt(mean)) if self.name == RMSE else mean

    def losses(self, actual: Array, answers: Answers, threshold: float | None = None) -> Array | None:
        """Return what each row adds to the error, where it is a mean over the rows or the root of one; else nothing."""
        if self.name == RMSE:
            return np.asarray(np.square(actual - answers.predicted))
        if self.costs is None and self.name != ACCURACY:
            return None
        called = self.decided(answers, threshold)
        if self.costs is None:
            return np.asarray(called != actual, dtype=np.float64)
        assert self.classes is not None  # costs are of classes
        paid = self.costs[np.searchsorted(self.classes, actual), np.searchsorted(self.classes, called)]
        return np.asarray(paid)

    def spread(self, actual: Array, answers: Answers, weights: Array | None = None) -> float:
        """Return the standard error of the error: of a mean over rows, or by leaving a tenth of them out at a time."""
        losses = self.losses(actual, answers) if weights is None else None
        if losses is not None and len(losses) > 1:
            of_mean = float(np.std(losses, ddof=1) / np.sqrt(len(losses)))
            error = float(np.sqrt(losses.mean()))
            return of_mean if self.name != RMSE else of_mean / (2 * error) if error > 0 else 0.0
        n_parts = min(JACKKNIFE_PARTS, len(actual))
        if n_parts < 2:
            return 0.0
        part = np.random.default_rng(0).permutation(len(actual)) % n_parts
        errors = []
        for one in range(n_parts):
            rows = np.flatnonzero(part != one)
            try:
                errors.append(self.error(actual[rows], answers.of(rows), None if weights is None else weights[rows]))
            except ValueError:  # a class that only the rows left out have
                continue
        return float(np.sqrt((n_parts - 1) * np.var(errors))) if len(errors) > 1 else 0.0

    def fold_score(self, actual: Array, answers: Answers, weights: Array | None = None) -> FoldScore:
        """Return the error of answers with its spread, and what else is shown of classes."""
        error, spread = self.error(actual, answers, weights), self.spread(actual, answers, weights)
        if self.classes is None:
            return FoldScore(error, spread)
        called = self.decided(answers)
        options = {"labels": np.unique(actual), "average": "macro", "zero_division": 0.0}
        balanced = float(metrics.recall_score(actual, called, sample_weight=weights, **options))
        return FoldScore(error, spread, balanced, *self._of_chances(actual, answers, weights))

    def _of_chances(self, actual: Array, answers: Answers, weights: Array | None) -> tuple[float, float]:
        """Return the area under the ROC curve and the log loss, as far as they are known."""
        assert self.classes is not None  # chances are of classes
        chances, auc, log_loss = answers.probabilities, float("nan"), float("nan")
        if chances is not None:
            log_loss = float(metrics.log_loss(actual, chances, labels=self.classes, sample_weight=weights))
        if len(self.classes) == 2:
            ranking = answers.ranking if chances is None else chances[:, 1]
            truth = actual == self.classes[1]
            if ranking is not None and truth.any() and not truth.all():
                auc = float(metrics.roc_auc_score(truth, ranking, sample_weight=weights))
        elif chances is not None and len(np.unique(actual)) == len(self.classes) <= MOST_AUC_CLASSES:
            options = {"multi_class": "ovr", "labels": self.classes}
            auc = float(metrics.roc_auc_score(actual, chances, sample_weight=weights, **options))
        return auc, log_loss

    @property
    def asks_for_threshold(self) -> bool:
        """Whether another threshold than 1/2 between two classes may do better: the score is of the classes called."""
        is_binary = self.classes is not None and len(self.classes) == 2
        return is_binary and self.is_of_labels and self.costs is None

    def best_threshold(self, actual: Array, chances: Array, weights: Array | None = None) -> float:
        """Return the probability of the second class from which on to call it, with the least error on some rows."""
        both = np.column_stack([1.0 - chances, chances])
        tried = np.unique(np.quantile(chances, np.linspace(0.0, 1.0, N_THRESHOLDS)))
        middles = np.unique([0.5, *((tried[1:] + tried[:-1]) / 2)])
        answers = Answers(actual, both)
        errors = np.array([self.error(actual, answers, weights, threshold) for threshold in middles])
        best = np.flatnonzero(errors <= errors.min())
        return float(middles[best[np.abs(middles[best] - 0.5).argmin()]])

    def by_scikit_learn(self, actual: Array, answers: Answers, weights: Array | None = None) -> float:
        """Return the error as scikit-learn's score of this name computes it."""
        codes = actual if self.classes is None else np.searchsorted(self.classes, actual)
        said = _SaidNumbers(answers) if self.classes is None else _SaidClasses(answers, self.classes)
        options = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as a class that is never called: its precision counts as 0
            try:
                score = float(metrics.get_scorer(self.name)(said, np.zeros((len(actual), 1)), codes, **options))
            except AttributeError:
                raise ValueError(f"it gives no probabilities, which {self.name} asks for") from None
        return 1.0 - score if self.is_score else -score


class _SaidNumbers(RegressorMixin, BaseEstimator):
    """Recorded answers as scikit-learn's scores ask for them: an estimator that says them again."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def predict(self, X: Data) -> Array:
        return self.answers.predicted


class _SaidClasses(ClassifierMixin, BaseEstimator):
    """The same for classes, which are numbered: of two, the second is the one that precision and recall are about."""

    def __init__(self, answers: Answers, classes: Array) -> None:
        self.answers = answers
        self.classes = classes
        self.classes_ = np.arange(len(classes))

    def predict(self, X: Data) -> Array:
        return np.searchsorted(self.classes, self.answers.predicted)

    @available_if(lambda self: self.answers.probabilities is not None)
    def predict_proba(self, X: Data) -> Array | None:
        return self.answers.probabilities

    @available_if(lambda self: self.answers.ranking is not None)
    def decision_function(self, X: Data) -> Array | None:
        return self.answers.ranking


def measure_for(metric: str | pd.DataFrame | None, y: Array, *, is_classification: bool, weighted: bool) -> Measure:
    """Return the measure that a name or a table of costs stands for, or raise a TableError in one sentence."""
    classes = np.unique(y) if is_classification else None
    if metric is None:
        return Measure(ACCURACY if is_classification else RMSE, classes)
    if isinstance(metric, pd.DataFrame):
        if classes is None:
            raise TableError("metric must be the name of a score for a target of numbers, got a table of costs.")
        return Measure(COST, classes, _costs(metric, classes), is_of_labels=True)
    names = [name for name in metrics.get_scorer_names() if name not in OF_CLUSTERS]
    if metric not in names:
        usual = SHORT_NAMES.get(metric.strip().casefold())
        meant = f" Did you mean {usual!r}?" if usual else did_you_mean(metric, names)
        raise TableError(f"metric must be a CSV file of costs or one of {', '.join(names)}, got {metric!r}.{meant}")
    measure = Measure(metric, classes, is_of_labels=_scores(Measure(metric, classes), y, labels_only=True))
    if is_classification and _scores(Measure(metric, None), np.linspace(1.0, 2.0, 10)):
        raise TableError(f"metric must be a score of classes for this target, got {metric!r}, which is of numbers.")
    if not _scores(measure, y):
        what = f"{len(classes)} classes" if classes is not None else "numbers"
        raise TableError(f"metric must suit a target of {what}, got {metric!r}. Use another, such as {_similar(y)}.")
    if weighted and not _scores(measure, y, weights=np.ones(len(y))):
        raise TableError(f"metric must take weights to be used with them, got {metric!r}. Leave one of both out.")
    return measure


def _similar(y: Array) -> str:
    return "f1_macro or neg_log_loss" if y.dtype.kind != "f" else "neg_mean_absolute_error"


def _scores(measure: Measure, y: Array, *, labels_only: bool = False, weights: Array | None = None) -> bool:
    """Return whether a score can be computed for such a target, tried on answers that are right."""
    chances = None
    if measure.classes is not None and not labels_only:
        chances = np.eye(len(measure.classes))[np.searchsorted(measure.classes, y)]
    try:
        return bool(np.isfinite(measure.by_scikit_learn(y, Answers(y, chances), weights)))
    except (ValueError, TypeError, AttributeError):
        return False


def _costs(table: pd.DataFrame, classes: Array) -> Array:
    """Return the costs in the order of the classes; labels are compared as they are written."""
    wanted = [str(label) for label in classes]
    found = table.rename(index=str, columns=str)
    if sorted(found.index) != sorted(wanted) or sorted(found.columns) != sorted(wanted):
        raise TableError(
            f"metric must be a table of costs with a row and a column for each of {wanted} (true class down, called "
            f"class across), got rows {list(found.index)} and columns {list(found.columns)}."
        )
    costs = found.loc[wanted, wanted].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    if not np.isfinite(costs).all():
        raise TableError("metric must be a table of costs that are numbers, got one that is none.")
    return costs
