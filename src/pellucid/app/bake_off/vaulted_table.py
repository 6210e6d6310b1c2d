"""A table as understood and read, its test rows locked away before anything is learned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, ks_2samp

from pellucid.app.bake_off.every_row import EveryRow
from pellucid.app.bake_off.measures import Measure, measure_for
from pellucid.app.bake_off.options import (
    Options,
    RowFacts,
    check_classes_to_learn,
    own_test_rows,
    row_facts,
    understood,
)
from pellucid.app.bake_off.result import Plan
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.dates import DATES
from pellucid.app.tables.order import FEWEST_VALUES, is_in_order
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import (
    ID_NAME,
    OF_LISTS,
    ORDER,
    REGRESSION,
    TEXT,
    WORD_KINDS,
    Columns,
    Target,
    choose_target,
    is_numeric,
)
from pellucid.core.types import Array
from pellucid.model_selection import Recipe, TestVault
from pellucid.model_selection.vault import Split

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


def lock_away(frame: pd.DataFrame, name: str, task: str, plan: Plan, every_row: EveryRow | None = None) -> VaultedTable:
    """Understand the target and the columns, read them, and lock the test rows away.

    Where the table is a draw, what is known of every row decides.
    """
    known = None if every_row is None else every_row.columns
    options = plan.options
    unnamed = [column for column in frame.columns if not isinstance(column, str)]
    if unnamed:
        raise TableError(f"column names must be texts, got {unnamed[0]!r}. Use frame.rename(columns=str).")
    target = choose_target(frame, name, task, coerce=options.coerce)
    options.check(frame, name)
    if target.could_be_ordered and task == "auto" and _is_in_order(frame, target, options, known):
        # how the target is read is decided once, from all rows; what is learned from it is not
        ordered = choose_target(frame, name, ORDER, coerce=options.coerce)
        reason = f"{target.reason}, and the other columns rise and fall with them"
        target = replace(ordered, reason=reason, notes=(*ordered.notes, f"{name} {OTHER_READINGS}"))
    if every_row is not None and target.task == REGRESSION:
        target = replace(target, reason=f"{target.reason} among the rows drawn")
    rows = frame.loc[target.rows]
    fewest = max(FEWEST_ROWS, 2 * plan.folds)
    if len(rows) < fewest:
        raise TableError(f"table must have at least {fewest} rows with a target, got {len(rows)}. Add rows.")
    columns = understood(rows, name, options, known)
    reader = ColumnReader(dict(columns.kinds))
    X = reader.fit_transform(rows, target.values)
    facts = row_facts(rows, options)
    task_is = {"is_classification": target.is_classification, "weighted": facts.weights is not None}
    measure = replace(measure_for(options.metric, target.values, **task_is), limits=_limits(target, every_row))
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


def _limits(target: Target, every_row: EveryRow | None) -> tuple[float | None, float | None] | None:
    """Return between which numbers predictions must lie: those of an order, or above 0 where no target is below."""
    if target.is_classification:
        return None
    low, high = float(np.min(target.values)), float(np.max(target.values))
    if every_row is not None:
        low, high = every_row.range_of_target or (low, high)
    if target.is_ordered:
        return low, high
    return (0.0, None) if low >= 0.0 else None


def _is_in_order(frame: pd.DataFrame, target: Target, options: Options, known: Columns | None) -> bool:
    """Return whether the columns say that whole numbers are in an order; a measure of classes says they are not."""
    metric = options.metric
    is_of_classes = isinstance(metric, pd.DataFrame) or (metric is not None and _suits_classes(metric, target.values))
    if is_of_classes or len(np.unique(target.values)) < FEWEST_VALUES:  # before a large table is read for nothing
        return False
    rows = frame.loc[target.rows]
    columns = understood(rows, target.name, options, known)
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


FEWEST_ORDERED_ROWS = 50
"""In fewer rows an order is easily an accident."""
ALIKE = 0.2
"""Correlation of the targets of neighboring rows that is worth a word."""
SURE = 5.0
"""The same, in standard errors of no correlation."""
NEARLY_ALL = 0.99
"""Of the steps between rows that go up, of a column that is sorted."""
FEWEST_GROUPS, MOST_PER_GROUP, FEWEST_PER_GROUP = 10, 50.0, 1.5
CLOSE = 0.1
"""Share of the target's variation between groups, beyond chance, from which on words are suspected to name groups."""
MOST_ROWS = 20_000
UNLIKELY = 1e-6
DIFFERENT = 0.15
"""Largest gap between the distributions of early and late rows (of words: half the sum of all gaps)."""
MOST_NAMED = 5


def cautions_on_rows(
    rows: pd.DataFrame,
    X: pd.DataFrame,
    target: Target,
    columns: Columns,
    options: Options,
    order: Array | None = None,
) -> list[str]:
    """Return what the order of the rows, and values that come again, say about the splits; with what helps.

    ``rows`` is the table as it came, ``X`` the same rows as read, ``order`` when each was, if a column says so.
    """
    if len(rows) < FEWEST_ORDERED_ROWS:
        return []
    codes = _target_codes(target)
    is_sorted = _is_sorted_by_target(codes)
    said = options.time_column is not None or options.group is not None
    found = []
    if not said:
        found += _time(X, codes, columns, is_sorted)
    if options.group is None:
        found += _groups(rows, codes, target, columns, options)
    if not is_sorted:
        found += _drift(X, order, columns, options)
    return found


def _target_codes(target: Target) -> Array:
    """Return the target as numbers, classes as their places in the alphabet."""
    if not target.is_classification:
        return np.asarray(target.values, dtype=np.float64)
    return np.unique(target.values, return_inverse=True)[1]


def _is_sorted_by_target(codes: Array) -> bool:
    """Return whether the rows stand in order of the target, up or down: then neighbors are alike, but not in time."""
    steps = np.diff(codes)
    changes = int((steps != 0).sum())
    in_blocks = codes.dtype.kind != "f" and changes < len(np.unique(codes))
    return in_blocks or max((steps >= 0).mean(), (steps <= 0).mean()) >= NEARLY_ALL


def _time(X: pd.DataFrame, codes: Array, columns: Columns, is_sorted: bool) -> list[str]:
    dated = [name for name in columns.of(*DATES) if _rises(_hours(X, name))]
    if dated:
        return [
            f"The rows are in order of {dated[0]}, and the methods were compared on rows drawn at random, before and "
            f"after those they learned from. If you will predict later rows from earlier ones, fit again with "
            f"--time-column {_quoted(dated[0])}: the error is then larger, and true."
        ]
    alike = _likeness_of_neighbors(codes)
    if is_sorted or alike < ALIKE or alike * np.sqrt(len(codes)) < SURE:
        return []
    return [
        f"Rows that stand next to each other have similar targets (correlation {alike:.2f}): the rows are in an order "
        "that matters, such as time, or belong together in groups. Rows drawn at random are then easier than new ones. "
        "If a column says when or to whom a row belongs, fit again with --time-column or --group."
    ]


def _hours(X: pd.DataFrame, name: str) -> Array:
    """Return when each row was, in hours since 1970, of a column of dates as it was read."""
    days = X[f"{name} days"].to_numpy(dtype=np.float64)
    hour = f"{name} hour"
    return 24 * days + X[hour].to_numpy(dtype=np.float64) if hour in X else 24 * days


def _rises(hours: Array) -> bool:
    """Return whether dates go one way, down or up, and are not all but a few the same."""
    steps = np.diff(hours[~np.isnan(hours)])
    if len(steps) < FEWEST_ORDERED_ROWS - 1 or (steps != 0).sum() < FEWEST_GROUPS:
        return False
    return bool(max((steps >= 0).mean(), (steps <= 0).mean()) >= NEARLY_ALL)


def _likeness_of_neighbors(codes: Array) -> float:
    """Return the correlation of the target with that of the row before; of classes, of whether they are the same."""
    if codes.dtype.kind == "f":
        centered = codes - codes.mean()
        return float(centered[1:] @ centered[:-1] / max(centered @ centered, 1e-300))
    shares = np.bincount(codes) / len(codes)
    by_chance = float(shares @ shares)
    same = float((codes[1:] == codes[:-1]).mean())
    return (same - by_chance) / max(1.0 - by_chance, 1e-300)


def _groups(rows: pd.DataFrame, codes: Array, target: Target, columns: Columns, options: Options) -> list[str]:
    named = {*options.drop, options.weights, options.time_column}
    for name in rows.columns:
        if name == target.name or name in named or columns.left_out.get(name) == OF_LISTS:
            continue
        column = rows[name]
        kind = columns.kinds.get(name, "")
        if kind in (*DATES, TEXT) or (is_numeric(column) and not np.array_equal(_whole(column), column.dropna())):
            continue
        groups = pd.factorize(column)[0]
        n_groups = int(groups.max()) + 1
        n_per_group = (groups >= 0).sum() / max(n_groups, 1)
        if n_groups < FEWEST_GROUPS or not FEWEST_PER_GROUP <= n_per_group <= MOST_PER_GROUP:
            continue
        is_named = ID_NAME.search(str(name)) is not None
        is_close = kind in WORD_KINDS and _between(codes, groups) > CLOSE
        if is_named or is_close:
            alike = " and rows of one value have similar targets" if is_close else ""
            return [
                f"Column {name} looks like the name of something that has several rows ({n_groups:,} values in "
                f"{len(rows):,} rows){alike}. If the model will meet new ones, fit again with --group {_quoted(name)}, "
                "so that it is tried on ones that it has not seen; as it is, the error may be too small."
            ]
    return []


def _whole(column: pd.Series) -> Array:
    return np.round(column.dropna().to_numpy(dtype=np.float64))


def _between(codes: Array, groups: Array) -> float:
    """Return the share of the target's variation that lies between groups, less what chance would give (adjusted R²).

    Of classes, the most frequent one against the others.
    """
    known = groups >= 0
    values = codes[known].astype(np.float64) if codes.dtype.kind == "f" else _is_most_frequent(codes[known])
    groups = groups[known]
    rows = np.bincount(groups)
    means = np.bincount(groups, values) / np.maximum(rows, 1)
    inside = float(np.square(values - means[groups]).sum())
    total = float(np.square(values - values.mean()).sum())
    free = len(values) - len(rows)
    return 1.0 - (inside / free) / (total / (len(values) - 1)) if free > 0 and total > 0 else 0.0


def _is_most_frequent(codes: Array) -> Array:
    return (codes == np.bincount(codes).argmax()).astype(np.float64)


def _drift(X: pd.DataFrame, order: Array | None, columns: Columns, options: Options) -> list[str]:
    """Return a word about the columns whose early and late rows differ; dates differ by their nature."""
    in_time = np.arange(len(X)) if order is None else np.argsort(order, kind="stable")
    step = max(1, len(in_time) // MOST_ROWS)
    early, late = (part[::step] for part in np.array_split(in_time, 2))
    dated = {part for name in columns.of(*DATES) for part in X.columns if str(part).startswith(f"{name} ")}
    differ = [
        str(name)
        for name in X.columns
        if name not in dated
        and name != options.time_column
        and columns.kinds.get(str(name)) != TEXT
        and _differ(X[name].iloc[early], X[name].iloc[late])
    ]
    if not differ:
        return []
    more = f" and {len(differ) - MOST_NAMED} more" if len(differ) > MOST_NAMED else ""
    help_ = (
        "The rows to come may differ again: judge by the latest rows, and fit again when they do."
        if options.time_column is not None
        else "If the order is one of time, the rows to come may differ again: fit with --time-column, which judges by "
        "the latest rows, or leave out what drifts with --drop."
    )
    return [f"The first and the second half of the rows differ in {', '.join(differ[:MOST_NAMED])}{more}. {help_}"]


def _differ(early: pd.Series, late: pd.Series) -> bool:
    """Return whether two samples differ by much, and not by chance."""
    if pd.api.types.is_numeric_dtype(early):
        one, other = early.dropna().to_numpy(), late.dropna().to_numpy()
        if min(len(one), len(other)) < FEWEST_ORDERED_ROWS / 2:
            return False
        found = ks_2samp(one, other, method="asymp")
        return bool(found.statistic >= DIFFERENT and found.pvalue < UNLIKELY)
    counts = pd.DataFrame({"early": early.value_counts(), "late": late.value_counts()}).fillna(0.0)
    counts = counts[counts.sum(axis=1) >= 2 * FEWEST_GROUPS]  # rare words differ by chance
    if len(counts) < 2 or (counts.sum() == 0).any():
        return False
    shares = counts / counts.sum()
    gap = float((shares["early"] - shares["late"]).abs().sum() / 2)
    return gap >= DIFFERENT and float(chi2_contingency(counts.to_numpy()).pvalue) < UNLIKELY


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
