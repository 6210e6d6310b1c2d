"""A table whose rows stay in blocks while its target is here: rows are picked by number, and read when they are needed.

For methods that keep something small of every row, in the order of the rows: each of them takes a pass to get it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.core.budget import memory_left
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.core.types import Array
from pellucid.proofs.training_data import fingerprint, fingerprint_of_blocks

GIGABYTE = 1e9


@dataclass(frozen=True, eq=False)
class TableInBlocks:
    """Rows of blocks by their number, counted through all blocks."""

    blocks: RowBlocks
    heights: tuple[int, ...]
    """Rows of each block."""
    places: Array | None = None
    """Which rows these are, in this order and perhaps more than once; None for all."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return sum(self.heights) if self.places is None else len(self.places), self.blocks.n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Array) -> TableInBlocks:
        """Return some rows; nothing is read."""
        return replace(self, places=rows if self.places is None else self.places[rows])

    @property
    def ndim(self) -> int:
        """Rows and columns are two."""
        return 2

    @property
    def dtype(self) -> np.dtype:
        """Of the numbers that are learned from."""
        return np.dtype(np.float64)

    def each(
        self, work: Callable[..., Any], *given: Any, order: Sequence[int] | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield, block by block, which of the rows stand there and ``work(rows, *given)`` of them, in one pass."""
        where, own = self._cuts
        found = self.blocks.each(_on_rows, [(rows, work, given) for rows in own], order)
        turns = where if order is None else [where[k] for k in order]
        for some, one in zip(turns, found, strict=True):
            if one is not None:
                yield some, one

    @cached_property
    def _cuts(self) -> tuple[list[Any], list[Any]]:
        """Which of the rows stand in each block, and where they stand in it; None for all of it."""
        starts = np.cumsum((0, *self.heights))
        if self.places is None:
            return [slice(*ends) for ends in pairwise(starts.tolist())], [None] * len(self.heights)
        rising = np.argsort(self.places, kind="stable")
        where = np.split(rising, np.searchsorted(self.places[rising], starts[1:-1]))
        return where, [self.places[some] - start for some, start in zip(where, starts, strict=False)]

    def in_block(self, number: int) -> Any:
        """Return which of the rows stand in a block, by their places among these."""
        some = self._cuts[0][number]
        return np.arange(some.start, some.stop) if isinstance(some, slice) else some

    def read(self) -> Array:
        """Return the rows as an array of floats."""
        rows = np.empty((0, self.shape[1]), np.float32)
        for some, one in self.each(as_floats):  # one block at a time beside the answer
            if not len(rows):
                rows = np.empty(self.shape, one.dtype)
            elif one.dtype != rows.dtype:
                rows = rows.astype(np.float64)
            rows[some] = one
        return rows


def read_rows(rows: Any) -> Any:
    """Return rows in memory, whether they were in blocks or not."""
    return rows.read() if isinstance(rows, TableInBlocks) else rows


def _on_rows(block: RowBlock, rows: Array | None, work: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    if rows is not None and not len(rows):
        return None
    return work(block.X if rows is None else block.X[rows], *given)


def as_floats(rows: Array) -> Array:
    """Return numbers as a fit in memory has them: those that are no floats of 32 or 64 bits as 64."""
    return rows.astype(rows.dtype if rows.dtype in (np.float32, np.float64) else np.float64)


@dataclass(frozen=True, eq=False)
class BesideRows:
    """What stands beside the rows, of all blocks in order."""

    y: Array
    weight: Array | None
    heights: tuple[int, ...]
    name: str
    """The fingerprint of rows, target and weights."""
    notes: tuple[Any, ...]
    """What was noted about the rows of each block."""


def read_beside(blocks: RowBlocks, note: Callable[..., Any] | None = None, *given: Any) -> BesideRows:
    """Return targets and weights, in one pass; ``note(rows, *given)`` of each block is kept too."""
    found = list(blocks.each(_beside_block, [(note, given)] * len(blocks)))
    known = [one for one in found if one is not None]
    if not known:
        raise ValueError("X must have rows, got none in any block (n_samples=0). Read the files again.")
    targets, weights, prints, notes = zip(*known, strict=True)
    heights = tuple(0 if one is None else len(one[0]) for one in found)
    weight = None if weights[0] is None else np.concatenate(weights)
    return BesideRows(np.concatenate(targets), weight, heights, fingerprint_of_blocks(prints), notes)


def _beside_block(
    block: RowBlock, note: Callable[..., Any] | None, given: tuple[Any, ...]
) -> tuple[Array, Array | None, str, Any]:
    assert block.y is not None
    seen = None if note is None else note(block.X, *given)
    return block.y, block.weight, fingerprint(block.X, block.y, block.weight), seen


def refuse_without_room(needed: float, what: str) -> None:
    """Refuse what would not fit into the memory here, with its size."""
    room = memory_left()
    if needed > room:
        raise ValueError(
            f"{what} must fit into the memory here, got {needed / GIGABYTE:.2g} GB of them and room for "
            f"{room / GIGABYTE:.2g}. Take fewer rows or columns."
        )
