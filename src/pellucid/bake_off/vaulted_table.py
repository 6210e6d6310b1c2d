"""A table as understood and read, its test rows locked away before anything is learned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pellucid.bake_off.measures import Measure, measure_for
from pellucid.bake_off.options import Options, RowFacts, check_classes_to_learn, own_test_rows, row_facts, understood
from pellucid.bake_off.result import Plan
from pellucid.bake_off.row_order import cautions_on_rows
from pellucid.core.types import Array
from pellucid.model_selection import Recipe, TestVault
from pellucid.model_selection.row_parts import Split
from pellucid.tables.column_reader import ColumnReader
from pellucid.tables.order import FEWEST_VALUES, is_in_order
from pellucid.tables.reading import TableError
from pellucid.tables.understanding import ORDER, Columns, Target, choose_target

FEWEST_ROWS = 10
TEST_SHARE = 0.2
OTHER_READINGS = (
    "was read as whole numbers in an order: predictions are numbers, with the probability of each step. "
    "--as classes or --as numbers reads it otherwise."
)


@dataclass(frozen=True)
class VaultedTable:
    """A table as understood and read, its test rows locked away."""

    target: Target
    columns: Columns
    reader: ColumnReader
    X: pd.DataFrame
    """The columns as the reader gives them, of all rows with a target."""
    vault: TestVault
    measure: Measure
    facts: RowFacts
    """Weight, group and time of every row of X."""
    test_facts: RowFacts
    """The same of the rows in the vault."""
    notes: tuple[str, ...] = ()
    """What is to be known of the rows before anything is learned."""

    @property
    def learning_facts(self) -> RowFacts:
        """Weight, group and time of the rows to learn from."""
        return self.facts.of(self.vault.learning_rows)

    @property
    def has_own_test(self) -> bool:
        """Whether the user brought the rows of the vault, so that the model learns from all others."""
        return not len(self.vault.test_rows)

    def parts(self) -> dict[str, list[str]]:
        """Return the columns of X that stand for each column of the table, such as the parts of a date."""
        return {name: self.reader.names_of(name) for name in self.columns.kinds}


def lock_away(frame: pd.DataFrame, name: str, task: str, plan: Plan) -> VaultedTable:
    """Understand the target and the columns, read them, and lock the test rows away."""
    options = plan.options
    unnamed = [column for column in frame.columns if not isinstance(column, str)]
    if unnamed:
        raise TableError(f"column names must be texts, got {unnamed[0]!r}. Use frame.rename(columns=str).")
    target = choose_target(frame, name, task, coerce=options.coerce)
    options.check(frame, name)
    if target.could_be_ordered and task == "auto" and _is_in_order(frame, target, options):
        # how the target is read is decided once, from all rows; what is learned from it is not
        ordered = choose_target(frame, name, ORDER, coerce=options.coerce)
        reason = f"{target.reason}, and the other columns rise and fall with them"
        target = replace(ordered, reason=reason, notes=(*ordered.notes, f"{name} {OTHER_READINGS}"))
    rows = frame.loc[target.rows]
    fewest = max(FEWEST_ROWS, 2 * plan.folds)
    if len(rows) < fewest:
        raise TableError(f"table must have at least {fewest} rows with a target, got {len(rows)}. Add rows.")
    columns = understood(rows, name, options)
    reader = ColumnReader(dict(columns.kinds))
    X = reader.fit_transform(rows, target.values)
    facts = row_facts(rows, options)
    task_is = {"is_classification": target.is_classification, "weighted": facts.weights is not None}
    measure = replace(measure_for(options.metric, target.values, **task_is), limits=_limits(target))
    notes = cautions_on_rows(rows, X, target, columns, options, facts.order)
    vaulted = {"target": target, "columns": columns, "reader": reader, "X": X, "measure": measure, "facts": facts}
    if options.test is not None:
        own, y_own, left_out = own_test_rows(options, target)
        vault = TestVault(X, target.values, test=(reader.transform(own), y_own))
        own_facts = row_facts(own, replace(options, time_column=None))
        return VaultedTable(**vaulted, vault=vault, test_facts=own_facts, notes=(*notes, *left_out))
    try:
        shares: dict[str, Any] = {"test_size": TEST_SHARE, "random_state": plan.seed}
        vault = TestVault(X, target.values, groups=facts.groups, order=facts.order, **shares)
    except ValueError as error:
        raise TableError(f"table cannot be split as asked: {error}") from None
    check_classes_to_learn(target, vault)
    return VaultedTable(**vaulted, vault=vault, test_facts=facts.of(vault.test_rows), notes=tuple(notes))


def _limits(target: Target) -> tuple[float | None, float | None] | None:
    """Return between which numbers predictions must lie: those of an order, or above 0 where no target is below."""
    if target.is_classification:
        return None
    low, high = float(np.min(target.values)), float(np.max(target.values))
    if target.is_ordered:
        return low, high
    return (0.0, None) if low >= 0.0 else None


def _is_in_order(frame: pd.DataFrame, target: Target, options: Options) -> bool:
    """Return whether the columns say that whole numbers are in an order; a measure of classes says they are not."""
    metric = options.metric
    is_of_classes = isinstance(metric, pd.DataFrame) or (metric is not None and _suits_classes(metric, target.values))
    if is_of_classes or len(np.unique(target.values)) < FEWEST_VALUES:  # before a large table is read for nothing
        return False
    rows = frame.loc[target.rows]
    columns = understood(rows, target.name, options)
    return is_in_order(columns, ColumnReader(dict(columns.kinds)).fit_transform(rows, target.values), target.values)


def _suits_classes(metric: str, y: Array) -> bool:
    try:
        measure_for(metric, y, is_classification=True, weighted=False)
    except TableError:
        return False
    return True


def splits_of(table: VaultedTable, recipe: Recipe) -> list[Split]:
    """Return the splits of the learning rows: at random, by whole groups, or forward in time."""
    X, y = table.vault.learning
    facts = table.learning_facts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds: some have none of it
        try:
            return recipe.splits(
                X, y, is_classification=table.target.is_classification, groups=facts.groups, order=facts.order
            )
        except ValueError as error:
            raise TableError(f"table cannot be split as asked: {error}") from None
