"""The bake-off itself, step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pandas as pd
from sklearn.pipeline import Pipeline

from pellucid.bake_off.choosing import choose, why
from pellucid.bake_off.comparing import NO_TIME, Stage, Untried, best_of, compare
from pellucid.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.bake_off.driving import coefficients, without_steps
from pellucid.bake_off.effects import effects
from pellucid.bake_off.examining import fit_for_good, judge, learning_curve
from pellucid.bake_off.notes import (
    notes_on_choice,
    notes_on_classes,
    notes_on_suspects,
    notes_on_table,
    notes_on_time,
)
from pellucid.bake_off.result import BakeOff, Plan
from pellucid.bake_off.setting import RECIPES, Setting
from pellucid.bake_off.suspects import find_suspects
from pellucid.core.budget import Budget
from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.tables.reading import TableError
from pellucid.tables.understanding import choose_target, understand

FEWEST_ROWS = 10


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
    _check_names(frame)
    plan = Plan(recipe, folds, seed, one_standard_error)
    if budget is not None:
        return _run(_setting(frame, target, task, plan, budget, listen))
    check_positive(seconds=seconds)
    with Budget(seconds) as budget:
        return _run(_setting(frame, target, task, plan, budget, listen))


def _setting(
    frame: pd.DataFrame, name: str, task: str, plan: Plan, budget: Budget, listen: Callable[[Stage], None]
) -> Setting:
    target = choose_target(frame, name, task)
    rows = frame.loc[target.rows]
    _check_enough(len(rows), plan.folds)
    return Setting(rows, target, understand(rows, name), plan, budget, listen)


def _check_names(frame: pd.DataFrame) -> None:
    unnamed = [name for name in frame.columns if not isinstance(name, str)]
    if unnamed:
        raise TableError(f"column names must be texts, got {unnamed[0]!r}. Use frame.rename(columns=str).")


def _check_enough(n_rows: int, folds: int) -> None:
    fewest = max(FEWEST_ROWS, 2 * folds)
    if n_rows < fewest:
        raise TableError(f"table must have at least {fewest} rows with a target, got {n_rows}. Add rows.")


def _run(setting: Setting) -> BakeOff:
    """Compare, choose, fit for good, judge once, and collect what is known."""
    target, columns, budget = setting.target, setting.columns, setting.budget
    X, y = setting.vault.learning
    contestants = CLASSIFIERS if setting.is_classification else REGRESSORS
    scores, untried = compare(contestants, setting.learning_rows(), budget, setting.listen)
    if best_of(scores) is None:
        raise _nothing_found(setting, untried)
    scores.sort(key=lambda score: score.mean)
    chosen = choose(scores, one_standard_error=setting.plan.one_standard_error)
    cut_off = notes_on_time(untried, budget.interrupted)
    model, said = fit_for_good(setting, chosen)
    judgement, drivers = judge(setting, chosen)
    curve = learning_curve(setting, chosen)
    suspects = find_suspects(X, y, is_classification=setting.is_classification, seed=setting.plan.seed)
    weights, intercept = coefficients(model, columns)
    return BakeOff(
        model=Pipeline([("columns", setting.reader), *model.steps]),
        target=target,
        columns=columns,
        plan=setting.plan,
        scores=tuple(scores),
        untried=tuple(untried),
        chosen=chosen,
        reason=why(chosen, scores),
        judgement=judgement,
        n_learning=len(y),
        vault_log=setting.vault.log,
        curve=curve,
        importances=drivers,
        coefficients=without_steps(weights),
        intercept=intercept,
        effects=effects(model, setting.X),
        notes=(
            *cut_off,
            *notes_on_suspects(suspects, target),
            *notes_on_choice(chosen, scores, judgement),
            *notes_on_classes(target, judgement),
            *notes_on_table(target, columns),
            *said,
        ),
        interrupted=budget.interrupted,
        seconds=time.monotonic() - setting.start,
    )


def _nothing_found(setting: Setting, untried: Sequence[Untried]) -> BaseException:
    if setting.budget.interrupted:
        return KeyboardInterrupt()
    if any(one.reason == NO_TIME for one in untried):
        return TableError(
            f"time must suffice for one method, got {setting.budget.seconds:g} seconds for {len(setting.X):,} rows. "
            "Give more."
        )
    reasons = "; ".join(f"{one.name}: {one.reason}" for one in untried)
    return TableError(f"table must suit one method, but none could be fitted ({reasons}).")
