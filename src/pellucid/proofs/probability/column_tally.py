"""What weighted rows leave of columns of any kind, as proofs sum it: about a pivot, and the weight of each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, column_values


@dataclass(frozen=True, eq=False)
class ColumnTally:
    """Of some rows, for each column: sums about a pivot and the ends; of all but Gaussian ones the weight of values."""

    weight: float
    n: int
    pivot: Array
    first: Array
    second: Array
    low: Array
    high: Array
    is_text: Array
    is_binary: Array
    counts: tuple[dict[Any, float] | None, ...]

    def plus(self, other: ColumnTally) -> ColumnTally:
        """Return the tally of both sets of rows."""
        move = other.pivot - self.pivot
        second = other.second + 2.0 * move * other.first + other.weight * move**2
        counts = (
            None if a is None or b is None else {value: a.get(value, 0.0) + b.get(value, 0.0) for value in {**a, **b}}
            for a, b in zip(self.counts, other.counts, strict=True)
        )
        return ColumnTally(
            self.weight + other.weight,
            self.n + other.n,
            self.pivot,
            self.first + other.first + other.weight * move,
            self.second + second,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.is_text | other.is_text,
            self.is_binary & other.is_binary,
            tuple(counts),
        )

    @property
    def mean(self) -> Array:
        """Of each column."""
        return np.asarray(self.pivot + self.first / self.weight)

    @property
    def specimen(self) -> Array:
        """One row of which each column is a text, a 0 or another number, as all of it are."""
        return np.where(self.is_text, "a", np.where(self.is_binary, 0.0, 0.5).astype(object))[None, :]

    @property
    def variance(self) -> Array:
        """Of each column."""
        return np.maximum(self.second / self.weight - (self.first / self.weight) ** 2, 0.0)


@dataclass(frozen=True, eq=False)
class SeenColumns:
    """The columns of some rows, texts or numbers, and the same as a table with zeros for texts."""

    columns: list[Array]
    is_text: Array
    table: Array

    @classmethod
    def of(cls, X: Array) -> SeenColumns:
        """Return the columns of rows."""
        columns = [column_values(X, j) for j in range(X.shape[1])]
        is_text = np.array([values.dtype.kind == "U" for values in columns])
        numbers = [np.zeros(len(v)) if text else v for text, v in zip(is_text, columns, strict=True)]
        return cls(columns, is_text, np.column_stack(numbers).astype(np.float64))

    def tally(self, weight: Array, is_gaussian: Sequence[bool]) -> ColumnTally | None:
        """Return the tally of the rows of a weight above 0, about the heaviest of them; None where there are none."""
        own = np.flatnonzero(weight > 0)
        if not len(own):
            return None
        w, rows = weight[own], self.table[own]
        pivot = rows[np.argmax(w)]
        away = rows - pivot
        counts = tuple(None if g else _weights(v[own], w) for g, v in zip(is_gaussian, self.columns, strict=True))
        is_binary = ~self.is_text & np.isin(rows, (0.0, 1.0)).all(axis=0)
        return ColumnTally(
            float(w.sum()), len(own), pivot, w @ away, w @ away**2, rows.min(axis=0), rows.max(axis=0), self.is_text,
            is_binary, counts,
        )  # fmt: skip


def _weights(values: Array, weight: Array) -> dict[Any, float]:
    return {value: float(weight[values == value].sum()) for value in np.unique(values).tolist()}
