"""From a table to a map: understand, make comparable, compare methods, place every row."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.maps.result import SHORT_NAMES, MappedTable, MapScore, best_map, compare_maps, map_by
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.comparable_numbers import understand_chosen
from pellucid.app.tables.preparation import comparable
from pellucid.app.tables.reading import TableError, as_frame
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.core.verification import verify
from pellucid.core.watching import listening
from pellucid.proofs.certificate import Certificate

FEWEST_ROWS = 4
MOST_COMPARED = 1500
"""Rows that the methods are compared on and fitted to; the others are placed among them."""

Listener = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how much is done."""


def map_table(
    frame: Any,
    color: str | None = None,
    *,
    method: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    coerce: bool = True,
    seed: int = 0,
    listen: Listener | None = None,
) -> MappedTable:
    """Return the rows of a table in two dimensions, by the method that keeps their neighbors best.

    Parameters
    ----------
    frame : DataFrame of pandas or polars
        One row per example; numbers, words, dates, texts and gaps as they are.
    color : str or None, default=None
        A column to color the dots by. It does not move them: the map is made of the other columns.
    method : {'pca', 'isomap', 'laplacian', 'lle', 'tsne'} or None, default=None
        The method to map by, whichever keeps neighbors best; None chooses.
    drop, keep : sequence of str, default=()
        Columns to leave out, and columns to use although they look like an id.
    coerce : bool, default=True
        Whether prices, dates, yes and no are read into texts.
    seed : int, default=0
        The same seed gives the same map.
    listen : callable, default=None
        Called with what is being done, and how much of how much is done; None shows a bar in a notebook.

    Examples
    --------
    >>> from pellucid.data import load_diabetes
    >>> result = map_table(load_diabetes(), color="progression")
    >>> result.places.shape, result.chosen.quality.trustworthiness > 0.75
    ((442, 2), True)
    """
    start = time.monotonic()
    table = as_frame(frame)
    if color is not None and color not in table.columns:
        raise TableError(f"color must be a column of the table {list(table.columns)}, got {color!r}.")
    if method is not None and method not in SHORT_NAMES:
        raise TableError(f"method must be one of {', '.join(SHORT_NAMES)}, got {method!r}. Leave it out to choose.")
    if len(table) < FEWEST_ROWS:
        raise TableError(f"table must have at least {FEWEST_ROWS} rows for a map, got {len(table)}.")
    left_out = [*drop, *([color] if color is not None and color not in drop else [])]
    columns = understand_chosen(table, left_out, keep, coerce=coerce)
    X = _comparable_rows(table, columns)
    compared = some_rows(len(X), MOST_COMPARED)
    with listening(listen) as hear:
        scores = compare_maps(X[compared], seed, hear)
        chosen = best_map(scores) if method is None else map_by(scores, method)
        hear("verifying the map", len(scores), len(scores))
        certificate = _verified(chosen, X[compared])
        hear("placing the rows", len(scores), len(scores))
        places = _all_places(X, compared, chosen)
    return MappedTable(
        places=places,
        chosen=chosen,
        scores=scores,
        compared=compared,
        prepared=X[compared],
        columns=columns,
        table=table,
        color=color,
        seed=seed,
        is_asked_for=method is not None,
        certificate=certificate,
        seconds=time.monotonic() - start,
    )


def _comparable_rows(table: pd.DataFrame, columns: Any) -> Array:
    """Return the rows as numbers in one unit; refuse rows that are all the same."""
    read = ColumnReader(dict(columns.kinds)).fit_transform(table)
    X = np.ascontiguousarray(comparable(columns, read).fit_transform(read), dtype=np.float64)
    if not np.ptp(X, axis=0).any():
        raise TableError("table must have rows that differ for a map, got rows that are all the same.")
    return X


def _verified(chosen: MapScore, X: Array) -> Certificate:
    """Return what the proof finds of the chosen map; the page shows a claim that fails, so that nobody is warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        return verify(chosen.model, X, random_state=0)


def _all_places(X: Array, compared: Array, chosen: MapScore) -> Array:
    """Return the places of all rows: those compared where they stand, the others by ``transform``."""
    assert chosen.places is not None
    places = np.zeros((len(X), 2))
    places[compared] = chosen.places
    others = np.setdiff1d(np.arange(len(X)), compared)
    if len(others):
        found = np.asarray(chosen.model.transform(X[others]))
        places[others, : found.shape[1]] = found
    return places
