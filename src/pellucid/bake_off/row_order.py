"""Rows that a random split treats wrongly: ordered in time, several of one thing, early and late ones that differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, ks_2samp

from pellucid.bake_off.options import Options
from pellucid.core.types import Array
from pellucid.tables.dates import DATES
from pellucid.tables.understanding import ID_NAME, OF_LISTS, TEXT, WORD_KINDS, Columns, Target, is_numeric

FEWEST_ROWS = 50
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
    if len(rows) < FEWEST_ROWS:
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
    if len(steps) < FEWEST_ROWS - 1 or (steps != 0).sum() < FEWEST_GROUPS:
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
        if min(len(one), len(other)) < FEWEST_ROWS / 2:
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
