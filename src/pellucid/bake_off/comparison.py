"""Compare methods on the same splits, never start what does not fit into the time that is left, and choose one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import recall_score
from sklearn.utils import check_random_state

from pellucid.bake_off.contestants import Contestant
from pellucid.core.budget import Budget
from pellucid.core.types import Array
from pellucid.model_selection.recipes import chosen_by, split_error, standard_error
from pellucid.tables.understanding import Columns

MANY_ROWS = 4000
"""With more rows a method is tried on a sample first, to see what it costs."""
SAMPLE = 1 / 8
REFITS = 2.6
"""Fits of a fold's size that come after the choice: one on all learning rows, one on all rows."""
REPORT_SECONDS = 3.0
"""Set aside for what is drawn and written at the end."""
MOST_KEPT_NUMBERS = 60_000_000
"""Prepared splits with more numbers than this in all are made again for every method."""
NO_TIME = "no time left"
CUT_SHORT = {"time": NO_TIME, "interruption": "interrupted"}


@dataclass(frozen=True)
class MethodScore:
    """A method's validation errors: the share of mistakes, or the root mean squared error, of each split."""

    contestant: Contestant
    errors: Array
    balanced: Array | None
    """The mean over the classes of the share of their rows that is found; None for regression."""
    n_coefficients: float
    fold_seconds: float
    spread_of_rows: float
    """The standard error of the error of a single split."""

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.contestant.name

    @property
    def is_classification(self) -> bool:
        """Whether the errors are shares of mistakes."""
        return self.balanced is not None

    @property
    def mean(self) -> float:
        """Mean over the splits."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean: over the splits, or over the rows if there is one split."""
        return standard_error(self.errors) if len(self.errors) > 1 else self.spread_of_rows


@dataclass(frozen=True)
class Untried:
    """A method that was not compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Stage:
    """Where a bake-off stands, for those who watch it."""

    method: str
    done: int
    total: int
    best: MethodScore | None
    seconds_left: float
    interrupted: bool = False


@dataclass(frozen=True)
class Fold:
    """Matrices of one split and the seconds it took to prepare them."""

    X_train: Any
    X_validation: Any
    y_train: Array
    y_validation: Array
    seconds: float


@dataclass
class ValidationSplits:
    """The rows to learn from, split for validation; each split is prepared once for all methods that want the same."""

    columns: Columns
    X: pd.DataFrame
    y: Array
    splits: list[tuple[Array, Array]]
    is_classification: bool
    _prepare: Any = None
    _folds: dict[int, Fold] = field(default_factory=dict)

    def fold(self, contestant: Contestant, index: int) -> Fold:
        """Return a split prepared for a method."""
        if contestant.prepare is not self._prepare:
            self._prepare, self._folds = contestant.prepare, {}
        if index in self._folds:
            return self._folds[index]
        fold = self._prepared(contestant, *self.splits[index])
        if np.prod(fold.X_train.shape, dtype=float) * len(self.splits) <= MOST_KEPT_NUMBERS:
            self._folds[index] = fold
        return fold

    def sample(self, contestant: Contestant, share: float) -> Fold:
        """Return a share of the first split, prepared: enough to see what the whole will cost."""
        draw = check_random_state(0)
        train, validation = (
            np.sort(draw.choice(rows, max(2, int(share * len(rows))), replace=False)) for rows in self.splits[0]
        )
        return self._prepared(contestant, train, validation)

    def _prepared(self, contestant: Contestant, train: Array, validation: Array) -> Fold:
        start = time.monotonic()
        inside = self.X.iloc[train]
        transformer = contestant.prepare(self.columns, inside)
        X_train, X_validation = transformer.fit_transform(inside), transformer.transform(self.X.iloc[validation])
        return Fold(X_train, X_validation, self.y[train], self.y[validation], time.monotonic() - start)


def compare(
    contestants: Sequence[Contestant], splits: ValidationSplits, budget: Budget, listen: Callable[[Stage], None]
) -> tuple[list[MethodScore], list[Untried]]:
    """Return the scores of the methods that suit the table and the time, and the reasons why others have none."""
    scores: list[MethodScore] = []
    untried: list[Untried] = []
    n_splits = len(splits.splits)
    for place, contestant in enumerate(contestants):
        best = best_of(scores)

        def tell(done: int, before: int = place * n_splits, name: str = contestant.name) -> None:
            total = len(contestants) * n_splits
            listen(Stage(name, before + done, total, best_of(scores), budget.seconds_left(), budget.interrupted))

        trial = _Trial(contestant, splits, budget, REPORT_SECONDS + (REFITS * best.fold_seconds if best else 0.0), tell)
        score = contestant.unsuited(splits.columns, splits.X) or trial.run()
        if isinstance(score, MethodScore):
            scores.append(score)
        else:
            untried.append(Untried(contestant.name, score))
    return scores, untried


def best_of(scores: Sequence[MethodScore]) -> MethodScore | None:
    """Return the method with the least error, the baseline aside."""
    return min((score for score in scores if not score.contestant.is_baseline), key=lambda s: s.mean, default=None)


def choose(scores: Sequence[MethodScore], *, one_standard_error: bool) -> MethodScore:
    """Return the method with the least error, or the simplest within one standard error of it; never the baseline.

    A method with fewer coefficients is simpler; one without any, such as neighbors, is the least simple.
    """
    candidates = [score for score in scores if not score.contestant.is_baseline]
    if not one_standard_error:
        return min(candidates, key=lambda score: score.mean)
    simplest_first = sorted(candidates, key=lambda score: (score.n_coefficients or float("inf"), score.mean))
    names = {score.name: score for score in simplest_first}
    return names[chosen_by({name: score.errors for name, score in names.items()}, "one standard error")]


def why(chosen: MethodScore, scores: Sequence[MethodScore]) -> str:
    """Return the sentence that says why the method was chosen."""
    best = choose(scores, one_standard_error=False)
    name = best.name[:1].upper() + best.name[1:]
    if chosen is best:
        return f"{name} made the smallest error on rows it had not seen, so it was chosen."
    return (
        f"{name} made the smallest error; {chosen.name} is within one standard error of it with fewer coefficients, "
        "so it was chosen."
    )


@dataclass
class _Trial:
    """One method on all splits."""

    contestant: Contestant
    splits: ValidationSplits
    budget: Budget
    reserve: float
    """Seconds that must be left at the end."""
    tell: Callable[[int], None]

    def run(self) -> MethodScore | str:
        """Return the score, or why there is none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the chosen method warns of is said when it is fitted for good
            try:
                score, cut_by = self.budget.attempt(self._run, self.budget.seconds_left() - self.reserve)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
                return f"failed: {' '.join(str(error).split())[:200]}"
        return score if score is not None else CUT_SHORT[cut_by]

    def _run(self) -> MethodScore | str:
        self.tell(0)
        n_splits = len(self.splits.splits)
        if len(self.splits.y) > MANY_ROWS and not self._affords(n_splits, self._expected_seconds()):
            return NO_TIME
        outcomes: list[_Outcome] = []
        for index in range(n_splits):
            outcomes.append(_measure(self.contestant, self.splits.fold(self.contestant, index)))
            self.tell(index + 1)
            if not self._affords(n_splits - index - 1, outcomes[-1].seconds):
                return NO_TIME
        return self._score(outcomes)

    def _affords(self, n_folds: int, seconds: float) -> bool:
        """Return whether that many folds, and the refits if this method should win, end in time."""
        needed = n_folds * seconds + max(0.0, REPORT_SECONDS + REFITS * seconds - self.reserve)
        return needed <= self.budget.seconds_left() - self.reserve

    def _expected_seconds(self) -> float:
        """Return what a fold will cost: a constant and a power of the rows, through two samples."""
        half, whole = (_measure(self.contestant, self.splits.sample(self.contestant, s)) for s in (SAMPLE / 2, SAMPLE))
        if whole.seconds <= half.seconds:  # the first fit may have compiled something, so that only the second counts
            return whole.seconds / SAMPLE
        power = self.contestant.growth
        slope = (whole.seconds - half.seconds) / (SAMPLE**power - (SAMPLE / 2) ** power)
        return whole.seconds + slope * (1 - SAMPLE**power)

    def _score(self, outcomes: list[_Outcome]) -> MethodScore:
        balanced = [outcome.balanced for outcome in outcomes]
        return MethodScore(
            self.contestant,
            np.array([outcome.error for outcome in outcomes]),
            np.array(balanced) if self.splits.is_classification else None,
            float(np.mean([outcome.n_coefficients for outcome in outcomes])),
            float(np.mean([outcome.seconds for outcome in outcomes])),
            outcomes[0].spread,
        )


@dataclass(frozen=True)
class _Outcome:
    """What one fold tells about a method."""

    error: float
    spread: float
    balanced: float
    n_coefficients: int
    seconds: float


def _measure(contestant: Contestant, fold: Fold) -> _Outcome:
    start = time.monotonic()
    method = contestant.make().fit(fold.X_train, fold.y_train)
    predicted = np.asarray(method.predict(fold.X_validation))
    seconds = fold.seconds + time.monotonic() - start
    is_classification = fold.y_train.dtype.kind != "f"
    error = split_error(fold.y_validation, predicted, is_classification)
    losses = predicted != fold.y_validation if is_classification else np.square(predicted - fold.y_validation)
    spread = float(np.std(losses, ddof=1) / np.sqrt(len(losses))) if len(losses) > 1 else 0.0
    balanced = float("nan")
    if is_classification:
        present = np.unique(fold.y_validation)
        balanced = float(recall_score(fold.y_validation, predicted, labels=present, average="macro", zero_division=0.0))
    else:
        error = float(np.sqrt(error))
        spread = spread / (2 * error) if error > 0 else 0.0
    return _Outcome(error, spread, balanced, int(np.count_nonzero(getattr(method, "coef_", 0))), seconds)
