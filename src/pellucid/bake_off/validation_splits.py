"""The rows to learn from, split for validation and prepared for methods."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.measures import Measure, measure_for
from pellucid.core.types import Array
from pellucid.tables.understanding import Columns

MOST_KEPT_NUMBERS = 60_000_000
"""Prepared splits with more numbers than this in all are made again for every method."""
USUAL = Measure("usual", None)
"""Stands for the usual measure of the task."""
ONLY_HEAT = -1
"""Stands for the place of a split where a heat is kept."""


@dataclass(frozen=True)
class Fold:
    """Matrices of one split and the seconds it took to prepare them."""

    X_train: Any
    X_validation: Any
    y_train: Array
    y_validation: Array
    seconds: float
    weights_train: Array | None = None
    weights_validation: Array | None = None


@dataclass
class ValidationSplits:
    """The rows to learn from, split for validation; each split is prepared once for all methods that want the same."""

    columns: Columns
    X: pd.DataFrame
    y: Array
    splits: list[tuple[Array, Array]]
    is_classification: bool
    seed: int = 0
    measure: Measure = USUAL
    """What counts as an error."""
    weights: Array | None = None
    _prepared_for: Any = None
    _folds: dict[int, Fold] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.measure is USUAL:
            self.measure = measure_for(None, self.y, is_classification=self.is_classification, weighted=False)

    @property
    def n_training(self) -> int:
        """Training rows of the first split."""
        return len(self.splits[0][0])

    def fold(self, contestant: Contestant, index: int) -> Fold:
        """Return a split prepared for a method."""
        return self._kept(contestant, None, index, *self.splits[index])

    def heat(self, contestant: Contestant, n_rows: int) -> Fold:
        """Return some rows of the first split, as many to learn from as to validate with, prepared for a method."""
        draw = np.random.default_rng(self.seed)
        parts = (np.sort(draw.permutation(rows)[:n_rows]) for rows in self.splits[0])
        return self._kept(contestant, n_rows, ONLY_HEAT, *parts)

    def _kept(self, contestant: Contestant, n_rows: int | None, index: int, train: Array, validation: Array) -> Fold:
        if self._prepared_for != (contestant.prepare, n_rows):
            self._prepared_for, self._folds = (contestant.prepare, n_rows), {}
        if index in self._folds:
            return self._folds[index]
        fold = self._prepared(contestant, train, validation)
        if np.prod(fold.X_train.shape, dtype=float) * len(self.splits) <= MOST_KEPT_NUMBERS:
            self._folds[index] = fold
        return fold

    def _prepared(self, contestant: Contestant, train: Array, validation: Array) -> Fold:
        start = time.monotonic()
        inside = self.X.iloc[train]
        transformer = contestant.prepare(self.columns, inside)
        X_train, X_validation = transformer.fit_transform(inside), transformer.transform(self.X.iloc[validation])
        seconds = time.monotonic() - start
        weights = (None, None) if self.weights is None else (self.weights[train], self.weights[validation])
        return Fold(X_train, X_validation, self.y[train], self.y[validation], seconds, *weights)
