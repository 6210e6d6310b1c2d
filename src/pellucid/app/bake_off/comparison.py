"""Compare methods on the same splits, never start what does not fit into the time that is left.

A large table has heats first (``heats.py``). What was measured there says what a fit will take, and
stands in for the scores of the splits if the time ends before any method has one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.app.bake_off.closing import plan_explaining, proof_seconds, report_seconds
from pellucid.app.bake_off.compiling_ahead import CompilingAhead
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.heats import (
    FEWEST_ROUNDS,
    FIRST_ROWS,
    MORE_ROUNDS,
    for_heat,
    heat_sizes,
    kept_after,
    within_time,
)
from pellucid.app.bake_off.measures import FoldScore, Measure, answers_of
from pellucid.app.bake_off.scores import MethodScore, Pace, best_of
from pellucid.app.bake_off.tuning import CLOSE, NEAR, start_of, tuned
from pellucid.app.bake_off.validation_splits import Fold, ValidationSplits
from pellucid.app.table_model.class_scores import HeldOut
from pellucid.app.tables.understanding import Columns
from pellucid.core.budget import Budget
from pellucid.core.threads import run_blocks
from pellucid.core.types import Array

REFITS = 2.8
"""Fits of a fold's size that come after the choice: one on all learning rows, one on all rows."""
HEAT_SHARE = 0.5
"""Part of the time that heats may take."""
TUNING_SHARE = 0.7
"""Part of the time that is left after the comparison, in which boosting may be tuned."""
PATIENCE = 2.0
"""A method may take this many times its share of a heat: some others take less."""
MOST_SHARED_SECONDS, QUICK_SECONDS, MOST_SHARED_NUMBERS = 5.0, 0.5, 60_000
"""Fits to small tables have no use for several threads, so several splits are done at a time, if they are not slow."""
CHEAP = ("ridge", "logistic regression", "decision tree")
"""Methods that are tried first, and again where there was time for none."""
LATE_SECONDS = 10.0
"""That such a method may take."""
WARM_ROWS, WARM_ROUNDS = 500, 3
LISTENING = 0.2
"""Seconds of waiting for a compiler, after which Ctrl-C is seen."""
NO_TIME = "no time left"
CUT_SHORT = {"time": NO_TIME, "interruption": "interrupted"}
LATE = tuple(CUT_SHORT.values())
FAILED = "failed: "
"""How the reason begins that a method has which raised an error."""
LONGEST_REASON = 200


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
class FittedMethod:
    """A method with its preparation, both fitted, and the places of the rows that they learned from."""

    prepare: Any
    method: Any
    rows: Array


Offer = Callable[[MethodScore, FittedMethod], None]


def failure(error: Exception) -> str:
    """Return what an error says as the reason that a method, or a part of the report, is missing."""
    said = " ".join(str(error).split())[:LONGEST_REASON]
    if isinstance(error, MemoryError):
        return f"{FAILED}{said or 'there was not enough memory'}"
    return f"{FAILED}{said or type(error).__name__}"


def compare(
    contestants: Sequence[Contestant],
    splits: ValidationSplits,
    budget: Budget,
    listen: Callable[[Stage], None],
    ahead: CompilingAhead | None = None,
    offer: Offer | None = None,
) -> tuple[list[MethodScore], list[Untried]]:
    """Return the scores of the methods that suit the table and the time, and the reasons why others have none.

    ``offer`` is given every method that has a score, as it was fitted to a split.
    """
    return _Contest(splits, budget, listen, ahead or CompilingAhead(), offer).run(contestants)


@dataclass
class _Contest:
    """The methods of one table, from the first heat to the last split."""

    splits: ValidationSplits
    budget: Budget
    listen: Callable[[Stage], None]
    ahead: CompilingAhead
    offer: Offer | None = None
    latest: FittedMethod | None = None
    """Of the method that was fitted last, until it is offered."""
    scores: list[MethodScore] = field(default_factory=list)
    untried: list[Untried] = field(default_factory=list)
    paces: dict[str, Pace] = field(default_factory=dict)
    first: dict[str, _Outcome] = field(default_factory=dict)
    done: int = 0
    total: int = 0
    is_warm: bool = False
    """Whether the loops of boosted trees are loaded."""

    def run(self, contestants: Sequence[Contestant]) -> tuple[list[MethodScore], list[Untried]]:
        """Return scores and reasons."""
        suited = []
        for contestant in contestants:
            reason = contestant.unsuited(self.splits.columns, self.splits.X, self.splits.y)
            if reason:
                self.untried.append(Untried(contestant.name, reason))
            else:
                suited.append(contestant)
        sizes = heat_sizes(self.splits.n_training)
        n_splits = len(self.splits.splits)
        self.total = len(suited) * (n_splits + len(sizes))
        suited, in_heats = self._run_heats(suited, sizes)
        self.total = self.done + len(suited) * n_splits
        seconds = self._seconds_per_fit(suited)
        limited = within_time(suited, self.paces, self.splits.n_training, seconds)
        on_first: list[MethodScore] = []
        later = [one for one in limited if self.ahead.covers(one)]  # compiled meanwhile: when all others have scores
        for together in ([one for one in limited if one not in later], later):
            in_round = self._run_first_split(together, in_heats)
            self._run_other_splits(in_round, drop=bool(sizes))
            on_first += in_round
        self._tune()
        found = next((some for some in (self.scores, on_first, in_heats) if best_of(some) is not None), self.scores)
        if best_of(found) is None and not self.budget.interrupted:
            found = self._run_cheapest(suited)
        names = {score.name for score in found}
        return found, [one for one in self.untried if one.name not in names]

    def _run_cheapest(self, contestants: Sequence[Contestant]) -> list[MethodScore]:
        """Return the scores of the baseline and of one cheap method on few rows: late, but better than no answer."""
        late = {one.name for one in self.untried if one.reason == NO_TIME}
        found: list[MethodScore] = []
        for contestant in sorted(
            (one for one in contestants if one.name in late),
            key=lambda one: (not one.is_baseline, one.name not in CHEAP, self.ahead.covers(one)),
        ):
            size = min(FIRST_ROWS, self.splits.n_training)
            reserve = self.budget.seconds_left() - LATE_SECONDS
            limited = contestant.with_rounds(FEWEST_ROUNDS) if contestant.rounds else contestant
            score = self._attempt(limited, reserve, partial(self._heat, limited, size))
            if isinstance(score, MethodScore):
                found.append(score)
            if best_of(found) is not None:
                break
        return found

    def _run_heats(
        self, contestants: list[Contestant], sizes: Sequence[int]
    ) -> tuple[list[Contestant], list[MethodScore]]:
        """Return the methods that kept up, the best first, and the scores of the last heat that one of them ended."""
        whole = {contestant.name: contestant for contestant in contestants}
        last: list[MethodScore] = []
        until = self.budget.seconds_left() * (1.0 - HEAT_SHARE)
        for size in sizes:
            found: list[MethodScore] = []
            # prepared once for all; methods whose loops are being compiled come last, cheap ones first of all, so that
            # there is an answer soon
            in_order = sorted(
                contestants,
                key=lambda one: (
                    self.ahead.covers(one),
                    bool(last) or not (one.is_baseline or one.name in CHEAP),
                    one.prepare.__name__,
                ),
            )
            for place, contestant in enumerate(in_order):
                left = self.budget.seconds_left() - until
                share = left / (len(in_order) - place)
                limited = for_heat(contestant, self.paces.get(contestant.name), size, share)
                score: MethodScore | str = NO_TIME
                if self._expected(limited, size) <= (share if last else left) * PATIENCE:
                    score = self._attempt(limited, until, partial(self._heat, limited, size))
                if isinstance(score, MethodScore):
                    found.append(score)
                else:
                    self._take(contestant.name, score)
            if best_of(found) is None:  # nobody ended: what was found before stands
                names = {one.name for one in contestants}
                self.untried = [one for one in self.untried if one.name not in names or one.reason not in LATE]
                break
            kept = [contestant.name for contestant in kept_after(found)]
            for score in found:
                if score.name not in kept:
                    self._take(score.name, f"clearly behind after {size:,} rows")
            contestants = [whole[name] for name in kept]
            last = [score for score in found if score.name in kept]
        return contestants, last

    def _run_first_split(self, contestants: Sequence[Contestant], in_heats: Sequence[MethodScore]) -> list[MethodScore]:
        """Return the scores of all methods on the first split: from here on each is a usable answer."""
        found: list[MethodScore] = []
        # last the baseline, which says least
        for contestant in sorted(contestants, key=lambda one: one.is_baseline):
            reserve = self._reserve(best_of([*self.scores, *found]))
            score: MethodScore | str = NO_TIME
            if self._affords(contestant, 1, self._expected(contestant, self.splits.n_training), reserve):
                score = self._attempt(contestant, reserve, partial(self._first_split, contestant))
            if isinstance(score, MethodScore):
                found.append(score)
                continue
            self._take(contestant.name, score)
            if best_of(in_heats) is not None and best_of(found) is None and score in LATE:
                return []  # the best of the heats takes too long: a worse one would be no better answer
        return found

    def _run_other_splits(self, on_first: list[MethodScore], *, drop: bool) -> None:
        """Score the methods on the other splits too, the best first; of a large table those that kept up."""
        ranked = sorted(on_first, key=lambda score: (not score.contestant.is_baseline, score.mean))
        kept = kept_after(on_first) if drop else [score.contestant for score in on_first]
        for score in ranked:
            if score.contestant not in kept:
                self._take(score.name, "clearly behind on the first split")
                continue
            reserve = self._reserve(best_of(self.scores))
            whole = self._attempt(score.contestant, reserve, partial(self._other_splits, score, reserve))
            self._take(score.name, whole)
            if whole in LATE and best_of(self.scores) is None:
                return  # a worse one that ends would be no answer: the first split is

    def _tune(self) -> None:
        """Change the settings of boosting while there is time and it does good."""
        own = next((score for score in self.scores if score.contestant.is_tuned), None)
        boosted = [score for score in self.scores if score.contestant.settings]
        best = best_of(self.scores)
        if own is None or best is None or min(score.mean for score in boosted) > NEAR * best.mean:
            return
        start = min(boosted, key=lambda score: score.worth)
        until = (1.0 - TUNING_SHARE) * self.budget.seconds_left()
        found = own
        for score in tuned(own.contestant, start_of(start), start, partial(self._tried, until=until)):
            found = score
        self.scores = [found if score is own else score for score in self.scores]

    def _tried(self, contestant: Contestant, best: MethodScore, *, until: float) -> MethodScore | str | None:
        """Return the score of a changed method, nothing if the first split says no, or why there was no time for it."""
        reserve = max(until, self._reserve(best_of(self.scores)))
        expected = (
            best.pace.seconds_for(self.splits.n_training) * contestant.n_rounds / max(1, best.contestant.n_rounds)
        )
        if not self._affords(contestant, len(self.splits.splits), expected, reserve):
            return NO_TIME
        first = self._attempt(contestant, reserve, partial(self._first_split, contestant))
        if not isinstance(first, MethodScore):
            return first if first in LATE else None
        if first.errors[0] > CLOSE * best.errors[0]:
            return None
        return self._attempt(contestant, reserve, partial(self._other_splits, first, reserve))

    def _attempt(
        self, contestant: Contestant, reserve: float, work: Callable[[], MethodScore | str]
    ) -> MethodScore | str:
        """Return the score of a method, or why there is none."""
        if self.ahead.covers(contestant):
            self._tell("compiling trees, once on this machine")
            while self.ahead.covers(contestant) and not self.budget.interrupted:
                left = self.budget.seconds_left() - reserve
                if left <= 0.0:
                    return NO_TIME
                self.ahead.wait(min(left, LISTENING))
        self._tell(contestant.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the chosen method warns of is said when it is fitted for good
            try:
                score, cut_by = self.budget.attempt(work, self.budget.seconds_left() - reserve)
            except Exception as error:  # whatever is wrong with one method, the others go on
                return failure(error)
        fitted, self.latest = self.latest, None
        if isinstance(score, MethodScore) and fitted is not None and self.offer is not None:
            self.offer(score, fitted)  # after the attempt: what is written there must not be cut short
        return score if score is not None else CUT_SHORT[cut_by]

    def _heat(self, contestant: Contestant, n_rows: int) -> MethodScore:
        outcome = self._measure(contestant, self.splits.heat(contestant, n_rows))
        self.paces[contestant.name] = outcome.pace(contestant).after(self.paces.get(contestant.name))
        self.latest = outcome.fitted
        self.done += 1
        self._tell(contestant.name)
        return replace(self._score(contestant, [outcome]), is_from_heat=True)

    def _first_split(self, contestant: Contestant) -> MethodScore:
        outcome = self._measure(contestant, self.splits.fold(contestant, 0))
        self.latest, outcome = outcome.fitted, replace(outcome, fitted=None)
        self.first[contestant.name] = outcome
        self.paces[contestant.name] = outcome.pace(contestant)
        self.done += 1
        self._tell(contestant.name)
        return self._score(contestant, [outcome])

    def _other_splits(self, score: MethodScore, reserve: float) -> MethodScore | str:
        contestant, outcomes = score.contestant, [self.first[score.name]]
        others = range(1, len(self.splits.splits))

        def measure(index: int) -> _Outcome:
            outcome = self._measure(contestant, self.splits.fold(contestant, index))
            if index < len(others):
                return replace(outcome, fitted=None)  # one is enough to offer
            self.latest = outcome.fitted
            return outcome

        explaining = self._explaining_seconds(score)
        if not self._affords(contestant, len(others), outcomes[0].seconds, reserve, explaining):
            return NO_TIME
        is_small = self.splits.n_training * self.splits.X.shape[1] <= MOST_SHARED_NUMBERS
        if outcomes[0].seconds <= (MOST_SHARED_SECONDS if is_small else QUICK_SECONDS):
            outcomes += run_blocks(measure, others)
            self.done += len(others)
        else:
            for index in others:
                outcomes.append(measure(index))
                self.done += 1
                self._tell(contestant.name)
                if not self._affords(contestant, len(others) - index, outcomes[-1].seconds, reserve, explaining):
                    return NO_TIME
        return self._score(contestant, outcomes)

    def _reserve(self, best: MethodScore | None) -> float:
        """Return the seconds that must be left at the end: for the report, and for what follows the best so far."""
        after = self._report_seconds()
        if best is None:
            return after
        after += self._explaining_seconds(best)
        return after + self._after_choosing(best.contestant, best.pace.seconds_for(self.splits.n_training))

    def _explaining_seconds(self, score: MethodScore) -> float:
        return plan_explaining(score, len(self.splits.columns.kinds), self.budget.seconds).seconds

    def _report_seconds(self) -> float:
        return self.budget.slowdown * report_seconds(len(self.splits.y))

    def _after_choosing(self, contestant: Contestant, seconds: float) -> float:
        """Return what the last fits of a method and its proof take, if a fit to a split takes so long."""
        return REFITS * seconds + proof_seconds(contestant, seconds, self.budget.seconds)

    def _affords(
        self, contestant: Contestant, n_folds: int, seconds: float, reserve: float, explaining: float = 0.0
    ) -> bool:
        """Return whether that many folds, and what follows if this method should win, end in time."""
        after = self._report_seconds() + explaining + self._after_choosing(contestant, seconds)
        needed = n_folds * seconds + max(0.0, after - reserve)
        return needed <= self.budget.seconds_left() - reserve

    def _seconds_per_fit(self, contestants: Sequence[Contestant]) -> float:
        """Return what a fit may take such that all methods end the first split, and the best of them all splits."""
        left = self.budget.seconds_left() - self._report_seconds()
        return left / (len(contestants) + REFITS + len(self.splits.splits) - 1)

    def _expected(self, contestant: Contestant, n_rows: int) -> float:
        """Return what a fit to that many rows will take, as far as smaller ones tell; 0 if there was none."""
        pace = self.paces.get(contestant.name)
        if pace is None:
            return 0.0
        return pace.seconds_for(n_rows, min(contestant.n_rounds, MORE_ROUNDS * pace.rounds) or None)

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
            n_predicted=round(np.mean([outcome.n_predicted for outcome in outcomes])),
            held_out=HeldOut.joined([outcome.held_out for outcome in outcomes]),
            by_split=tuple(outcome.held_out for outcome in outcomes),
        )

    def _measure(self, contestant: Contestant, fold: Fold) -> _Outcome:
        if contestant.rounds and not self.is_warm:
            self.is_warm = True
            _warm_up(contestant, fold, self.splits.columns)
        return _measure(contestant, fold, self.splits.columns, self.splits.measure)

    def _take(self, name: str, score: MethodScore | str) -> None:
        if isinstance(score, MethodScore):
            self.scores.append(score)
        else:
            self.untried.append(Untried(name, score))

    def _tell(self, name: str) -> None:
        best, left = best_of(self.scores), self.budget.seconds_left()
        self.listen(Stage(name, self.done, self.total, best, left, self.budget.interrupted))


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
    n_predicted: int
    rounds: int = 1
    fitted: FittedMethod | None = None

    def pace(self, contestant: Contestant) -> Pace:
        """Return what the fit says about larger ones."""
        return Pace(self.n_rows, self.seconds, contestant.growth, rounds=self.rounds)


def _measure(contestant: Contestant, fold: Fold, columns: Columns, measure: Measure) -> _Outcome:
    from pellucid.app.bake_off.compile_time_kernels import Stopwatch

    weights = {} if fold.weights_train is None else {"sample_weight": fold.weights_train}
    watch = Stopwatch()
    method = contestant.method(columns, fold.y_train).fit(fold.X_train, fold.y_train, **weights)
    fitted = watch.seconds()
    answers = measure.within_limits(answers_of(method, fold.X_validation, measure.classes))
    ended = watch.seconds()
    score = measure.fold_score(fold.y_validation, answers, fold.weights_validation)
    if measure.classes is None:
        held_out = HeldOut.of_numbers(fold.y_validation, answers.predicted)
    else:
        of_rows = fold.y_validation, measure.classes, fold.weights_validation
        held_out = HeldOut.of_classes(method, fold.X_validation, *of_rows, answers.probabilities)
    seconds = fold.seconds + ended
    rounds = max(1, getattr(method, "n_iter_", 1)) if contestant.rounds else 1
    n_rows = len(fold.y_train)
    took = fitted, ended - fitted, seconds
    as_fitted = FittedMethod(fold.prepare, method, fold.rows_train)
    return _Outcome(score, _size_of(method), *took, n_rows, held_out, len(fold.y_validation), rounds, as_fitted)


def _warm_up(contestant: Contestant, fold: Fold, columns: Columns) -> None:
    """Fit a few rounds to a few rows: loops that lie compiled on the disk take a second to load.

    That second is no part of the pace of a method: a larger fit would be expected to take as many times longer.
    """
    few = slice(WARM_ROWS)
    try:
        method = contestant.with_rounds(WARM_ROUNDS).method(columns, fold.y_train)
        method.fit(fold.X_train[few], fold.y_train[few]).predict(fold.X_validation[few])
    except Exception:  # too few rows of a class, for instance: then the first fit loads them
        return


def _size_of(method: object) -> int:
    """Return how many numbers a person would have to read: coefficients that are not 0, or splits of trees."""
    trees = getattr(method, "trees_", None)
    if trees is not None:
        return int((~trees.is_leaf).sum())
    return int(np.count_nonzero(getattr(method, "coef_", 0)))
