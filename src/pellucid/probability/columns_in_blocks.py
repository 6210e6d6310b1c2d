"""Columns of any kind in blocks: what weighted rows leave of each, the moments of numbers and the weight of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.core.checks import column_values
from pellucid.core.scale.counted_rows import MOST_CATEGORIES
from pellucid.core.scale.moments import RowMoments, moments_of, refuse_values
from pellucid.core.scale.row_blocks import BlockError, RowBlock, RowBlocks
from pellucid.core.types import Array
from pellucid.probability.density import Density, declared_categories, find_density, guess_density, wanted_densities
from pellucid.probability.gaussian import Gaussian

Counts = Mapping[Any, float]


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What some weighted rows leave of their columns."""

    moments: RowMoments
    """Of each column alone; those of words are 0."""
    counts: tuple[Counts | None, ...]
    """Weight of each value of a column; None of numbers that are Gaussian."""

    def merged(self, other: ColumnSums) -> ColumnSums:
        """Return what both sets of rows leave; texts in a column of numbers are refused."""
        counts = list[Counts | None]()
        for j, (a, b) in enumerate(zip(self.counts, other.counts, strict=True)):
            are_texts = {isinstance(value, str) for value in (*(a or ()), *(b or ()))}
            if len(are_texts) > 1 or (True in are_texts and (a is None or b is None)):
                raise BlockError(f"column {j} must hold texts or numbers, got texts in some blocks only.")
            if a is None or b is None:
                counts.append(None)
            else:
                counts.append({value: a.get(value, 0.0) + b.get(value, 0.0) for value in sorted(a.keys() | b.keys())})
        return ColumnSums(self.moments.merged(other.moments), tuple(counts))

    def scaled(self, factor: float) -> ColumnSums:
        """Return what the same rows leave at so many times their weight."""
        counts = (None if one is None else {v: factor * w for v, w in one.items()} for one in self.counts)
        return ColumnSums(self.moments.scaled(factor), tuple(counts))

    def values(self, j: int) -> tuple[Array, Array]:
        """Return the values of a column that is counted, and their weights."""
        counts = self.counts[j]
        assert counts is not None
        return np.array(list(counts)), np.array(list(counts.values()))


@dataclass(frozen=True)
class AskedColumns:
    """Which density is asked for each column, and which columns are Gaussian or counted for that reason."""

    wanted: tuple[Any, ...]
    """None where it is guessed."""
    is_gaussian: tuple[bool, ...]
    is_counted: tuple[bool, ...]

    def kinds(self, sums: Sequence[ColumnSums]) -> list[type[Density]]:
        """Return the class of each column's densities: what is asked for, or what suits all its values."""
        return [self._kind(j, [one.counts[j] for one in sums]) for j in range(len(self.wanted))]

    def _kind(self, j: int, counts: list[Counts | None]) -> type[Density]:
        if self.wanted[j] is not None:
            return find_density(self.wanted[j])
        if any(one is None for one in counts):
            return Gaussian
        return find_density(guess_density(np.array([value for one in counts for value in one or ()])))


def asked_columns(densities: Any, blocks: RowBlocks) -> AskedColumns:
    """Return what is asked for each column; what a data frame calls categorical is that."""
    names = None if blocks.names is None else list(blocks.names)
    wanted: list[Any] = wanted_densities(densities, blocks.n_features, names)
    for j, is_declared in enumerate(declared_categories(blocks.given[0])):
        wanted[j] = "categorical" if wanted[j] is None and is_declared else wanted[j]
    is_gaussian = tuple(kind is not None and find_density(kind) is Gaussian for kind in wanted)
    is_counted = tuple(kind is not None and not plain for kind, plain in zip(wanted, is_gaussian, strict=True))
    return AskedColumns(tuple(wanted), is_gaussian, is_counted)


@dataclass(frozen=True, eq=False)
class BlockColumns:
    """The columns of a block, as texts or numbers."""

    columns: list[Array]
    table: Array
    """The same side by side, zeros for texts."""

    def sums(self, groups: Sequence[tuple[Array | None, Array | None]], asked: AskedColumns) -> list[ColumnSums]:
        """Return what groups of rows leave, each given by its places, None for all, and its weights.

        A column that is asked for neither way is counted as long as it holds words, or zeros and ones.
        """
        parts = [(self.table,)] * len(groups)
        moments = [moments_of(part, w, places, alone=True) for part, (places, w) in zip(parts, groups, strict=True)]
        counts = [self._counts(j, groups) if self._is_few(j, asked) else [None] * len(groups)
                  for j in range(len(self.columns))]  # fmt: skip
        return [ColumnSums(own, tuple(of[k] for of in counts)) for k, own in enumerate(moments)]

    def _is_few(self, j: int, asked: AskedColumns) -> bool:
        values = self.columns[j]
        if values.dtype.kind == "U" or asked.is_counted[j]:
            return True
        return not asked.is_gaussian[j] and bool(((values == 0) | (values == 1)).all())

    def _counts(self, j: int, groups: Sequence[tuple[Array | None, Array | None]]) -> list[Counts]:
        distinct, codes = np.unique(self.columns[j], return_inverse=True)
        if len(distinct) > MOST_CATEGORIES:
            raise BlockError(f"column {j} must hold at most {MOST_CATEGORIES:,} categories, got more. Take gaussian.")
        codes, found = codes.reshape(-1), list[Counts]()
        for places, weight in groups:
            own = codes if places is None else codes[places]
            totals = np.bincount(own, weights=weight, minlength=len(distinct)).astype(np.float64)
            found.append(dict(zip(distinct.tolist(), totals.tolist(), strict=True)))
        return found


def read_columns(block: RowBlock, asked: AskedColumns) -> BlockColumns:
    """Return the columns of a block; refuse texts beside numbers or in a Gaussian column, and what is not finite."""
    columns = [_column(block.X, j, block.number) for j in range(block.X.shape[1])]
    is_text = [values.dtype.kind == "U" for values in columns]
    if any(text and plain for text, plain in zip(is_text, asked.is_gaussian, strict=True)):
        raise BlockError(f"block {block.number} must hold numbers in a Gaussian column, got texts. Use categorical.")
    table = np.column_stack([np.zeros(len(block)) if text else v for text, v in zip(is_text, columns, strict=True)])
    if not np.isfinite(np.einsum("ij,ij->", table, table)):
        refuse_values(replace(block, X=table))
    return BlockColumns(columns, table)


def _column(X: Array, j: int, number: int) -> Array:
    is_text = {isinstance(value, str) for value in X[:, j]} if X.dtype == object else {False}
    if len(is_text) > 1:
        raise BlockError(f"block {number} must hold texts or numbers in column {j}, got both, or a text is missing.")
    try:
        return column_values(X, j)
    except (TypeError, ValueError) as error:
        raise BlockError(f"block {number} must hold texts or numbers in column {j}: {error}") from error
