"""The bake-off from top to bottom: understand, lock away, compare, choose, fit for good, judge once, explain."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from pellucid.bake_off.cautions import cautions_on_result, cautions_on_time, learned_from_part
from pellucid.bake_off.comparison import NO_TIME, Stage, Untried, compare
from pellucid.bake_off.contestants import contestants_for
from pellucid.bake_off.final_fit import plan_final_fit
from pellucid.bake_off.importance import coefficients, effects, importances, without_steps
from pellucid.bake_off.judgement import Judgement, judge
from pellucid.bake_off.leakage import find_leaks
from pellucid.bake_off.result import BakeOffResult, Plan
from pellucid.bake_off.scores import MethodScore, best_of, choose
from pellucid.bake_off.tree_story import tell_trees
from pellucid.bake_off.validation_splits import ValidationSplits
from pellucid.core.budget import Budget
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
from pellucid.table_model import TableModel
from pellucid.table_model.error_quantiles import ErrorQuantiles
from pellucid.tables.column_reader import ColumnReader
from pellucid.tables.reading import TableError
from pellucid.tables.understanding import Columns, Target, choose_target, understand

FEWEST_ROWS = 10
TEST_SHARE = 0.2
RECIPES: dict[str, Callable[[int, int], Recipe]] = {
    "cv": lambda folds, seed: CrossValidationTest(TEST_SHARE, random_state=seed, n_splits=folds),
    "split": lambda _folds, seed: TrainValidationTest(TEST_SHARE, random_state=seed),
    "resample": lambda folds, seed: ResamplingTest(TEST_SHARE, random_state=seed, n_splits=folds),
}
CURVE_SIZES = (0.1, 0.25, 0.5, 1.0)
CURVE_FOLDS = 3
CURVE_COST = 5.0
"""A learning curve costs about this many folds of the comparison."""
MOST_EFFECTS = 6
"""Of the most important columns, curves are drawn."""
END_SECONDS, END_SECONDS_PER_ROW = 1.5, 2e-6
"""Kept for writing, when a learning curve or importances take the rest of the time."""
EXCUSES = {"time": "There was no time left for it.", "interruption": "It was interrupted."}

Listener = Callable[[Stage], None]
Result = TypeVar("Result")


@dataclass(frozen=True)
class VaultedTable:
    """A table as understood and read, its test rows locked away."""

    target: Target
    columns: Columns
    reader: ColumnReader
    X: pd.DataFrame
    """The columns as the reader gives them, of all rows with a target."""
    vault: TestVault

    def parts(self) -> dict[str, list[str]]:
        """Return the columns of X that stand for each column of the table, such as the parts of a date."""
        return {name: self.reader.names_of(name) for name in self.columns.kinds}


def _hear_nothing(_stage: Stage) -> None:
    return None


def bake_off(
    frame: pd.DataFrame,
    target: str,
    *,
    task: str = "auto",
    recipe: str = "cv",
    seconds: float = 300.0,
    budget: Budget | None = None,
    folds: int = 5,
    seed: int = 0,
    one_standard_error: bool = False,
    listen: Listener = _hear_nothing,
) -> BakeOffResult:
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
    budget : Budget, default=None
        A budget that runs already, instead of a new one of so many seconds.
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
    check_whole(low=2, folds=folds)
    plan = Plan(recipe, folds, seed, one_standard_error)
    if budget is not None:
        return _bake_off(frame, target, task, plan, budget, listen)
    check_positive(seconds=seconds)
    with Budget(seconds) as budget:
        return _bake_off(frame, target, task, plan, budget, listen)


def _bake_off(frame: pd.DataFrame, name: str, task: str, plan: Plan, budget: Budget, listen: Listener) -> BakeOffResult:
    start = time.monotonic()
    table = _understand(frame, name, task, plan)
    target, columns, vault = table.target, table.columns, table.vault
    learning = vault.learning
    options: dict[str, Any] = {"is_classification": target.is_classification, "seed": plan.seed}
    scores, untried = _compare(table, plan, budget, listen)
    chosen = choose(scores, one_standard_error=plan.one_standard_error)
    not_done = cautions_on_time(untried, budget.interrupted)

    def tell(step: str) -> None:
        listen(Stage(step, 1, 1, chosen, budget.seconds_left(), budget.interrupted))

    tell("the final fit")
    final = plan_final_fit(chosen, len(learning[1]), budget.seconds_left())
    learned, warned = _fit(final.score, columns, *_some_rows(*learning, final.n_rows, plan.seed))
    model = learned
    if final.on_all_rows and not budget.interrupted:
        tell("the fit to every row")
        model, warned = _fit(final.score, columns, table.X, target.values)
    else:
        warned.append(learned_from_part(final.n_rows, len(table.X), chosen.pace.rows))
    tell("the estimate on rows kept aside")
    test = vault.open(f"final estimate of {chosen.name}")
    judgement = judge(learned, learning, test, **options)
    end = END_SECONDS + END_SECONDS_PER_ROW * len(table.X)
    shuffled = _in_time(budget, lambda: importances(learned, *test, table.parts(), **options), end)
    story = _in_time(budget, lambda: tell_trees(learned, columns, *test, learning), end)
    leading = [] if isinstance(shuffled, str) else [one.column for one in shuffled[:MOST_EFFECTS]]
    shown = [part for column in leading for part in table.parts()[column]]
    curves = _in_time(budget, lambda: effects(model, table.X, shown), end)
    tell("the learning curve")
    curve = _learning_curve(table, chosen, budget, **options)
    weights, intercept = coefficients(model, columns)
    leaks = find_leaks(*learning, **options)
    return BakeOffResult(
        model=_table_model(table, model, judgement),
        table=frame,
        target=target,
        columns=columns,
        plan=plan,
        scores=tuple(scores),
        untried=tuple(untried),
        chosen=chosen,
        judgement=judgement,
        vault_log=vault.log,
        curve=curve,
        importances=shuffled,
        coefficients=without_steps(weights),
        intercept=intercept,
        effects=[] if isinstance(curves, str) else curves,
        story=story,
        cautions=(*not_done, *cautions_on_result(chosen, scores, judgement, leaks, target, columns), *warned),
        interrupted=budget.interrupted,
        seconds=time.monotonic() - start,
    )


def _understand(frame: pd.DataFrame, name: str, task: str, plan: Plan) -> VaultedTable:
    """Understand the target and the columns, read them, and lock the test rows away."""
    unnamed = [column for column in frame.columns if not isinstance(column, str)]
    if unnamed:
        raise TableError(f"column names must be texts, got {unnamed[0]!r}. Use frame.rename(columns=str).")
    target = choose_target(frame, name, task)
    rows = frame.loc[target.rows]
    fewest = max(FEWEST_ROWS, 2 * plan.folds)
    if len(rows) < fewest:
        raise TableError(f"table must have at least {fewest} rows with a target, got {len(rows)}. Add rows.")
    columns = understand(rows, name)
    reader = ColumnReader(dict(columns.kinds))
    X = reader.fit_transform(rows, target.values)
    vault = TestVault(X, target.values, test_size=TEST_SHARE, random_state=plan.seed)
    return VaultedTable(target, columns, reader, X, vault)


def _compare(
    table: VaultedTable, plan: Plan, budget: Budget, listen: Listener
) -> tuple[list[MethodScore], list[Untried]]:
    """Return the scores, the best first, and the methods that have none; raise if nothing can be chosen."""
    X, y = table.vault.learning
    is_classification = table.target.is_classification
    splitter = RECIPES[plan.recipe](plan.folds, plan.seed).splitter(is_classification=is_classification)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds: some have none of it
        splits = ValidationSplits(table.columns, X, y, list(splitter.split(X, y)), is_classification, plan.seed)
    scores, untried = compare(contestants_for(is_classification=is_classification), splits, budget, listen)
    if best_of(scores) is not None:
        return sorted(scores, key=lambda score: score.mean), untried
    if budget.interrupted:
        raise KeyboardInterrupt
    if any(one.reason == NO_TIME for one in untried):
        raise TableError(
            f"time must suffice for one method, got {budget.seconds:g} seconds for {len(table.X):,} rows. Give more."
        )
    reasons = "; ".join(f"{one.name}: {one.reason}" for one in untried)
    raise TableError(f"table must suit one method, but none could be fitted ({reasons}).")


def _some_rows(X: pd.DataFrame, y: Array, n_rows: int, seed: int) -> tuple[pd.DataFrame, Array]:
    """Return all rows, or some drawn at random."""
    if n_rows >= len(y):
        return X, y
    rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:n_rows])
    return X.iloc[rows], y[rows]


def _fit(chosen: MethodScore, columns: Columns, X: pd.DataFrame, y: Array) -> tuple[TableModel, list[str]]:
    """Return the method fitted, with what rows held out told about its errors, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TableModel(chosen.contestant.pipeline(columns, X).fit(X, y).steps)
    if chosen.held_out is not None:
        model.learn_errors(chosen.held_out)
    return model, list(dict.fromkeys(str(warning.message) for warning in caught))


def _table_model(table: VaultedTable, model: TableModel, judgement: Judgement) -> TableModel:
    """Return the model with the reader of tables as its first step, and all that was found out about it."""
    whole = TableModel([("columns", table.reader), *model.steps])
    whole.target_ = table.target.name
    whole.errors_, whole.inverse_temperature_ = model.errors_, model.inverse_temperature_
    whole.judged_ = None if whole.errors_ is None else ErrorQuantiles.of(judgement.actual, judgement.predicted)
    return whole.remember(table.X, judgement.predicted)


def _in_time(budget: Budget, work: Callable[[], Result], end_seconds: float) -> Result | str:
    """Return what the work returns, or why there was no time for it."""
    found, cut_by = budget.attempt(work, budget.seconds_left() - end_seconds)
    return found if found is not None else EXCUSES[cut_by]


def _learning_curve(
    table: VaultedTable, chosen: MethodScore, budget: Budget, *, is_classification: bool, seed: int
) -> ErrorCurve | str:
    """Return the error of the method for growing training sets, or why there is none."""
    end = END_SECONDS + END_SECONDS_PER_ROW * len(table.X)
    if CURVE_COST * chosen.pace.seconds_for(len(table.vault.learning[1])) > budget.seconds_left() - end:
        return EXCUSES["time"]
    X, y = table.vault.learning
    kind = StratifiedKFold if is_classification else KFold

    def draw() -> ErrorCurve:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return error_against_size(
                chosen.contestant.pipeline(table.columns, X),
                X,
                y,
                sizes=CURVE_SIZES,
                cv=kind(CURVE_FOLDS, shuffle=True, random_state=seed),
                scoring=None if is_classification else "neg_root_mean_squared_error",
            )

    try:
        return _in_time(budget, draw, end)
    except ValueError as error:  # a class that the smallest training set has no row of
        return f"It could not be drawn: {error}"
