"""The bake-off itself, step by step."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from pellucid.bake_off.choosing import choose, why
from pellucid.bake_off.comparing import NO_TIME, Score, Stage, compare
from pellucid.bake_off.contestants import CLASSIFIERS, REGRESSORS, Contestant
from pellucid.bake_off.driving import Importance, coefficients, importances, without_steps
from pellucid.bake_off.effects import effects
from pellucid.bake_off.judging import Judgement, count_seen_before, judge_classes, judge_numbers
from pellucid.bake_off.learning_rows import LearningRows
from pellucid.bake_off.notes import notes_on_choice, notes_on_classes, notes_on_suspects, notes_on_table, notes_on_time
from pellucid.bake_off.result import BakeOff, Plan
from pellucid.bake_off.stopping import Stopper
from pellucid.bake_off.suspects import find_suspects
from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.core.types import Array
from pellucid.model_selection import (
    CrossValidationTest,
    ErrorCurve,
    Recipe,
    ResamplingTest,
    TestVault,
    TrainValidationTest,
    error_against_size,
)
from pellucid.tables.column_reader import ColumnReader
from pellucid.tables.errors import TableError
from pellucid.tables.target import Target, choose_target
from pellucid.tables.understanding import Columns, understand

TEST_SHARE = 0.2
FEWEST_ROWS = 10
RECIPES: dict[str, Callable[[int, int], Recipe]] = {
    "cv": lambda folds, seed: CrossValidationTest(TEST_SHARE, random_state=seed, n_splits=folds),
    "split": lambda _folds, seed: TrainValidationTest(TEST_SHARE, random_state=seed),
    "resample": lambda folds, seed: ResamplingTest(TEST_SHARE, random_state=seed, n_splits=folds),
}
CURVE_SIZES = (0.1, 0.25, 0.5, 1.0)
CURVE_FOLDS = 3
CURVE_COST = 5.0
"""A learning curve costs about this many folds of the comparison."""
END_SECONDS = 1.5
"""Kept for writing, when a learning curve or importances take the rest of the time."""


def _hear_nothing(_stage: Stage) -> None:
    return None


def bake_off(
    frame: pd.DataFrame,
    target: str,
    *,
    task: str = "auto",
    recipe: str = "cv",
    seconds: float = 300.0,
    folds: int = 5,
    seed: int = 0,
    one_standard_error: bool = False,
    listen: Callable[[Stage], None] = _hear_nothing,
) -> BakeOff:
    """Compare the methods that suit a table, choose one, judge it once on rows kept aside, fit it on every row.

    Ctrl-C ends the comparison and goes on with the best so far; a second one ends everything.

    Parameters
    ----------
    frame : DataFrame
        One row per example; numbers, words, dates, texts and gaps as they are.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}, default="auto"
    recipe : {"cv", "split", "resample"}, default="cv"
        Cross-validation, one validation set, or ``folds`` random ones.
    seconds : float, default=300
        The time budget; a method that would not end in it is not started.
    folds : int, default=5
        Splits of the learning rows.
    seed : int, default=0
        Seed of all splits.
    one_standard_error : bool, default=False
        Whether to choose the simplest method within one standard error of the best.
    listen : callable, default=nothing
        Told about every stage.
    """
    check_one_of(RECIPES, recipe=recipe)
    check_positive(seconds=seconds)
    check_whole(low=2, folds=folds)
    plan = Plan(recipe, folds, seed, seconds, one_standard_error)
    with Stopper(seconds) as stopper:
        chosen_target = choose_target(frame, target, task)
        rows = frame.loc[chosen_target.rows]
        _check_enough(len(rows), folds)
        return _Job(rows, chosen_target, understand(rows, target), plan, stopper, listen).run()


def _check_enough(n_rows: int, folds: int) -> None:
    fewest = max(FEWEST_ROWS, 2 * folds)
    if n_rows < fewest:
        raise TableError(f"table must have at least {fewest} rows with a target, got {n_rows}. Add rows.")


class _Job:
    """One bake-off: what its steps share."""

    def __init__(
        self,
        frame: pd.DataFrame,
        target: Target,
        columns: Columns,
        plan: Plan,
        stopper: Stopper,
        listen: Callable[[Stage], None],
    ) -> None:
        self.start = time.monotonic()
        self.target, self.columns, self.plan, self.stopper, self.listen = target, columns, plan, stopper, listen
        self.reader = ColumnReader(dict(columns.kinds)).fit(frame, target.values)
        self.X = self.reader.transform(frame)
        self.recipe = RECIPES[plan.recipe](plan.folds, plan.seed)
        self.vault = TestVault(self.X, target.values, test_size=TEST_SHARE, random_state=plan.seed)

    def run(self) -> BakeOff:
        X, y = self.vault.learning
        scores, untried = compare(self._contestants(), self._learning_rows(X, y), self.stopper, self.listen)
        scores.sort(key=lambda score: score.mean)
        if not any(not score.contestant.is_baseline for score in scores):
            raise self._nothing_found(untried)
        chosen = choose(scores, one_standard_error=self.plan.one_standard_error)
        interrupted = self.stopper.interrupted
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._say("the final fit", chosen)
            model = self._pipeline(chosen.contestant, self.X).fit(self.X, self.target.values)
        said = list(dict.fromkeys(str(warning.message) for warning in caught))
        suspects = find_suspects(X, y, is_classification=self.target.is_classification, seed=self.plan.seed)
        judgement, drivers = self._judge(chosen)
        curve = self._curve(chosen)
        weights, intercept = coefficients(model, self.columns)
        curves = effects(model, self.X)
        notes = [
            *notes_on_time(untried, interrupted),
            *notes_on_suspects(suspects, self.target),
            *notes_on_choice(chosen, scores, judgement),
            *notes_on_classes(self.target, judgement),
            *notes_on_table(self.target, self.columns),
            *said,
        ]
        return BakeOff(
            model=Pipeline([("columns", self.reader), *model.steps]),
            target=self.target,
            columns=self.columns,
            plan=self.plan,
            scores=tuple(scores),
            untried=tuple(untried),
            chosen=chosen,
            reason=why(chosen, scores),
            judgement=judgement,
            n_learning=len(y),
            vault_log=self.vault.log,
            curve=curve,
            importances=drivers,
            coefficients=without_steps(weights),
            intercept=intercept,
            effects=curves,
            notes=tuple(notes),
            interrupted=interrupted,
            seconds=time.monotonic() - self.start,
        )

    def _contestants(self) -> tuple[Contestant, ...]:
        return CLASSIFIERS if self.target.is_classification else REGRESSORS

    def _learning_rows(self, X: Any, y: Array) -> LearningRows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds: some have none of it
            splitter = self.recipe.splitter(is_classification=self.target.is_classification)
            splits = list(splitter.split(X, y))
        return LearningRows(self.columns, X, y, splits, self.target.is_classification)

    def _pipeline(self, contestant: Contestant, read: pd.DataFrame) -> Pipeline:
        return Pipeline([("prepare", contestant.prepare(self.columns, read)), ("method", contestant.make())])

    def _judge(self, chosen: Score) -> tuple[Judgement, list[Importance] | str]:
        """Open the vault once: estimate the error of the method, trained on the learning rows, and what drives it."""
        X, y = self.vault.learning
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._say("the estimate on rows kept aside", chosen)
            model = self._pipeline(chosen.contestant, X).fit(X, y)
            X_test, y_test = self.vault.open(f"final estimate of {chosen.contestant.name}")
            if self.target.is_classification:
                judgement = judge_classes(model, X_test, y_test)
            else:
                judgement = judge_numbers(model, X_test, y_test, float(y.mean()), self.plan.seed)
            drivers, cut = self.stopper.attempt(
                lambda: importances(
                    model,
                    X_test,
                    y_test,
                    self._groups(),
                    is_classification=self.target.is_classification,
                    seed=self.plan.seed,
                ),
                self.stopper.left() - END_SECONDS,
            )
        seen = count_seen_before(X, X_test)
        judgement = Judgement(**(vars(judgement) | {"n_seen_before": seen}))
        return judgement, drivers if drivers is not None else _excuse(cut)

    def _groups(self) -> dict[str, list[str]]:
        """Return the columns of the read table that stand for each column of the table."""
        return {name: self.reader.names_of(name) for name in self.columns.kinds}

    def _curve(self, chosen: Score) -> ErrorCurve | str:
        if CURVE_COST * chosen.fold_seconds > self.stopper.left() - END_SECONDS:
            return _excuse("time")
        X, y = self.vault.learning
        kind = StratifiedKFold if self.target.is_classification else KFold
        self._say("the learning curve", chosen)

        def draw() -> ErrorCurve:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return error_against_size(
                    self._pipeline(chosen.contestant, X),
                    X,
                    y,
                    sizes=CURVE_SIZES,
                    cv=kind(CURVE_FOLDS, shuffle=True, random_state=self.plan.seed),
                    scoring=None if self.target.is_classification else "neg_root_mean_squared_error",
                )

        try:
            curve, cut = self.stopper.attempt(draw, self.stopper.left() - END_SECONDS)
        except ValueError as error:  # a class that the smallest training set has no row of
            return f"It could not be drawn: {error}"
        return curve if curve is not None else _excuse(cut)

    def _say(self, what: str, chosen: Score) -> None:
        self.listen(Stage(what, 1, 1, chosen, self.stopper.left(), self.stopper.interrupted))

    def _nothing_found(self, untried: Any) -> BaseException:
        if self.stopper.interrupted:
            return KeyboardInterrupt()
        if any(one.reason == NO_TIME for one in untried):
            return TableError(
                f"time must suffice for one method, got {self.plan.seconds:g} seconds for {len(self.X):,} rows. "
                "Give more."
            )
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in untried)
        return TableError(f"table must suit one method, but none could be fitted ({reasons}).")


def _excuse(cut: str) -> str:
    return {"time": "There was no time left for it.", "interruption": "It was interrupted."}[cut]
