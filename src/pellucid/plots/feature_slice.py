"""A slice of the space of the features: some vary, the others are held where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data

MOST_NAMED = 3
"""Held features whose values are written down."""


@dataclass(frozen=True)
class FeatureSlice:
    """The data by columns, the positions of the features that vary, and what the others are held at."""

    data: Data
    columns: dict[Any, Array]
    names: list[Any]
    varying: tuple[int, ...]
    held: dict[int, Any]

    def values(self, k: int) -> Array:
        """Return the data of the feature that varies as number ``k``."""
        return np.asarray(self.columns[self.names[self.varying[k]]], dtype=float)

    def label(self, k: int) -> str:
        """Return the name of the feature that varies as number ``k``."""
        name = self.names[self.varying[k]]
        return str(name) if self.has_names else f"feature {name}"

    @property
    def has_names(self) -> bool:
        """Whether the data are a table with named columns."""
        return hasattr(self.data, "columns")

    def rows(self, *grids: Array) -> Data:
        """Return rows of the kind of the data, with these values of the features that vary."""
        n = len(grids[0])
        columns = {name: np.full(n, self.held[j]) for j, name in enumerate(self.names) if j in self.held}
        for j, grid in zip(self.varying, grids, strict=True):
            columns[self.names[j]] = grid
        if not self.has_names:
            return np.column_stack([np.asarray(columns[name], dtype=float) for name in self.names])
        table = type(self.data)({name: columns[name] for name in self.names})
        if not hasattr(table, "astype"):
            return table
        whole = self.data.dtypes  # a column of whole numbers may get fractions on the way
        kept = {name: whole[name] for j, name in enumerate(self.names) if j in self.held}
        return table.astype(kept)

    def note(self) -> str:
        """Return what the others are held at; nothing if there are none."""
        if not self.held:
            return ""
        named = [f"{self._written(j)} = {_short(value)}" for j, value in list(self.held.items())[:MOST_NAMED]]
        more = len(self.held) - len(named)
        return "at " + ", ".join(named) + (f" and {more} more" if more else "")

    def _written(self, j: int) -> str:
        return str(self.names[j]) if self.has_names else f"feature {j}"


def feature_slice(X: Data, features: Sequence[Any], at: Any = None) -> FeatureSlice:
    """Return the slice along these features, numbers or names, through ``at``: the middle if not told.

    ``at`` maps features to values, or has one value for each; the middle is the median, of words the most frequent.
    """
    columns = _columns(X)
    names = list(columns)
    varying = tuple(_position(names, feature, X) for feature in features)
    if len(set(varying)) < len(varying):
        raise ValueError(f"features must be different ones, got {tuple(features)}.")
    for j in varying:
        if not _is_numeric(columns[names[j]]):
            raise ValueError(f"features must be numbers to be drawn, got the column {names[j]!r} of other values.")
    return FeatureSlice(X, columns, names, varying, _held(columns, names, varying, at, X))


def _columns(X: Data) -> dict[Any, Array]:
    if hasattr(X, "columns"):
        return {name: np.asarray(X[name]) for name in X.columns}
    table = np.asarray(X.toarray() if sparse.issparse(X) else X)
    if table.ndim != 2:
        raise ValueError(f"X must have rows and columns, got shape {table.shape}.")
    return {j: table[:, j] for j in range(table.shape[1])}


def _position(names: list[Any], feature: Any, X: Data) -> int:
    if hasattr(X, "columns") and feature in names:
        return names.index(feature)
    if isinstance(feature, (int, np.integer)) and 0 <= feature < len(names):
        return int(feature)
    raise ValueError(f"features must be columns of X, got {feature!r}. X has {len(names)} columns: {names[:8]}.")


def _held(columns: dict[Any, Array], names: list[Any], varying: tuple[int, ...], at: Any, X: Data) -> dict[int, Any]:
    given: dict[int, Any] = {}
    if isinstance(at, Mapping):
        given = {_position(names, name, X): value for name, value in at.items()}
    elif at is not None:
        if len(at) != len(names):
            raise ValueError(f"at must have a value for each of the {len(names)} features of X, got {len(at)}.")
        given = dict(enumerate(at))
    others = [j for j in range(len(names)) if j not in varying]
    return {j: given.get(j, _middle(columns[names[j]])) for j in others}


def _middle(column: Array) -> Any:
    if _is_numeric(column):
        return float(np.nanmedian(column.astype(float)))
    values, counts = np.unique(column.astype(str), return_counts=True)
    winner = values[int(np.argmax(counts))]
    return next(value for value in column if str(value) == winner)


def _is_numeric(column: Array) -> bool:
    return column.dtype.kind in "fiub"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (int, float, np.number)) else str(value)
