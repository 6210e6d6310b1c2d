"""Leakage: a column that alone predicts the target may have been written after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from pellucid.core.types import Array
from pellucid.tables.step_features import StepFeatures

MOST_ROWS = 5000
"""Rows looked at."""
N_FOLDS = 3
N_BINS = 50
TOO_GOOD = 0.95
"""Share of the baseline's error that a column alone takes away: from here on it is suspicious."""


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
