"""The bake-off from top to bottom: understand, lock away, compare, choose, fit for good, judge once, explain."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from pellucid.app.bake_off.blending import best_blend
from pellucid.app.bake_off.cautions import (
    cautions_on_failures,
    cautions_on_result,
    cautions_on_time,
    learned_from_part,
    short_of_memory,
)
from pellucid.app.bake_off.closing import (
    PROOF_FITS_OF_BLENDS,
    plan_explaining,
    plan_final_fit,
    proof_seconds,
    report_seconds,
)
from pellucid.app.bake_off.comparison import (
    NO_TIME,
    REFITS,
    FittedMethod,
    Stage,
    Untried,
    compare,
    failure,
)
from pellucid.app.bake_off.compiling_ahead import compiling_ahead
from pellucid.app.bake_off.contestants import Contestant, contestants_for, own_contestants
from pellucid.app.bake_off.every_row import EveryRow
from pellucid.app.bake_off.findings import explain, learning_curve, prove, prove_in_time
from pellucid.app.bake_off.importance import without_steps
from pellucid.app.bake_off.judgement import Judgement, Rows, judge
from pellucid.app.bake_off.learned import (
    Learned,
    baseline_answers,
    fit_weighted,
    has_learned,
    more_flexible,
)
from pellucid.app.bake_off.measures import Measure
from pellucid.app.bake_off.memory_room import MemoryRoom, room_within
from pellucid.app.bake_off.options import (
    Options,
    chosen_contestants,
)
from pellucid.app.bake_off.result import BakeOffResult, Plan
from pellucid.app.bake_off.scores import MethodScore, best_of, choose
from pellucid.app.bake_off.so_far import BestSoFar, SoFar, stages_shown
from pellucid.app.bake_off.validation_splits import MOST_KEPT_NUMBERS, ValidationSplits
from pellucid.app.bake_off.vaulted_table import TEST_SHARE, VaultedTable, lock_away, splits_of
from pellucid.app.table_model import TableModel
from pellucid.app.table_model.calibration import Calibration
from pellucid.app.table_model.class_scores import HeldOut, costs_of_threshold, least_cost
from pellucid.app.table_model.error_quantiles import ErrorQuantiles, OrderedShares
from pellucid.app.tables.reading import TableError, as_frame
from pellucid.core.budget import Budget
from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.core.watching import listening
from pellucid.model_selection import (
    CrossValidationTest,
    Recipe,
    ResamplingTest,
    TrainValidationTest,
)

RECIPES: dict[str, Callable[[int, int], Recipe]] = {
    "cv": lambda folds, seed: CrossValidationTest(TEST_SHARE, random_state=seed, n_splits=folds),
    "split": lambda _folds, seed: TrainValidationTest(TEST_SHARE, random_state=seed),
    "resample": lambda folds, seed: ResamplingTest(TEST_SHARE, random_state=seed, n_splits=folds),
}
GRACE = 0.03
"""Share of the time by which the fit to every row may be late: without it nobody could verify the model."""
NO_MEMORY = "It would take more memory than was given."

Listener = Callable[[Stage], None]
Item = TypeVar("Item")


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
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    metric: str | pd.DataFrame | None = None,
    group: str | None = None,
    time_column: str | None = None,
    weights: str | None = None,
    test: pd.DataFrame | None = None,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    coerce: bool = True,
    simple: bool = False,
    also: Mapping[str, Any] | None = None,
    memory: float | None = None,
    listen: Listener | None = None,
    keep_so_far: Callable[[SoFar], None] | None = None,
    every_row: EveryRow | None = None,
) -> BakeOffResult:
    """Compare the methods that suit a table, choose one, judge it once on rows kept aside, fit it on every row.

    Ctrl-C ends the comparison and goes on with the best so far; a second one ends everything.

    Parameters
    ----------
    frame : DataFrame of pandas or polars
        One row per example; numbers, words, dates, texts and gaps as they are.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression", "order"}, default="auto"
        Whether the target is a class, a number, or one of few whole numbers in an order, such as a grade: these are
        predicted as numbers, with a probability of each.
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
    drop, keep : sequence of str, default=()
        Columns to leave out, and columns to use although they look like an id.
    metric : str or DataFrame, default=None
        Name of a scikit-learn scorer, or costs of calling a true class (rows) another (columns). The choice, the score
        on the rows kept aside and the threshold between two classes follow it.
    group : str, default=None
        Column that says which rows belong together: no group is ever split between rows learned from and rows tried.
    time_column : str, default=None
        Column that says when a row was: methods are tried on later rows than they learn from, the vault is the latest.
    weights : str, default=None
        Column of weights, for fits and scores; methods that take none are left out.
    test : DataFrame, default=None
        Rows of your own for the vault; the model then learns from every row of ``frame``.
    only, without : sequence of str, default=()
        Names of methods to compare, or to leave out.
    coerce : bool, default=True
        Whether texts may be read as numbers, dates, or yes and no, and spellings of a word be joined.
    simple : bool, default=False
        Whether the answer must be a single method, not several that vote.
    also : dict of str to estimator, default=None
        Estimators of your own to compare besides, by the name to give them. They see numbers: gaps filled, numbers
        scaled, words as indicator columns.
    memory : float, default=four fifths of what there is
        Bytes that the process may have: methods that would take more are left out, or learn from fewer rows.
    listen : callable, default=None
        Told about every stage; None shows a bar in a notebook, and nothing elsewhere.
    keep_so_far : callable, default=nothing
        Given the best model so far, a ``SoFar``, as soon as there is one and when a better one is found, so that it can
        be written to a file; the rows kept aside are not looked at for it. It is called as often as a few percent of
        the time allow.
    every_row : EveryRow, default=None
        Of a table in files that do not fit into memory, of which ``frame`` and ``test`` are a draw: all its rows, which
        the chosen method is fitted to in the end. See ``pellucid.app.bake_off.bake_off_files``.
    """
    check_one_of(RECIPES, recipe=recipe)
    check_whole(low=2, folds=folds)
    frame = as_frame(frame)
    test = None if test is None else as_frame(test)
    columns_and_methods = tuple(_names(names) for names in (drop, keep, only, without))
    dropped, kept, chosen, avoided = columns_and_methods
    own = dict(also or {})
    if memory is not None:
        check_positive(memory=memory)
    wishes = (dropped, kept, metric, group, time_column, weights, test, chosen, avoided, coerce, simple, own, memory)
    options = Options(*wishes)
    plan = Plan(recipe, folds, seed, one_standard_error, options)
    if budget is not None:
        with listening(listen, stages_shown) as hear:
            return _bake_off(frame, target, task, plan, budget, hear, keep_so_far, every_row)
    check_positive(seconds=seconds)
    with Budget(seconds) as budget, listening(listen, stages_shown) as hear:
        return _bake_off(frame, target, task, plan, budget, hear, keep_so_far, every_row)


def _bake_off(
    frame: pd.DataFrame,
    name: str,
    task: str,
    plan: Plan,
    budget: Budget,
    listen: Listener,
    keep_so_far: Callable[[SoFar], None] | None,
    every_row: EveryRow | None,
) -> BakeOffResult:
    from pellucid.app.bake_off.compile_time_kernels import compiling_clock

    start, compiled_before = time.monotonic(), compiling_clock().seconds()
    room = room_within(plan.options.memory, frame)
    with budget.gauged():
        table = lock_away(frame, name, task, plan, every_row)
    so_far = BestSoFar(table, frame, plan, budget, partial(_model_so_far, table), keep_so_far)
    contestants, out_of_memory, most_rows = _contestants(table, plan, room)
    fits_all = most_rows >= len(table.X)
    splits = _validation_splits(table, plan, room, most_rows)
    kept = 0.0 if every_row is None else every_row.seconds_to_keep(budget)
    budget.deadline -= kept
    scores, untried = _compare(table, plan, contestants, splits, budget, listen, so_far)
    untried += out_of_memory
    limit = None if fits_all else most_rows
    fitted = _fit_for_good(table, plan, scores, untried, budget, listen, so_far, limit)
    budget.deadline += kept
    if every_row is not None:
        fitted = _fit_to_every_row(every_row, fitted, table, budget, listen)
    chosen = fitted.chosen
    not_done = cautions_on_time(untried, budget.interrupted, len(chosen.errors), plan.n_splits)

    def tell(step: str) -> None:
        listen(Stage(step, 1, 1, chosen, budget.seconds_left(), budget.interrupted))

    tell("the estimate on rows kept aside")
    test = table.vault.open(f"final estimate of {chosen.name}")
    judgement = _judge(table, plan, fitted, test)
    with budget.gauged():
        learned = _ask_whether_learned(table, judgement, chosen, scores)
    why = explain(table, plan, chosen, fitted.learned, fitted.model, test, judgement, budget)
    whole = _table_model(table, fitted, judgement)
    tell("the proof")
    if every_row is None or not fitted.is_from_files:
        verified = prove(whole, table, frame, plan, budget)
    else:
        verified = prove_in_time(partial(every_row.prove, fitted.model, table.reader, table.target), table, budget)
    if every_row is not None:
        whole = every_row.widen(whole)
    tell("the learning curve")
    curve = learning_curve(table, chosen, budget, seed=plan.seed) if fits_all else NO_MEMORY
    found, intercept = ([], None) if isinstance(why.weights, str) else why.weights
    facts = (chosen, scores, judgement, _or_empty(why.leaks), table.target, table.columns, learned)
    return BakeOffResult(
        model=whole,
        table=frame,
        target=table.target,
        columns=table.columns,
        plan=plan,
        scores=tuple(scores),
        untried=tuple(untried),
        chosen=chosen,
        judgement=judgement,
        vault_log=table.vault.log,
        curve=curve,
        importances=why.importances,
        coefficients=without_steps(found),
        intercept=intercept,
        effects=_or_empty(why.curves),
        story=why.story,
        cautions=(
            *not_done,
            *cautions_on_failures(untried, {**why.parts(), "proof": verified, "learning curve": curve}),
            *cautions_on_result(*facts, _or_empty(why.relations)),
            *table.notes,
            *fitted.warned,
            *so_far.cautions(),
        ),
        learned=learned,
        n_fitted=fitted.n_rows,
        n_in_files=None if every_row is None else every_row.n_rows,
        learned_from=fitted.sentence,
        verified=verified,
        flexibility=more_flexible(curve, chosen, scores),
        interrupted=budget.interrupted,
        seconds=time.monotonic() - start,
        compiling_seconds=compiling_clock().seconds() - compiled_before,
    )


def _or_empty(found: list[Item] | str) -> list[Item]:
    """Return a list that was asked for, an empty one where it is missing."""
    return [] if isinstance(found, str) else found


@dataclass(frozen=True)
class _FittedForGood:
    """The method that was chosen and could be fitted: to the rows to learn from, and to every row if there was time."""

    chosen: MethodScore
    learned: TableModel
    model: TableModel
    rows: Array
    """Of the table, that the model learned from, rising."""
    warned: list[str]
    n_from_files: int = 0
    """Rows of files that the model learned from, if it is more than those in memory."""
    sentence: str = ""
    """Which rows of files it learned from."""

    @property
    def is_from_files(self) -> bool:
        """Whether it learned from all rows of files, not only from those in memory."""
        return self.n_from_files > 0

    @property
    def n_rows(self) -> int:
        """Rows that the model learned from."""
        return self.n_from_files or len(self.rows)


def _fit_to_every_row(
    every_row: EveryRow, fitted: _FittedForGood, table: VaultedTable, budget: Budget, listen: Listener
) -> _FittedForGood:
    """Return the chosen method fitted to all rows of files, if it has a form for that and there is time."""
    chosen = fitted.chosen

    def step(number: int, done: int, total: int) -> None:
        what = f"{chosen.name} on every row, pass {number}"
        listen(Stage(what, done, total, chosen, budget.seconds_left(), budget.interrupted))

    ends = plan_explaining(chosen, len(table.columns.kinds), budget.seconds).seconds + report_seconds(len(table.X))
    left = budget.seconds_left() - budget.slowdown * ends
    model, n_rows, sentence = every_row.fit(fitted.model, table.reader, table.target, budget, left, step)
    if model is fitted.model:
        return replace(fitted, sentence=sentence)
    return replace(fitted, learned=model, model=model, n_from_files=n_rows, sentence=sentence)


def _fit_for_good(
    table: VaultedTable,
    plan: Plan,
    scores: list[MethodScore],
    untried: list[Untried],
    budget: Budget,
    listen: Listener,
    so_far: BestSoFar,
    most_rows: int | None,
) -> _FittedForGood:
    """Return the best method that can be fitted; one that fails leaves the scores, and the next one is tried."""
    while best_of(scores) is not None:
        chosen = choose(scores, one_standard_error=plan.one_standard_error)
        try:
            return _fit_chosen(chosen, table, plan, budget, listen, so_far, most_rows)
        except Exception as error:  # whatever it is: another method may do
            scores[:] = [score for score in scores if score is not chosen]
            untried.append(Untried(chosen.name, failure(error)))
    raise _nothing_left(untried)


def _fit_chosen(
    chosen: MethodScore,
    table: VaultedTable,
    plan: Plan,
    budget: Budget,
    listen: Listener,
    so_far: BestSoFar,
    most_rows: int | None,
) -> _FittedForGood:
    def tell(step: str) -> None:
        listen(Stage(step, 1, 1, chosen, budget.seconds_left(), budget.interrupted))

    tell("the final fit")
    learning = table.vault.learning_rows
    explaining = plan_explaining(chosen, len(table.columns.kinds), budget.seconds).seconds
    slower = (budget.slowdown - 1.0) * report_seconds(len(learning))
    left = budget.seconds_left() - explaining - slower
    final = plan_final_fit(chosen, min(len(learning), most_rows or len(learning)), left, GRACE * budget.seconds)
    rows = np.sort(learning[some_rows(len(learning), final.n_rows, plan.seed)])
    learned, warned = _fit(final.score, table, rows)
    if final.on_all_rows and not table.has_own_test and most_rows is None:
        tell("the fit to every row")
        every = np.arange(len(table.X))
        model, warned = _fit(final.score, table, every)
        so_far.offer_final(chosen, FittedMethod(model[0], model[-1], every))
        return _FittedForGood(chosen, learned, model, every, warned)
    if most_rows is not None:
        warned.append(short_of_memory(len(rows), len(table.X)))
    elif len(rows) < len(table.X):
        warned.append(learned_from_part(len(rows), len(table.X), chosen.pace.rows))
    so_far.offer_final(chosen, FittedMethod(learned[0], learned[-1], rows))
    return _FittedForGood(chosen, learned, learned, rows, warned)


def _nothing_left(untried: Sequence[Untried]) -> TableError:
    reasons = "; ".join(f"{one.name}: {one.reason}" for one in untried)
    return TableError(f"table must suit one method, but none could be fitted ({reasons}).")


def _contestants(table: VaultedTable, plan: Plan, room: MemoryRoom) -> tuple[list[Contestant], list[Untried], int]:
    """Return the methods asked for that fit into memory, why others are out, and the rows that they fit with."""
    task: dict[str, bool] = {"is_classification": table.target.is_classification}
    everybody = (*contestants_for(**task), *own_contestants(plan.options.also, **task))
    contestants, unwished = chosen_contestants(everybody, plan.options)
    kept, too_large, most_rows = room.divide(contestants, table.columns, table.X, table.target.values)
    return kept, [Untried(*one) for one in (*unwished, *too_large)], most_rows


def _validation_splits(table: VaultedTable, plan: Plan, room: MemoryRoom, most_rows: int) -> ValidationSplits:
    """Return the splits of the rows to learn from, as many of these as the memory suffices for."""
    X, y = table.vault.learning
    parts = splits_of(table, RECIPES[plan.recipe](plan.folds, plan.seed))
    if most_rows < len(table.X):
        parts = [(rows[some_rows(len(rows), most_rows, plan.seed)], others[:most_rows]) for rows, others in parts]
    return ValidationSplits(
        table.columns,
        X,
        y,
        parts,
        table.target.is_classification,
        plan.seed,
        table.measure,
        table.learning_facts.weights,
        table.vault.learning_rows,
        min(MOST_KEPT_NUMBERS, room.most_kept_numbers),
    )


def _compare(
    table: VaultedTable,
    plan: Plan,
    contestants: Sequence[Contestant],
    splits: ValidationSplits,
    budget: Budget,
    listen: Listener,
    so_far: BestSoFar,
) -> tuple[list[MethodScore], list[Untried]]:
    """Return the scores, the best first, and the methods that have none; raise if nothing can be chosen."""
    y = splits.y if splits.is_classification else None
    with compiling_ahead(contestants, table.columns, y) as ahead:
        scores, untried = compare(contestants, splits, budget, listen, ahead, so_far.offer)
    if not (plan.options.simple or plan.one_standard_error or budget.interrupted):
        scores = [*scores, *_blend(scores, table, budget)]
    if best_of(scores) is not None:
        return sorted(scores, key=lambda score: score.mean), untried
    if budget.interrupted:
        raise KeyboardInterrupt
    if any(one.reason == NO_TIME for one in untried):
        raise TableError(
            f"time must suffice for one method, got {budget.seconds:g} seconds for {len(table.X):,} rows. Give more."
        )
    raise _nothing_left(untried)


def _blend(scores: Sequence[MethodScore], table: VaultedTable, budget: Budget) -> list[MethodScore]:
    """Return the score of a blend of the best methods, if it is clearly better and there is time to fit it."""
    X, y = table.vault.learning
    n_rows, best = len(y), best_of(scores)
    left = budget.seconds_left() - budget.slowdown * report_seconds(n_rows)
    fits = REFITS
    if best is not None:
        left -= plan_explaining(best, len(table.columns.kinds), budget.seconds).seconds
        if proof_seconds(best.contestant, best.pace.seconds_for(n_rows), budget.seconds):
            fits += PROOF_FITS_OF_BLENDS  # an answer that can be proved is not given up for one that cannot
    found = best_blend(scores, table.columns, X, left / fits)
    return [] if found is None else [found]


def _fit(chosen: MethodScore, table: VaultedTable, rows: Array) -> tuple[TableModel, list[str]]:
    """Return the method fitted to some rows, with what rows held out told about its errors, and what it warned of."""
    X, y, facts = table.X, table.target.values, table.facts
    if len(rows) < len(y):
        X, y, facts = X.iloc[rows], y[rows], facts.of(rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TableModel(fit_weighted(chosen.contestant.pipeline(table.columns, X, y), X, y, facts.weights).steps)
    if chosen.held_out is not None:
        _learn_beside(model, _of_its_classes(chosen.held_out, table.measure, model), table)
    return model, list(dict.fromkeys(str(warning.message) for warning in caught))


def _learn_beside(model: TableModel, held_out: HeldOut, table: VaultedTable) -> None:
    """Give a model all that is learned beside its steps: errors, calibration, limits, and the shares of an order."""
    model.learn_errors(held_out)
    model.limits_ = None if table.measure.limits is None else list(table.measure.limits)
    if table.target.is_ordered and model.errors_ is not None:
        model.order_ = OrderedShares.of(model.errors_)


def _of_its_classes(found: HeldOut, measure: Measure, model: TableModel) -> HeldOut:
    """Return what was said about rows held out, of the classes that a model knows: a vault may have some of its own."""
    if measure.classes is None:
        return found
    return replace(found, said=found.said[:, np.isin(measure.classes, model.classes_)])


def _costs_of(measure: Measure, threshold: float | None, model: TableModel) -> Array | None:
    """Return the costs by which a model decides, for the classes that it knows; None if it calls the likeliest."""
    if measure.costs is None or measure.classes is None:
        return None if threshold is None else costs_of_threshold(threshold)
    known = np.isin(measure.classes, model.classes_)
    return measure.costs[np.ix_(known, known)]


def _threshold(measure: Measure, model: TableModel, chosen: MethodScore) -> float | None:
    """Return the threshold between two classes that suits the measure best on rows held out in the comparison."""
    found = chosen.held_out
    if not measure.asks_for_threshold or found is None:
        return None
    calibration = model.calibration_ or Calibration()
    chances = calibration.probabilities(found.said)[:, 1]
    return measure.best_threshold(found.actual, chances, found.weights)


def _judge(table: VaultedTable, plan: Plan, fitted: _FittedForGood, test: Rows) -> Judgement:
    """Return what the rows kept aside say of the model that has not seen them; both models then decide by its costs."""
    threshold = _threshold(table.measure, fitted.learned, fitted.chosen)
    for one in (fitted.model, fitted.learned):
        one.costs_ = _costs_of(table.measure, threshold, one)
    return judge(
        fitted.learned,
        table.vault.learning,
        test,
        is_classification=table.target.is_classification,
        seed=plan.seed,
        measure=table.measure,
        facts=table.test_facts,
        threshold=threshold,
    )


def _ask_whether_learned(
    table: VaultedTable, judgement: Judgement, chosen: MethodScore, scores: Sequence[MethodScore]
) -> Learned:
    actual, measure = judgement.actual, table.measure
    usual = baseline_answers(table.vault.learning[1], table.learning_facts.weights, measure, len(actual))
    assert judgement.answers is not None  # judged with the measure
    return has_learned(actual, judgement.answers, usual, measure, table.test_facts, chosen, scores, judgement.threshold)


def _table_model(table: VaultedTable, fitted: _FittedForGood, judgement: Judgement) -> TableModel:
    """Return the model with the reader of tables as its first step, and all that was found out about it."""
    whole = _with_reader(table, fitted.model, fitted.rows)
    whole.judged_ = None if whole.errors_ is None else ErrorQuantiles.of(judgement.actual, judgement.predicted)
    return whole.remember(table.X, judgement.predicted)


def _with_reader(table: VaultedTable, model: TableModel, rows: Array) -> TableModel:
    """Return a model, fitted to some rows of the table as read, with the reader as its first step."""
    whole = copy(model)
    whole.steps = [("columns", table.reader), *model.steps]
    whole.target_ = table.target.name
    if len(rows) < len(table.X):
        whole.learned_rows_ = np.isin(np.arange(len(table.X)), rows)
    return whole


def _model_so_far(table: VaultedTable, score: MethodScore, fitted: FittedMethod) -> TableModel:
    """Return the model of a method that may yet be beaten: all that is known of it comes from rows held out."""
    assert score.held_out is not None  # others are not offered
    model = TableModel([("prepare", fitted.prepare), ("method", fitted.method)])
    held_out = _of_its_classes(score.held_out, table.measure, model)
    _learn_beside(model, held_out, table)
    model.costs_ = _costs_of(table.measure, _threshold(table.measure, model, score), model)
    whole = _with_reader(table, model, fitted.rows)
    whole.judged_ = None
    if not table.target.is_classification:
        return whole.remember(table.X, held_out.said)
    chances = (model.calibration_ or Calibration()).probabilities(held_out.said)
    places = chances.argmax(axis=1) if model.costs_ is None else least_cost(chances, model.costs_)
    return whole.remember(table.X, model.classes_[places])


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
