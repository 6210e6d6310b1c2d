"""The rows to learn from, split for validation and prepared for methods."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.measures import Measure, measure_for
from pellucid.app.tables.understanding import Columns
from pellucid.core.types import Array

MOST_KEPT_NUMBERS = 30_000_000
"""Of prepared splits with more numbers than this in all, the oldest are made again when they are asked for."""
FEWEST_VALIDATION = 8000
"""Rows that a heat is validated with, if there are as many: predictions cost little, and few rows are a lottery."""
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
    prepare: Any
    """What prepared them, fitted to the training rows."""
    rows_train: Array
    """Places of the training rows among the rows to learn from."""
    seconds: float
    weights_train: Array | None = None
    weights_validation: Array | None = None

    @property
    def size(self) -> float:
        """How many numbers it holds."""
        return float(np.prod(self.X_train.shape, dtype=float) + np.prod(self.X_validation.shape, dtype=float))


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
    places: Array | None = None
    """Of the rows in their table: methods learn in this order, as the last fit does and ``verify`` expects."""
    most_kept: float = MOST_KEPT_NUMBERS
    """Numbers that prepared splits may hold."""
    _folds: dict[tuple[Any, ...], Fold] = field(default_factory=dict)
    """The newest last."""
    _lock: Any = field(default_factory=threading.Lock, repr=False)

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
        """Return some rows of the first split, prepared for a method, and at least as many to validate with."""
        draw = np.random.default_rng(self.seed)
        sizes = (n_rows, max(n_rows, FEWEST_VALIDATION))
        parts = (np.sort(draw.permutation(rows)[:n]) for rows, n in zip(self.splits[0], sizes, strict=True))
        return self._kept(contestant, n_rows, ONLY_HEAT, *parts)

    def _kept(self, contestant: Contestant, n_rows: int | None, index: int, train: Array, validation: Array) -> Fold:
        key = (contestant.prepare, n_rows, index)
        with self._lock:
            if key in self._folds:
                return self._folds[key]
        fold = self._prepared(contestant, train, validation)
        with self._lock:
            self._folds[key] = fold
            while len(self._folds) > 1 and sum(one.size for one in self._folds.values()) > self.most_kept:
                del self._folds[next(iter(self._folds))]
        return fold

    def _prepared(self, contestant: Contestant, train: Array, validation: Array) -> Fold:
        start = time.monotonic()
        if self.places is not None:
            train = train[np.argsort(self.places[train], kind="stable")]
        inside = self.X.iloc[train]
        transformer = contestant.prepare(self.columns, inside)
        X_train = transformer.fit_transform(inside, self.y[train])
        X_validation = transformer.transform(self.X.iloc[validation])
        seconds = time.monotonic() - start
        weights = (None, None) if self.weights is None else (self.weights[train], self.weights[validation])
        y_train, y_validation = self.y[train], self.y[validation]
        return Fold(X_train, X_validation, y_train, y_validation, transformer, train, seconds, *weights)
