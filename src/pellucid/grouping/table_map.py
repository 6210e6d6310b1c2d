"""The rows on a map: the two directions in which they differ the most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array

MOST_FITTED = 20_000
"""Rows that the directions are found from."""


@dataclass(frozen=True)
class TableMap:
    """Places of all rows in two dimensions, and the part of their differences that each dimension shows."""

    places: Array
    shares: tuple[float, float]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    """The columns that matter the most for each direction."""


def draw_map(X: Array, names: list[str], most_named: int = 3) -> TableMap:
    """Return the rows along their two main directions; the largest part of each direction is above 0."""
    some = X[some_rows(len(X), MOST_FITTED)]
    mean = some.mean(axis=0)
    _, sizes, directions = np.linalg.svd(some - mean, full_matrices=False)
    total = float(np.sum(sizes**2)) or 1.0
    axes = np.zeros((2, X.shape[1]))
    axes[: min(2, len(directions))] = directions[:2]
    axes *= np.where(axes[[0, 1], np.abs(axes).argmax(axis=1)] < 0.0, -1.0, 1.0)[:, None]
    shares = [float(size**2) / total for size in sizes[:2]] + [0.0, 0.0]
    first, second = (tuple(names[j] for j in np.argsort(-np.abs(axis))[:most_named] if axis[j]) for axis in axes)
    return TableMap((X - mean) @ axes.T, (shares[0], shares[1]), (first, second))
