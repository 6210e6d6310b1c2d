"""The splits that an optimal tree may use: thresholds of numbers, single categories of codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.types import Array

MOST_CATEGORIES = 1024
"""Codes of a column of categories must be below this: a set of them is kept as bits."""


@dataclass(frozen=True)
class BinnedColumns:
    """Rows as bins of their columns.

    An ordered column has one split after each bin but the last, a column of categories one for each bin against all
    others. The splits of all columns stand one after the other.
    """

    codes: Array
    """int32 (n_rows, n_columns): bins from 0."""
    cuts: tuple[Array, ...]
    """Of each column its thresholds, or the codes of its categories."""
    is_category: Array
    """bool (n_columns)."""

    @property
    def n_bins(self) -> Array:
        """Bins of each column."""
        return np.array([len(cuts) + (not of) for cuts, of in zip(self.cuts, self.is_category, strict=True)], np.int64)

    @property
    def starts(self) -> Array:
        """Where the splits of each column begin, and where the last ones end."""
        return np.concatenate([[0], np.cumsum([len(cuts) for cuts in self.cuts])]).astype(np.int64)

    def inside(self, rows: Array, column: int, split: int) -> Array:
        """Return which of the rows go left: up to the threshold, or of the category."""
        codes = self.codes[rows, column]
        return np.asarray(codes == split if self.is_category[column] else codes <= split)


def binned_columns(X: Array, weight: Array, is_category: Array, max_thresholds: int | None) -> BinnedColumns:
    """Return the rows as bins.

    Thresholds lie half way between neighboring values. If there are more than ``max_thresholds`` in a column, those
    next to evenly spaced shares of the weight are taken.
    """
    cuts, codes = [], np.zeros(X.shape, dtype=np.int32)
    for j in range(X.shape[1]):
        column = np.asarray(X[:, j], dtype=np.float64)
        if is_category[j]:
            cuts.append(np.unique(column))
            codes[:, j] = np.searchsorted(cuts[j], column)
        else:
            cuts.append(_thresholds(column, weight, max_thresholds))
            codes[:, j] = np.searchsorted(cuts[j], column, side="left")
    return BinnedColumns(codes, tuple(cuts), is_category)


def category_mask(wanted: Any, X: Array, names: Sequence[str] | None) -> Array:
    """Return which columns hold codes of categories: those named; refuse names and codes that do not exist."""
    mask = np.zeros(X.shape[1], dtype=bool)
    known = {name: j for j, name in enumerate(names or ())} | {j: j for j in range(X.shape[1])}
    for key in wanted if wanted is not None else ():
        if key not in known:
            raise ValueError(f"categorical_features must name columns of X, got {key!r}. Columns are {list(known)}.")
        mask[known[key]] = True
    for j in np.flatnonzero(mask):
        column = X[:, j]
        if np.any(column != np.floor(column)) or column.min() < 0 or column.max() >= MOST_CATEGORIES:
            raise ValueError(
                f"X must hold whole numbers from 0 to {MOST_CATEGORIES - 1} in the categorical column {j}, got "
                f"{column.min():g} to {column.max():g}. Encode it with OrdinalEncoder."
            )
    return mask


def _thresholds(column: Array, weight: Array, most: int | None) -> Array:
    values, places = np.unique(column, return_inverse=True)
    low, high = values[:-1], values[1:]
    half = low + (high - low) / 2
    half = np.where(half < high, half, low)  # rounding must not lift it to the next value
    if most is None or len(half) <= most:
        return np.asarray(half)
    below = np.cumsum(np.bincount(places, weight))[:-1]
    wanted = weight.sum() * np.arange(1, most + 1) / (most + 1)
    near = np.searchsorted(below, wanted * (1.0 - 1e-12))
    return np.asarray(half[np.unique(np.minimum(near, len(half) - 1))])
