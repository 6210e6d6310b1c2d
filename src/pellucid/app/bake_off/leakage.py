"""Leakage: a column that alone predicts the target, or a sum of columns that is it, may have been written after it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from pellucid.app.tables.step_features import StepFeatures
from pellucid.core.types import Array

MOST_ROWS = 5000
"""Rows looked at."""
N_FOLDS = 3
N_BINS = 50
TOO_GOOD = 0.95
"""Share of the baseline's error that a column alone takes away: from here on it is suspicious."""


MOST_GAPS = 0.2
"""Share of gaps in a column above which it is not looked at for relations."""
MOST_COLUMNS, MOST_IN_RELATION, MOST_IN_SUM, MOST_CANDIDATES = 40, 6, 3, 200
"""Columns that are looked at for relations, and that are few enough for one."""
NEARLY_ALL = 0.95
"""Share of the rows in which a relation holds."""
ROUNDING = 1e-9
FINE = 0.01
"""Size of the last digit of the target, in its standard deviations, below which it may be lost by rounding."""
TRIMMED, N_TRIMS = 0.6, 10
"""Share of the rows that a line is fitted to again, those that it fits best, and how often."""
FEW_REMAINDERS, USUAL_SHARE, LEAST_SPREAD = 8, 0.9, 0.5
"""So many values are what is left of nearly all rows, though the target has others in so many."""


@dataclass(frozen=True)
class Relation:
    """Columns whose weighted sum is the target, in a share of the rows, up to rounding or a few remainders."""

    columns: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    share: float
    n_rows: int
    n_remainders: int = 1
    """Different values of what is left, if it is not nothing."""

    @property
    def formula(self) -> str:
        """The sum as a person writes it."""
        terms = [_term(weight, name) for weight, name in zip(self.coefficients, self.columns, strict=True)]
        terms += [_term(self.intercept, "")] if self.intercept else []
        return " ".join(sorted(terms, key=lambda term: term.startswith("-"))).removeprefix("+ ")


def _term(weight: float, name: str) -> str:
    size = f"{abs(weight):.6g}"
    factor = name if size == "1" and name else f"{size} {name}".strip()
    return f"{'-' if weight < 0 else '+'} {factor}"


@dataclass(frozen=True)
class Leak:
    """A column and the cross-validated share of the baseline's error that it takes away on its own."""

    column: str
    share: float


def find_leaks(X: pd.DataFrame, y: Array, *, is_classification: bool, seed: int) -> list[Leak]:
    """Return the columns that alone predict the target nearly perfectly, the worst first.

    A column alone predicts, for each of its values (numbers: for each of 50 bins), the most frequent class or the mean
    of the learning rows that have it. Three folds; at most 5000 rows.
    """
    chosen = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    target = y[chosen]
    if is_classification:
        target = np.unique(target, return_inverse=True)[1]
    leaks = []
    for name in X.columns:
        share = _share_explained(_codes(X[name].iloc[chosen]), target, is_classification)
        if share >= TOO_GOOD:
            leaks.append(Leak(str(name), share))
    return sorted(leaks, key=lambda leak: -leak.share)


def _codes(column: pd.Series) -> Array:
    """Return the number of each row's value or bin; gaps have one of their own."""
    if not pd.api.types.is_numeric_dtype(column):
        return pd.factorize(column, use_na_sentinel=False)[0]
    values = column.to_numpy(dtype=np.float64)
    present = ~np.isnan(values)
    codes = np.zeros(len(values), dtype=np.intp)
    if present.any():
        edges = StepFeatures(N_BINS).fit(values[present, None]).thresholds_[0]
        if len(np.unique(values[present])) == 2:
            edges = np.array([np.mean(np.unique(values[present]))])
        codes[present] = 1 + np.searchsorted(edges, values[present])
    return codes


def _share_explained(codes: Array, target: Array, is_classification: bool) -> float:
    alone = baseline = 0.0
    for train, test in KFold(min(N_FOLDS, len(target))).split(codes[:, None]):
        if is_classification:
            counts = np.zeros((codes.max() + 1, target.max() + 1))
            np.add.at(counts, (codes[train], target[train]), 1)
            usual = int(counts.sum(axis=0).argmax())
            predicted = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), usual)[codes[test]]
            alone += float(np.sum(predicted != target[test]))
            baseline += float(np.sum(usual != target[test]))
        else:
            mean = target[train].mean()
            sums = np.bincount(codes[train], target[train], minlength=codes.max() + 1)
            rows = np.bincount(codes[train], minlength=codes.max() + 1)
            predicted = np.where(rows > 0, sums / np.maximum(rows, 1), mean)[codes[test]]
            alone += float(np.sum((predicted - target[test]) ** 2))
            baseline += float(np.sum((mean - target[test]) ** 2))
    return 1.0 - alone / baseline if baseline > 0 else 0.0


def find_relations(X: pd.DataFrame, y: Array, *, seed: int) -> list[Relation]:
    """Return the relation by which a target of numbers follows from few columns, if there is one.

    A line is fitted to at most 5000 rows, and again to those that it fits best, so that a few exceptions do no harm;
    columns that it can do without are taken out. If it fits no row, sums and differences of up to three columns are
    tried, which may leave a handful of values, such as fees. What is found is looked at in all rows.
    """
    names = [
        name
        for name in X.columns
        if pd.api.types.is_float_dtype(X[name].dtype) and X[name].isna().mean() <= MOST_GAPS and X[name].nunique() > 1
    ]
    whole = X[names].to_numpy(dtype=np.float64)
    present = np.flatnonzero(~np.isnan(whole).any(axis=1))
    rows = np.random.default_rng(seed).permutation(present)[:MOST_ROWS]
    if len(rows) < max(50, 5 * (min(len(names), MOST_COLUMNS) + 1)) or not names or np.ptp(y[rows]) == 0.0:
        return []
    with np.errstate(all="ignore"):
        near = np.nan_to_num(np.abs(np.corrcoef(whole[rows].T, y[rows])[-1, :-1]))
    kept = np.sort(np.argsort(-near, kind="stable")[:MOST_COLUMNS])
    names, whole = [names[j] for j in kept], whole[:, kept]
    found = _exact(whole[rows], y[rows]) or _with_remainders(whole[rows], y[rows])
    if found is None:
        return []
    columns, weights = found
    there = ~np.isnan(whole[:, columns]).any(axis=1)
    left = y[there] - whole[there][:, columns] @ weights
    unit = max(_unit(y), ROUNDING * float(np.abs(y).max()))
    values, counts = np.unique(np.round(left / unit), return_counts=True)
    most = np.argsort(-counts, kind="stable")[:FEW_REMAINDERS]
    usual = float(np.median(left))
    allowed = _allowed(whole[there][:, columns] * weights, y[there])
    holds = np.abs(left - usual) <= allowed
    parts = tuple(names[j] for j in columns), tuple(float(weight) for weight in weights)
    if holds.mean() >= NEARLY_ALL:
        intercept = (
            usual if abs(usual) > float(np.median(_allowed(whole[there][:, columns] * weights, y[there]))) else 0.0
        )
        return [Relation(*parts, intercept, float(holds.mean()), int(there.sum()))]
    share = float(counts[most].sum() / counts.sum())
    if share >= USUAL_SHARE:
        return [Relation(*parts, 0.0, share, int(there.sum()), n_remainders=min(len(values), FEW_REMAINDERS))]
    return []


def _unit(y: Array) -> float:
    """Return the size of the last digit of decimal numbers, 0 if they have many digits or it is not small."""
    for digits in range(7):
        if np.allclose(y, np.round(y, digits), rtol=0.0, atol=1e-9 * 10.0**-digits):
            return 10.0**-digits if 10.0**-digits <= FINE * float(np.std(y)) else 0.0
    return 0.0


def _allowed(terms: Array, y: Array) -> Array:
    """Return how far a sum may be from the target by rounding: of its terms to the digits written, and of floats."""
    size = np.abs(terms).sum(axis=1) + np.abs(y)
    return ROUNDING * size + _unit(y) * (terms.shape[1] + 1) / 2


def _exact(X: Array, y: Array) -> tuple[list[int], Array] | None:
    """Return the columns and weights of a line on which nearly all rows lie, as few columns as it can do with."""
    columns = list(range(X.shape[1]))
    weights = _line(X, y)
    if weights is None:
        return None
    for j in np.argsort(np.abs(weights) * np.std(X, axis=0), kind="stable"):
        fewer = [column for column in columns if column != j]
        without = _line(X[:, fewer], y) if fewer else None
        if without is not None:
            columns, weights = fewer, without
    return (columns, np.round(weights, 9)) if len(columns) <= MOST_IN_RELATION else None


def _line(X: Array, y: Array) -> Array | None:
    """Return the weights of a line on which nearly all rows lie; it is fitted again to the rows that it fits best."""
    A = np.column_stack([X, np.ones(len(y))])
    scale = np.maximum(np.abs(A).max(axis=0), np.finfo(float).tiny)
    kept = np.arange(len(y))
    for _ in range(N_TRIMS):
        weights = np.linalg.lstsq(A[kept] / scale, y[kept], rcond=1e-10)[0] / scale
        left = np.abs(y - A @ weights)
        if np.mean(left <= _allowed(A * weights, y)) >= NEARLY_ALL:
            return np.asarray(weights[:-1])
        kept = np.sort(np.argsort(left, kind="stable")[: max(int(TRIMMED * len(y)), A.shape[1] + 1)])
    return None


def _with_remainders(X: Array, y: Array) -> tuple[list[int], Array] | None:
    """Return the sum or difference of few columns that leaves few different values of the target, if there is one."""
    unit = _unit(y)
    if not unit or _share_of_few(y, unit) > LEAST_SPREAD:
        return None
    joint = np.cov(np.column_stack([X, y]).T)
    candidates = []
    for size in range(1, MOST_IN_SUM + 1):
        for columns in combinations(range(X.shape[1]), size):
            for signs in product((1.0, -1.0), repeat=size):
                v = np.array([*signs, -1.0])
                places = [*columns, X.shape[1]]
                left = float(v @ joint[np.ix_(places, places)] @ v)
                if left <= LEAST_SPREAD * joint[-1, -1]:
                    candidates.append((left, list(columns), np.array(signs)))
    for _, chosen, weights in sorted(candidates, key=lambda one: one[0])[:MOST_CANDIDATES]:
        if _share_of_few(y - X[:, chosen] @ weights, unit) >= USUAL_SHARE:
            return chosen, weights
    return None


def _share_of_few(values: Array, unit: float) -> float:
    """Return the share of the rows that hold one of the few most frequent values."""
    counts = np.unique(np.round(values / unit), return_counts=True)[1]
    return float(np.sort(counts)[-FEW_REMAINDERS:].sum() / len(values))
