"""Compare methods on the same splits, and never start what does not fit into the time that is left."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import recall_score

from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.learning_rows import Fold, LearningRows
from pellucid.core.budget import Budget
from pellucid.core.types import Array
from pellucid.model_selection.recipes import split_error, standard_error

MANY_ROWS = 4000
"""With more rows a method is tried on a sample first, to see what it costs."""
SAMPLE = 1 / 8
REFITS = 2.6
"""Fits of a fold's size that come after the choice: one on all learning rows, one on all rows."""
REPORT_SECONDS = 3.0
"""Set aside for what is drawn and written at the end."""
NO_TIME = "no time left"
CUT_SHORT = {"time": NO_TIME, "interruption": "interrupted"}


@dataclass(frozen=True)
class Score:
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
    """Where a comparison stands."""

    method: str
    done: int
    total: int
    best: Score | None
    seconds_left: float
    interrupted: bool = False


def compare(
    contestants: Sequence[Contestant], rows: LearningRows, budget: Budget, listen: Callable[[Stage], None]
) -> tuple[list[Score], list[Untried]]:
    """Return the scores of the methods that suit the table and the time, and the reasons why others have none."""
    scores: list[Score] = []
    untried: list[Untried] = []
    total = len(contestants) * len(rows.splits)
    for place, contestant in enumerate(contestants):
        best = best_of(scores)

        def say(done: int, before: int = place * len(rows.splits), name: str = contestant.name) -> None:
            listen(Stage(name, before + done, total, best_of(scores), budget.seconds_left(), budget.interrupted))

        trial = _Trial(contestant, rows, budget, REPORT_SECONDS + (REFITS * best.fold_seconds if best else 0.0), say)
        found = contestant.unsuited(rows.columns, rows.X) or trial.run()
        if isinstance(found, Score):
            scores.append(found)
        else:
            untried.append(Untried(contestant.name, found))
    return scores, untried


def best_of(scores: Sequence[Score]) -> Score | None:
    """Return the method with the least error, the baseline aside."""
    return min((score for score in scores if not score.contestant.is_baseline), key=lambda s: s.mean, default=None)


@dataclass
class _Trial:
    """One method on all splits."""

    contestant: Contestant
    rows: LearningRows
    budget: Budget
    reserve: float
    """Seconds that must be left at the end."""
    say: Callable[[int], None]

    def run(self) -> Score | str:
        """Return the score, or why there is none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the chosen method warns of is said when it is fitted for good
            try:
                found, cut = self.budget.attempt(self._run, self.budget.seconds_left() - self.reserve)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
                return f"failed: {' '.join(str(error).split())[:200]}"
        return found if found is not None else CUT_SHORT[cut]

    def _run(self) -> Score | str:
        self.say(0)
        n_splits = len(self.rows.splits)
        if len(self.rows.y) > MANY_ROWS and not self._affords(n_splits, self._expected_seconds()):
            return NO_TIME
        outcomes: list[_Outcome] = []
        for index in range(n_splits):
            outcomes.append(_measure(self.contestant, self.rows.fold(self.contestant, index)))
            self.say(index + 1)
            if not self._affords(n_splits - index - 1, outcomes[-1].seconds):
                return NO_TIME
        return self._score(outcomes)

    def _affords(self, n_folds: int, seconds: float) -> bool:
        """Return whether that many folds, and the refits if this method should win, end in time."""
        needed = n_folds * seconds + max(0.0, REPORT_SECONDS + REFITS * seconds - self.reserve)
        return needed <= self.budget.seconds_left() - self.reserve

    def _expected_seconds(self) -> float:
        """Return what a fold will cost: a constant and a power of the rows, through two samples."""
        half, whole = (_measure(self.contestant, self.rows.sample(self.contestant, s)) for s in (SAMPLE / 2, SAMPLE))
        if whole.seconds <= half.seconds:  # the first fit may have compiled something, so that only the second counts
            return whole.seconds / SAMPLE
        power = self.contestant.growth
        slope = (whole.seconds - half.seconds) / (SAMPLE**power - (SAMPLE / 2) ** power)
        return whole.seconds + slope * (1 - SAMPLE**power)

    def _score(self, outcomes: list[_Outcome]) -> Score:
        balanced = [outcome.balanced for outcome in outcomes]
        return Score(
            self.contestant,
            np.array([outcome.error for outcome in outcomes]),
            np.array(balanced) if self.rows.is_classification else None,
            float(np.mean([outcome.n_coefficients for outcome in outcomes])),
            float(np.mean([outcome.seconds for outcome in outcomes])),
            outcomes[0].spread,
        )


@dataclass(frozen=True)
class _Outcome:
    error: float
    spread: float
    balanced: float
    n_coefficients: int
    seconds: float


def _measure(contestant: Contestant, fold: Fold) -> _Outcome:
    start = time.monotonic()
    method = contestant.make().fit(fold.X_train, fold.y_train)
    given = np.asarray(method.predict(fold.X_validation))
    seconds = fold.seconds + time.monotonic() - start
    is_classification = fold.y_train.dtype.kind != "f"
    error = split_error(fold.y_validation, given, is_classification)
    losses = given != fold.y_validation if is_classification else np.square(given - fold.y_validation)
    spread = float(np.std(losses, ddof=1) / np.sqrt(len(losses))) if len(losses) > 1 else 0.0
    balanced = float("nan")
    if is_classification:
        present = np.unique(fold.y_validation)
        balanced = float(recall_score(fold.y_validation, given, labels=present, average="macro", zero_division=0.0))
    else:
        error = float(np.sqrt(error))
        spread = spread / (2 * error) if error > 0 else 0.0
    return _Outcome(error, spread, balanced, int(np.count_nonzero(getattr(method, "coef_", 0))), seconds)
