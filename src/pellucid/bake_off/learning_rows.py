"""The rows to learn from, split for validation, prepared once for all methods that want the same."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from pellucid.bake_off.contestants import Contestant
from pellucid.core.types import Array
from pellucid.tables.understanding import Columns

MOST_KEPT_NUMBERS = 60_000_000
"""Prepared splits with more numbers than this in all are made again for every method."""


@dataclass(frozen=True)
class Fold:
    """Matrices of one split and the seconds it took to prepare them."""

    X_train: Any
    X_validation: Any
    y_train: Array
    y_validation: Array
    seconds: float


@dataclass
class LearningRows:
    """A table as a ColumnReader has read it, its target and its splits."""

    columns: Columns
    X: pd.DataFrame
    y: Array
    splits: list[tuple[Array, Array]]
    is_classification: bool
    _prepare: Any = None
    _folds: dict[int, Fold] = field(default_factory=dict)

    def fold(self, contestant: Contestant, index: int) -> Fold:
        """Return a split prepared for a method."""
        if contestant.prepare is not self._prepare:
            self._prepare, self._folds = contestant.prepare, {}
        if index in self._folds:
            return self._folds[index]
        fold = self._prepared(contestant, *self.splits[index])
        if np.prod(fold.X_train.shape, dtype=float) * len(self.splits) <= MOST_KEPT_NUMBERS:
            self._folds[index] = fold
        return fold

    def sample(self, contestant: Contestant, share: float) -> Fold:
        """Return a share of the first split, prepared: enough to see what the whole will cost."""
        draw = check_random_state(0)
        train, validation = (
            np.sort(draw.choice(rows, max(2, int(share * len(rows))), replace=False)) for rows in self.splits[0]
        )
        return self._prepared(contestant, train, validation)

    def _prepared(self, contestant: Contestant, train: Array, validation: Array) -> Fold:
        start = time.monotonic()
        inside = self.X.iloc[train]
        transformer = contestant.prepare(self.columns, inside)
        X_train, X_validation = transformer.fit_transform(inside), transformer.transform(self.X.iloc[validation])
        return Fold(X_train, X_validation, self.y[train], self.y[validation], time.monotonic() - start)
