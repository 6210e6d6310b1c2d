"""Neighbors among rows in blocks: the best of each block, joined by the rule that decides in memory.

A model that was fitted to a Dask collection keeps the collection, not its rows: every search is a pass over them. Of
equal distances the lower row number is nearer, whatever block it stands in, so that answers are those in memory to the
last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.labels import known_codes
from pellucid.core.scale.block_data import look_at_columns
from pellucid.core.scale.moments import refuse_values
from pellucid.core.scale.row_blocks import BlockError, Layout, RowBlock, RowBlocks, read_block, row_blocks
from pellucid.core.scale.table_in_blocks import as_floats
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.neighbors.metric import Metric, unit_of
from pellucid.neighbors.nearest_rows import nearest_sums
from pellucid.solvers.kd_tree import Nearest

NOT_HELD = (
    "the model must hold its rows to be saved, but it was fitted to a Dask collection and reads them from there. "
    "Fit it to rows in memory, or fit it again where it is needed."
)


@dataclass(frozen=True, eq=False)
class StoredBlocks:
    """The training rows of a model, which stay where they are."""

    blocks: RowBlocks
    starts: tuple[int, ...]
    """Number of the first row of each block."""
    largest: float
    """Of the absolute values of all rows."""
    like: Array
    """The target of a row, as it is kept in memory."""
    not_saveable = NOT_HELD

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.blocks.n_rows, self.blocks.n_features

    def __deepcopy__(self, memo: dict[int, Any]) -> StoredBlocks:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_HELD)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of some queries: distances and row numbers (n, k), and their targets (n, k) or (n, k, t)."""

    distances: Array
    indices: Array
    targets: Array


@dataclass(frozen=True, eq=False)
class Search:
    """What a block must know to be searched; distances are sums of powers until all blocks are joined."""

    metric: Metric
    unit: float
    k: int
    starts: tuple[int, ...]
    classes: tuple[Array, ...]
    """Labels of each output, whose codes are targets; none for numbers."""
    like: Array
    """The target of a row, as it is kept in memory."""

    @classmethod
    def of(cls, model: Any, k: int) -> Search:
        """Return the search among the rows of a fitted model."""
        metric, stored = Metric(model.effective_metric_, model.effective_metric_params_), model._fit_X
        assert metric.power is not None  # or it would not have been fitted
        labels = tuple(model._label_sets()) if hasattr(model, "classes_") else ()
        unit = unit_of(np.array([[stored.largest]]), metric.power)
        return cls(metric, unit, k, stored.starts, labels, stored.like)

    def rooted(self, found: Neighbors) -> Neighbors:
        """Return neighbors with distances in place of sums of powers."""
        return Neighbors(self.metric.rooted(found.distances, self.unit), found.indices, found.targets)


def nearest_in_block(block: RowBlock, search: Search, queries: Array) -> Neighbors:
    """Return the nearest rows of a block."""
    rows, start, power = as_floats(block.X), search.starts[block.number], search.metric.power
    assert power is not None
    found = Nearest.none_yet(len(queries), min(search.k, len(rows)))
    nearest_sums(np.ascontiguousarray(rows), queries, found, power, search.unit)
    return Neighbors(found.distances, found.indices + start, _targets(block, search.classes)[found.indices])


def _targets(block: RowBlock, classes: tuple[Array, ...]) -> Array:
    assert block.y is not None
    if not classes:
        return block.y if block.y.dtype.kind == "f" else block.y.astype(np.float64)
    if block.y.ndim == 1 or len(classes) == 1:
        return known_codes(block.y.reshape(len(block)), classes[0]).astype(np.int64)
    return np.column_stack([known_codes(y, own) for y, own in zip(block.y.T, classes, strict=True)]).astype(np.int64)


@dataclass(frozen=True)
class KeepNearest:
    """Joins the neighbors of several blocks, which come in order."""

    k: int

    def __call__(self, found: Sequence[Neighbors]) -> Neighbors:
        """Return the nearest of all: of equal distances the lower row number."""
        distances, indices = (np.concatenate([getattr(one, n) for one in found], 1) for n in ("distances", "indices"))
        targets = np.concatenate([one.targets for one in found], axis=1)
        order = np.lexsort((indices, distances))[:, : self.k]
        rows = np.arange(len(order))[:, None]
        return Neighbors(distances[rows, order], indices[rows, order], targets[rows, order])


def search_blocks(model: Any, queries: Array, k: int) -> Neighbors:
    """Return the nearest training rows of queries in memory, in one pass."""
    search = Search.of(model, k)
    return search.rooted(model._fit_X.blocks.reduce(nearest_in_block, KeepNearest(k), search, queries))


# queries that are in blocks themselves


def answer_blocks(model: Any, name: str, X: Any) -> Any:
    """Return a lazy Dask array of the answers about queries in blocks: a task for each pair of blocks."""
    import dask.array
    from dask.delayed import delayed

    look_at_columns(model, row_blocks(X), reset=False)
    X = X.to_dask_array(lengths=True) if hasattr(X, "columns") else X
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    search, blocks = Search.of(model, model._check_count(None, model.n_samples_fit_)), model._fit_X.blocks
    light = copy(model)  # what goes to the workers: the rows are there
    light._fit_X = None
    vars(light).pop("feature_names_in_", None)
    like = getattr(light, f"_{name}_of")(_made_up(search))
    if isinstance(like, list):
        raise ValueError(f"y must have one column for a lazy {name}, got {len(like)}. Ask about rows in memory.")
    join, near = delayed(_joined, pure=False), delayed(_near_one_block, pure=False)
    answers = []
    for queries, height in zip(X.to_delayed()[:, 0], X.chunks[0], strict=True):
        found = [
            near(light, search, blocks.layout, number, rows, y, queries)
            for number, (rows, y) in enumerate(zip(blocks.rows, blocks.targets, strict=True))
        ]
        answer = join(light, name, search, found)
        answers.append(dask.array.from_delayed(answer, (height, *like.shape[1:]), dtype=like.dtype))
    return dask.array.concatenate(answers)


def _made_up(search: Search) -> Neighbors:
    """Return neighbors of one query, to see of what kind an answer about it is."""
    shape, like = (1, search.k), search.like
    return Neighbors(np.ones(shape), np.zeros(shape, dtype=np.int64), np.zeros((*shape, *like.shape), dtype=like.dtype))


def _near_one_block(
    model: Any, search: Search, layout: Layout, number: int, rows: Any, y: Any, queries: Any
) -> Neighbors | None:
    block = read_block(number, layout, rows, y, None)
    return nearest_in_block(block, search, model._check_queries(queries)) if len(block) and len(queries) else None


def _joined(model: Any, name: str, search: Search, found: list[Neighbors | None]) -> Array:
    known = [one for one in found if one is not None]
    if not known:  # of no queries
        return np.asarray(getattr(model, f"_{name}_of")(_made_up(search)))[:0]
    return np.asarray(getattr(model, f"_{name}_of")(search.rooted(KeepNearest(search.k)(known))))


# the fit: what one pass says of the rows


@dataclass(frozen=True, eq=False)
class RowsSeen:
    """Heights by block, the largest absolute value, and the labels of each output or the dtype of the numbers."""

    heights: dict[int, int]
    largest: float
    labels: tuple[Array, ...]
    like: Array
    """The target of a row, as it is stored in memory."""


def see_block(block: RowBlock, has_labels: bool) -> RowsSeen:
    """Return what a block says; refuse rows that are not finite, and targets of another kind."""
    X, y = as_floats(block.X), block.y
    assert y is not None
    largest = float(np.abs(X).max())
    if not np.isfinite(largest):
        refuse_values(block)
    columns = y.reshape(len(y), -1)
    if has_labels:
        if y.dtype.kind == "f" and (y % 1 != 0).any():
            raise BlockError(f"block {block.number} must have labels, got an Unknown label type: continuous numbers.")
        labels = tuple(np.unique(column) for column in columns.T)
        return RowsSeen({block.number: len(y)}, largest, labels, np.zeros(y.shape[1:], dtype=np.int64))
    if y.dtype.kind not in "biuf" or not np.isfinite(np.asarray(y, dtype=np.float64)).all():
        raise BlockError(f"block {block.number} must have finite numbers as its target, got others.")
    kind = y.dtype if y.dtype.kind == "f" else np.dtype(np.float64)
    return RowsSeen({block.number: len(y)}, largest, (), np.zeros(y.shape[1:], dtype=kind))


def join_seen(found: Sequence[RowsSeen]) -> RowsSeen:
    """Return what several blocks say."""
    heights = {number: height for one in found for number, height in one.heights.items()}
    labels = tuple(np.unique(np.concatenate(own)) for own in zip(*(one.labels for one in found), strict=True))
    return RowsSeen(heights, max(one.largest for one in found), labels, found[0].like)


def neighbors_in_passes(estimator: Any, blocks: RowBlocks, _watch: Watch) -> Fit:
    """Return the fit: where the rows are."""
    has_labels = hasattr(estimator, "predict_proba")
    seen: RowsSeen = blocks.reduce(see_block, join_seen, has_labels)
    heights = [seen.heights.get(number, 0) for number in range(len(blocks))]
    starts = tuple(np.cumsum([0, *heights])[:-1].tolist())
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    several, labels = len(seen.labels) > 1, {}
    if has_labels:
        labels = {"classes_": list(seen.labels) if several else seen.labels[0], "outputs_2d_": several}
    like = np.zeros((), dtype=np.int64) if has_labels and not several else seen.like
    attributes = {
        **labels,
        "effective_metric_": metric.name,
        "effective_metric_params_": dict(metric.params),
        "n_samples_fit_": blocks.n_rows,
        "_fit_X": StoredBlocks(blocks, starts, seen.largest, like),
        "_fit_method": "brute",
        "_tree": None,
        "_y": None,
    }
    return Fit(attributes)
