"""Compare methods on the same splits, never start what does not fit into the time that is left.

A large table has heats first: see ``pellucid.bake_off.heats``. What was measured there says what a fit will take, and
stands in for the scores of the splits if the time ends before any method has one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.heats import heat_sizes, kept_after
from pellucid.bake_off.measures import FoldScore, Measure, answers_of
from pellucid.bake_off.pace import Pace
from pellucid.bake_off.scores import MethodScore, best_of
from pellucid.bake_off.validation_splits import Fold, ValidationSplits
from pellucid.core.budget import Budget
from pellucid.table_model.held_out import HeldOut
from pellucid.tables.understanding import Columns

REFITS = 2.6
"""Fits of a fold's size that come after the choice: one on all learning rows, one on all rows."""
REPORT_SECONDS = 3.0
"""Set aside for what is drawn and written at the end."""
HEAT_SHARE = 0.5
"""Part of the time that heats may take."""
NO_TIME = "no time left"
CUT_SHORT = {"time": NO_TIME, "interruption": "interrupted"}
FAILURES = (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError)


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


def compare(
    contestants: Sequence[Contestant], splits: ValidationSplits, budget: Budget, listen: Callable[[Stage], None]
) -> tuple[list[MethodScore], list[Untried]]:
    """Return the scores of the methods that suit the table and the time, and the reasons why others have none."""
    return _Comparison(splits, budget, listen).run(contestants)


@dataclass
class _Comparison:
    """The methods of one table, from the first heat to the last split."""

    splits: ValidationSplits
    budget: Budget
    listen: Callable[[Stage], None]
    scores: list[MethodScore] = field(default_factory=list)
    untried: list[Untried] = field(default_factory=list)
    paces: dict[str, Pace] = field(default_factory=dict)
    done: int = 0
    total: int = 0

    def run(self, contestants: Sequence[Contestant]) -> tuple[list[MethodScore], list[Untried]]:
        """Return scores and reasons."""
        suited = []
        for contestant in contestants:
            reason = contestant.unsuited(self.splits.columns, self.splits.X)
            if reason:
                self.untried.append(Untried(contestant.name, reason))
            else:
                suited.append(contestant)
        sizes = heat_sizes(self.splits.n_training)
        n_splits = len(self.splits.splits)
        self.total = len(suited) * (n_splits + len(sizes))
        suited, in_heats = self._run_heats(suited, sizes)
        self.total = self.done + len(suited) * n_splits
        for contestant in suited:
            self._take(contestant.name, self._attempt(contestant, self._reserve(), partial(self._folds, contestant)))
        if best_of(self.scores) is None and best_of(in_heats) is not None:
            names = {score.name for score in in_heats}
            return in_heats, [one for one in self.untried if one.name not in names]
        return self.scores, self.untried

    def _run_heats(
        self, contestants: list[Contestant], sizes: Sequence[int]
    ) -> tuple[list[Contestant], list[MethodScore]]:
        """Return the methods that kept up, the best first, and the scores of the last heat that all of them ended."""
        last: list[MethodScore] = []
        until = self.budget.seconds_left() * (1.0 - HEAT_SHARE)
        for size in sizes:
            found: list[MethodScore] = []
            failed: list[str] = []
            for contestant in sorted(contestants, key=lambda one: one.prepare.__name__):  # prepared once for all
                left = self.budget.seconds_left() - until
                if self._expected(contestant.name, size) > left:
                    continue
                score = self._attempt(contestant, until, partial(self._heat, contestant, size))
                if isinstance(score, MethodScore):
                    found.append(score)
                    last = [one for one in last if one.name != score.name] + [score]
                elif score not in CUT_SHORT.values():
                    self._take(contestant.name, score)
                    failed.append(contestant.name)
            kept = kept_after(found)
            timed = {score.name for score in found}
            for contestant in contestants:
                if contestant.name in timed and contestant not in kept:
                    self._take(contestant.name, f"clearly behind after {size:,} rows")
            late = [one for one in contestants if one.name not in timed and one.name not in failed]
            contestants = [*kept, *late]
            last = [score for score in last if score.contestant in contestants]
            if late:  # the next heat takes longer still
                break
        return contestants, last

    def _attempt(
        self, contestant: Contestant, reserve: float, work: Callable[[], MethodScore | str]
    ) -> MethodScore | str:
        """Return the score of a method, or why there is none."""
        self._tell(contestant.name, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the chosen method warns of is said when it is fitted for good
            try:
                score, cut_by = self.budget.attempt(work, self.budget.seconds_left() - reserve)
            except FAILURES as error:
                return f"failed: {' '.join(str(error).split())[:200]}"
        return score if score is not None else CUT_SHORT[cut_by]

    def _heat(self, contestant: Contestant, n_rows: int) -> MethodScore:
        outcome = self._measure(contestant, self.splits.heat(contestant, n_rows))
        pace = Pace(outcome.n_rows, outcome.seconds, contestant.growth).after(self.paces.get(contestant.name))
        self.paces[contestant.name] = pace
        self.done += 1
        self._tell(contestant.name, 0)
        return replace(self._score(contestant, [outcome]), is_from_heat=True)

    def _folds(self, contestant: Contestant) -> MethodScore | str:
        n_splits, n_rows = len(self.splits.splits), self.splits.n_training
        before = self.done
        self.done += n_splits
        if not self._affords(n_splits, self._expected(contestant.name, n_rows)):
            return NO_TIME
        outcomes: list[_Outcome] = []
        for index in range(n_splits):
            outcomes.append(self._measure(contestant, self.splits.fold(contestant, index)))
            self.paces[contestant.name] = Pace(outcomes[-1].n_rows, outcomes[-1].seconds, contestant.growth)
            self._tell(contestant.name, index + 1, before)
            if not self._affords(n_splits - index - 1, outcomes[-1].seconds):
                return NO_TIME
        return self._score(contestant, outcomes)

    def _reserve(self) -> float:
        """Return the seconds that must be left at the end: for the report, and for what follows the best so far."""
        best = best_of(self.scores)
        return REPORT_SECONDS + (REFITS * best.pace.seconds_for(self.splits.n_training) if best else 0.0)

    def _affords(self, n_folds: int, seconds: float) -> bool:
        """Return whether that many folds, and the refits if this method should win, end in time."""
        reserve = self._reserve()
        needed = n_folds * seconds + max(0.0, REPORT_SECONDS + REFITS * seconds - reserve)
        return needed <= self.budget.seconds_left() - reserve

    def _expected(self, name: str, n_rows: int) -> float:
        """Return what a fit to that many rows will take, as far as smaller ones tell; 0 if there was none."""
        return self.paces[name].seconds_for(n_rows) if name in self.paces else 0.0

    def _score(self, contestant: Contestant, outcomes: list[_Outcome]) -> MethodScore:
        balanced = [outcome.score.balanced for outcome in outcomes]
        return MethodScore(
            contestant,
            np.array([outcome.score.error for outcome in outcomes]),
            np.array(balanced) if self.splits.is_classification else None,
            float(np.mean([outcome.n_coefficients for outcome in outcomes])),
            self.paces[contestant.name],
            outcomes[0].score.spread,
            measure=self.splits.measure,
            auc=float(np.mean([outcome.score.auc for outcome in outcomes])),
            log_loss=float(np.mean([outcome.score.log_loss for outcome in outcomes])),
            fit_seconds=float(np.mean([outcome.fit_seconds for outcome in outcomes])),
            predict_seconds=float(np.mean([outcome.predict_seconds for outcome in outcomes])),
            held_out=HeldOut.joined([outcome.held_out for outcome in outcomes]),
        )

    def _measure(self, contestant: Contestant, fold: Fold) -> _Outcome:
        return _measure(contestant, fold, self.splits.columns, self.splits.measure)

    def _take(self, name: str, score: MethodScore | str) -> None:
        if isinstance(score, MethodScore):
            self.scores.append(score)
        else:
            self.untried.append(Untried(name, score))

    def _tell(self, name: str, n_folds: int, before: int | None = None) -> None:
        done = (self.done if before is None else before) + n_folds
        best, left = best_of(self.scores), self.budget.seconds_left()
        self.listen(Stage(name, done, self.total, best, left, self.budget.interrupted))


@dataclass(frozen=True)
class _Outcome:
    """What one fold tells about a method."""

    score: FoldScore
    n_coefficients: int
    fit_seconds: float
    predict_seconds: float
    seconds: float
    n_rows: int
    held_out: HeldOut


def _measure(contestant: Contestant, fold: Fold, columns: Columns, measure: Measure) -> _Outcome:
    start = time.monotonic()
    weights = {} if fold.weights_train is None else {"sample_weight": fold.weights_train}
    method = contestant.method(columns).fit(fold.X_train, fold.y_train, **weights)
    fitted = time.monotonic()
    answers = answers_of(method, fold.X_validation, measure.classes)
    ended = time.monotonic()
    score = measure.fold_score(fold.y_validation, answers, fold.weights_validation)
    if measure.classes is None:
        held_out = HeldOut.of_numbers(fold.y_validation, answers.predicted)
    else:
        of_rows = fold.y_validation, measure.classes, fold.weights_validation
        held_out = HeldOut.of_classes(method, fold.X_validation, *of_rows)
    seconds = fold.seconds + ended - start
    return _Outcome(score, _size_of(method), fitted - start, ended - fitted, seconds, len(fold.y_train), held_out)


def _size_of(method: object) -> int:
    """Return how many numbers a person would have to read: coefficients that are not 0, or splits of trees."""
    trees = getattr(method, "trees_", None)
    if trees is not None:
        return int((~trees.is_leaf).sum())
    return int(np.count_nonzero(getattr(method, "coef_", 0)))
