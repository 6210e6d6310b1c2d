"""Data by name: tables that come with the library, and sets that are made, each as rows, target and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.checks import check_whole, find_name
from pellucid.core.types import Array, Data
from pellucid.data.bundled_tables import BUNDLED

NOT_ROWS = ("capitals_of_europe", "distances_by_hand", "documents")
"""Bundled tables without a row of columns for each example: distances, and texts."""
TARGETS = {"energy": ("heating_load", "cooling_load")}
"""Columns that are not features where they are more than the last one; the first is the target."""

Made = tuple[Array, Array | None, list[str]]
FEWEST_ROWS, MOST_ROWS = 2, 20_000


def _blobs(rows: int, seed: int) -> Made:
    from sklearn.datasets import make_blobs

    X, y = make_blobs(rows, centers=[[-4.0, -1.0], [0.0, 3.5], [4.0, -1.0]], cluster_std=1.1, random_state=seed)
    return X, y, ["x", "y"]


def _circles(rows: int, seed: int) -> Made:
    from sklearn.datasets import make_circles

    return *make_circles(rows, noise=0.08, factor=0.5, random_state=seed), ["x", "y"]


def _line(rows: int, seed: int) -> Made:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 10.0, rows)
    return x[:, np.newaxis], 1.0 + 0.5 * x + rng.normal(0.0, 0.7, rows), ["x"]


def _moons(rows: int, seed: int) -> Made:
    from sklearn.datasets import make_moons

    return *make_moons(rows, noise=0.2, random_state=seed), ["x", "y"]


def _swiss_roll(rows: int, seed: int) -> Made:
    from sklearn.datasets import make_swiss_roll

    return *make_swiss_roll(rows, random_state=seed), ["x", "y", "z"]


def _wave(rows: int, seed: int) -> Made:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 10.0, rows)
    return x[:, np.newaxis], np.sin(x) + rng.normal(0.0, 0.25, rows), ["x"]


MADE: dict[str, Callable[[int, int], Made]] = {
    "blobs": _blobs,
    "circles": _circles,
    "line": _line,
    "moons": _moons,
    "swiss_roll": _swiss_roll,
    "wave": _wave,
}


def set_names() -> tuple[str, ...]:
    """Return the names of all sets, made ones first."""
    return (*MADE, *(name for name in BUNDLED if name not in NOT_ROWS))


def load_set(name: str, *, rows: int = 150, seed: int = 0) -> tuple[Data, Data, list[str]]:
    """Return rows, target and names of columns of a set.

    Parameters
    ----------
    name : str
        One of :func:`set_names`.
    rows : int, default=150
        Rows of a made set, 2 to 20,000; a bundled table has its own.
    seed : int, default=0
        The same seed makes the same set.

    Examples
    --------
    >>> X, y, names = load_set("moons", rows=6)
    >>> X.shape, names
    ((6, 2), ['x', 'y'])
    """
    name = find_name(name, set_names(), what="name")
    if name in MADE:
        check_whole(FEWEST_ROWS, rows=rows)
        if rows > MOST_ROWS:
            raise ValueError(f"rows must be at most {MOST_ROWS:,}, got {rows:,}.")
        return MADE[name](rows, seed)
    table: Any = BUNDLED[name]()
    targets = TARGETS.get(name, (table.columns[-1],))
    columns = table.drop(columns=list(targets))
    numbers = columns.select_dtypes("number")
    is_words = not len(numbers.columns)
    X = columns if is_words else numbers.to_numpy(dtype=float)
    return X, table[targets[0]].to_numpy(), list((columns if is_words else numbers).columns)
