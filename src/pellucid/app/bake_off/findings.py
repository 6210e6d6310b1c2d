"""What is found out about a model that was chosen: why it says what it says, its proof and its learning curve.

Each may take the time that is left, and each may fail: a model without it is still an answer, and a sentence says why.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import pandas as pd

from pellucid.app.bake_off.closing import plan_explaining, writing_seconds
from pellucid.app.bake_off.comparison import failure
from pellucid.app.bake_off.explanation import tell_changes, tell_linear, typical_row
from pellucid.app.bake_off.importance import Coefficient, Effect, Importance, coefficients, effects, importances
from pellucid.app.bake_off.judgement import Judgement, Rows
from pellucid.app.bake_off.leakage import Leak, Relation, find_leaks, find_relations
from pellucid.app.bake_off.learned import draw_curve
from pellucid.app.bake_off.result import Plan
from pellucid.app.bake_off.scores import MethodScore
from pellucid.app.bake_off.tree_story import TreeStory, as_text, notable_rows, tell_trees
from pellucid.app.bake_off.vaulted_table import VaultedTable, splits_of
from pellucid.app.table_model import SeenTable, TableModel
from pellucid.core.budget import Budget
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.verification import verify
from pellucid.model_selection import CrossValidationTest, ErrorCurve
from pellucid.proofs.certificate import Certificate

CURVE_FOLDS = 3
CURVE_COST = 5.0
"""A learning curve costs about this many folds of the comparison."""
FEWEST_PROOF_SECONDS, PROOF_SHARE = 10.0, 0.5
"""What the proof may take, and which part of the time that was spent before it."""
MOST_EFFECTS = 6
"""Of the most important columns, curves are drawn."""
EXCUSES = {"time": "There was no time left for it.", "interruption": "It was interrupted."}

Result = TypeVar("Result")


@dataclass(frozen=True)
class Explanation:
    """Why a model says what it says, each part or the reason why there is none."""

    importances: list[Importance] | str
    story: TreeStory | str
    curves: list[Effect] | str
    weights: tuple[list[Coefficient], float | None] | str
    leaks: list[Leak] | str
    relations: list[Relation] | str

    def parts(self) -> Mapping[str, object]:
        """Return everything by the name that people read."""
        return {
            "importance of the columns": self.importances,
            "explanation of rows": self.story,
            "picture of what each column does": self.curves,
            "list of coefficients": self.weights,
            "search for leaks": self.leaks,
            "search for relations of the target": self.relations,
        }


def explain(
    table: VaultedTable,
    plan: Plan,
    chosen: MethodScore,
    learned: TableModel,
    model: TableModel,
    test: Rows,
    judgement: Judgement,
    budget: Budget,
) -> Explanation:
    """Return what ``model``, fitted to every row, consists of, and what ``learned``, which was judged, does."""
    learning, is_classification = table.vault.learning, table.target.is_classification
    weights = _or_failure(lambda: coefficients(model, table.columns))
    leaks = _or_failure(lambda: find_leaks(*learning, is_classification=is_classification, seed=plan.seed))
    relations = _or_failure(lambda: [] if is_classification else find_relations(*learning, seed=plan.seed))
    end, size = _writing_seconds(table, budget), plan_explaining(chosen, len(table.columns.kinds), budget.seconds)

    def shuffle() -> list[Importance]:
        return importances(
            learned,
            *test,
            table.parts(),
            is_classification=is_classification,
            seed=plan.seed,
            most_rows=size.n_rows,
            repeats=size.repeats,
        )

    shuffled = _in_time(budget, shuffle, end)
    story = _in_time(budget, lambda: _tell(learned, table, test, judgement), end)
    leading = [] if isinstance(shuffled, str) else [one.column for one in shuffled[:MOST_EFFECTS]]
    shown = [part for column in leading for part in table.parts()[column]]
    curves = _in_time(budget, lambda: effects(model, table.X, shown), end)
    return Explanation(shuffled, story, curves, weights, leaks, relations)


def _tell(model: TableModel, table: VaultedTable, test: Rows, judgement: Judgement) -> TreeStory:
    """Return what trees, or linear methods, say for themselves, told on rows kept aside."""
    notable, learning = notable_rows(judgement), table.vault.learning
    story = tell_trees(model, table.columns, *test, learning, notable)
    if story == TreeStory():
        story = tell_linear(model, table.columns, *test, learning[0], table.parts(), notable)
    if story == TreeStory():
        rows = test[0].iloc[[one.place for one in notable]]
        typical = typical_row(SeenTable.of(learning[0]), rows)
        story = tell_changes(model, rows, typical, table.parts())
        told = zip(story.examples, notable, strict=True)
        return replace(
            story,
            examples=tuple(replace(one, actual=as_text(test[1][row.place]), title=row.title) for one, row in told),
        )
    return story


def prove(model: TableModel, table: VaultedTable, frame: pd.DataFrame, plan: Plan, budget: Budget) -> Certificate | str:
    """Return what verify finds in the model and the rows it learned from, or why it was not asked.

    It may take a part of the time that all before it took: a fit of seconds need not wait minutes for its proof.
    """
    if not isinstance(model[-1], CertifiedEstimator):
        return ""
    given: dict[str, Any] = {"sample_weight": table.facts.weights, "random_state": plan.seed}
    look = partial(verify, model, frame.loc[table.target.rows], table.target.values, **given)
    return prove_in_time(look, table, budget)


def prove_in_time(look: Callable[[], Certificate], table: VaultedTable, budget: Budget) -> Certificate | str:
    """Return what a proof finds, or why it was not waited for."""
    end = _writing_seconds(table, budget)
    spent = budget.seconds - budget.seconds_left()
    longest = max(FEWEST_PROOF_SECONDS, PROOF_SHARE * spent)

    def quietly() -> Certificate:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the certificate says it
            return look()

    return _in_time(budget, quietly, max(end, budget.seconds_left() - longest))


def learning_curve(table: VaultedTable, chosen: MethodScore, budget: Budget, *, seed: int) -> ErrorCurve | str:
    """Return the error of the method for growing training sets, or why there is none."""
    end = _writing_seconds(table, budget)
    if CURVE_COST * chosen.pace.seconds_for(len(table.vault.learning[1])) > budget.seconds_left() - end:
        return EXCUSES["time"]
    X, y = table.vault.learning
    splits = splits_of(table, CrossValidationTest(random_state=seed, n_splits=CURVE_FOLDS))
    pipeline = chosen.contestant.pipeline(table.columns, X, y)

    def draw() -> ErrorCurve | str:
        try:
            return draw_curve(pipeline, X, y, splits, table.measure, table.learning_facts, seed=seed)
        except ValueError as error:  # a class that the smallest training set has no row of
            return f"It could not be drawn: {error}"

    return _in_time(budget, draw, end)


def _writing_seconds(table: VaultedTable, budget: Budget) -> float:
    """Return the seconds to leave for the report and the files, on a machine as busy as it was last."""
    return budget.slowdown * writing_seconds(len(table.X))


def _in_time(budget: Budget, work: Callable[[], Result], end_seconds: float) -> Result | str:
    """Return what the work returns, or why there was no time for it, or how it failed."""

    def attempt() -> Result | str:
        found, cut_by = budget.attempt(work, budget.seconds_left() - end_seconds)
        return found if found is not None else EXCUSES[cut_by]

    return _or_failure(attempt)


def _or_failure(work: Callable[[], Result]) -> Result | str:
    """Return what the work returns, or how it failed."""
    try:
        return work()
    except Exception as error:
        return failure(error)
