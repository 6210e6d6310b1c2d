"""Rows in blocks as a proof sees them: sums over all rows by its own pass, and a small table that has these sums.

Claims about rows that depend on their weight, mean and scatter alone are claims about any rows with the same ones. The
sums here are about the first row of each block, moved to that of the first block; nothing is shared with the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.rows import tall_root
from pellucid.proofs.training_data import TrainingData

S = TypeVar("S")

ROWS_AT_ONCE = 4096
SQUARES_TELL = 1e-6
"""Least eigenvalue of a correlation matrix that sums of squares tell from 0 with digits to spare."""
LARGEST_SHIFT = 1e7
"""Deviations from 0 up to which a column's rows are put as far from its mean as that lies from 0."""


@dataclass(frozen=True, eq=False)
class PivotSums:
    """``sum w``, ``sum w d`` and ``sum w d d'`` of deviations d from a pivot, of the rows with one label."""

    pivot: Array
    weight: float
    first: Array
    second: Array

    def about(self, pivot: Array) -> PivotSums:
        """Return the same sums about another pivot."""
        move = self.pivot - pivot
        cross = np.outer(self.first, move)
        second = self.second + cross + cross.T + self.weight * np.outer(move, move)
        return PivotSums(pivot, self.weight, self.first + self.weight * move, second)

    def plus(self, other: PivotSums) -> PivotSums:
        """Return the sums over both sets of rows."""
        moved = other.about(self.pivot)
        return PivotSums(self.pivot, self.weight + moved.weight, self.first + moved.first, self.second + moved.second)


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Sums by label."""

    by_label: dict[Any, PivotSums]


@dataclass(frozen=True, eq=False)
class BlockTally:
    """Counts by label."""

    by_label: dict[Any, dict[Any, float]]


@dataclass(frozen=True, eq=False)
class OneBlock:
    """Rows in memory as one block, for proofs that make passes over blocks."""

    X: Any
    y: Any = None
    """Labels, or numbers."""
    weight: Array | None = None
    number: int = 0

    @classmethod
    def of(cls, data: TrainingData) -> OneBlock:
        """Return checked rows as a block."""
        return cls(data.X, data.classes[data.y] if len(data.classes) else data.y, data.weight)

    @property
    def n_features(self) -> int:
        """How many columns the rows have."""
        return int(self.X.shape[1])

    def reduce(self, work: Callable[..., S], join: Callable[[Sequence[S]], S], *given: Any) -> S:
        """Return what ``work`` finds: there is nothing to join."""
        return work(self, *given)


@dataclass(frozen=True)
class FoldsInOrder:
    """Folds of all rows in order: the first ones have a row more where the number of rows leaves a rest."""

    n_folds: int
    heights: tuple[int, ...]
    """Rows of each block."""

    def of_rows(self, block: Any) -> Array:
        """Return the fold of each row of a block."""
        each, rest = divmod(sum(self.heights), self.n_folds)
        place = np.arange(len(block.X)) + sum(self.heights[: block.number])
        long = rest * (each + 1)
        return np.where(place < long, place // (each + 1), rest + (place - long) // max(each, 1))


def sum_block(block: Any, kind: str, folds: FoldsInOrder | None = None) -> BlockSums:
    """Return the sums of a block of rows ``X`` with ``y`` and ``weight``; see ``BLOCK_KINDS``."""
    return BlockSums({label: _sums(table, weight) for label, table, weight in _labeled(block, kind, folds)})


sum_block.made_on_device = "pellucid.proofs.on_device:sum_rows"  # type: ignore[attr-defined]  # a mark


def _labeled(block: Any, kind: str, folds: FoldsInOrder | None = None) -> Iterator[tuple[Any, Array, Array]]:
    """Yield each label of a block with its rows that count, targets of numbers beside them, and their weights."""
    X = block.X
    weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    table = X if kind != "numbers" else np.concatenate([X, np.reshape(block.y, (len(X), -1))], axis=1)
    labels = folds.of_rows(block) if folds else block.y if kind == "classes" else None
    for label in [None] if labels is None else dict.fromkeys(labels.tolist()):
        is_own = weight > 0 if label is None else (labels == label) & (weight > 0)
        if is_own.any():
            yield label, table[is_own], weight[is_own]


BLOCK_KINDS = ("rows", "numbers", "classes")
"""Sums of the rows, of rows with their target beside them, or of the rows of each class."""


def tally_block(block: Any, how: str, threshold: float | None) -> BlockTally:
    """Return what naive Bayes counts in a block: by class the ``sums`` of each column, or the weight of its values."""
    X = np.asarray(block.X, dtype=np.float64)
    X = X if threshold is None else np.where(threshold < X, 1.0, 0.0)
    weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    found: dict[Any, dict[Any, float]] = {}
    for label in dict.fromkeys(block.y.tolist()):
        own = (block.y == label) & (weight > 0)
        tally = found[label] = {"rows": float(weight[own].sum())}
        for j in range(X.shape[1]):
            if how == "sums":
                tally[j] = float(np.dot(weight[own], X[own, j]))
                continue
            for value in np.unique(X[own, j]).tolist():
                tally[j, value] = float(weight[own][X[own, j] == value].sum())
    return BlockTally(found)


def add_tallies(found: Sequence[BlockTally]) -> BlockTally:
    """Return the counts over several blocks."""
    total: dict[Any, dict[Any, float]] = {}
    for one in found:
        for label, tally in one.by_label.items():
            kept = total.setdefault(label, {})
            for key, count in tally.items():
                kept[key] = kept.get(key, 0.0) + count
    return BlockTally(total)


def data_with_tally(found: BlockTally, how: str, n_features: int, classes: Array | None, name: str) -> TrainingData:
    """Return rows that have these counts, to prove claims about; ``classes`` are those of a model that has them.

    ``name`` is the fingerprint of all rows.
    """
    if classes is None:
        classes = np.array(sorted(label for label, tally in found.by_label.items() if tally["rows"] > 0))
    tables = {label: _tallied(tally, how, n_features) for label, tally in found.by_label.items() if tally["rows"] > 0}
    codes = {label: code for code, label in enumerate(classes.tolist())}
    unknown = sorted(str(label) for label in tables if label not in codes)
    if unknown:
        raise ValueError(f"y must have the labels of the fit, got {', '.join(unknown)} too.")
    X = np.concatenate([rows for rows, _ in tables.values()])
    weight = np.concatenate([own for _, own in tables.values()])
    y = np.concatenate([np.full(len(rows), codes[label]) for label, (rows, _) in tables.items()])
    X = X if how == "sums" else X.astype(np.int64)
    return TrainingData(X, y, weight, classes, given=(X, y, weight), name=name)


def _tallied(tally: dict[Any, float], how: str, n_features: int) -> tuple[Array, Array]:
    """Return rows of one class: its sums and a row of zeros, or values where their running weights say."""
    total = tally["rows"]
    if how == "sums":
        sums = np.array([tally[j] for j in range(n_features)])
        share = min(1.0, total)
        rows, weight = np.stack([sums / share, np.zeros(n_features)]), np.array([share, total - share])
        return rows[weight > 0], weight[weight > 0]
    columns = [sorted((value, tally[j, value]) for i, value in _keys(tally) if i == j) for j in range(n_features)]
    ends = [np.cumsum([count for _, count in column]) for column in columns]
    edges = np.unique(np.concatenate([np.round(end[:-1], 9) for end in ends] + [[0.0, total]]))
    middle = (edges[1:] + edges[:-1]) / 2
    places = [np.minimum(np.searchsorted(end, middle), len(end) - 1) for end in ends]
    rows = np.column_stack([np.array([v for v, _ in column])[at] for column, at in zip(columns, places, strict=True)])
    return rows, np.diff(edges)


def _keys(tally: dict[Any, float]) -> list[tuple[int, float]]:
    return [key for key in tally if isinstance(key, tuple)]


def _sums(table: Array, weight: Array) -> PivotSums:
    pivot = np.asarray(table[0], dtype=np.float64)
    first, second = np.zeros(len(pivot)), np.zeros((len(pivot), len(pivot)))
    for start in range(0, len(table), ROWS_AT_ONCE):
        away = np.asarray(table[start : start + ROWS_AT_ONCE], dtype=np.float64) - pivot
        weighted = weight[start : start + ROWS_AT_ONCE, None] * away
        first += weighted.sum(axis=0)
        second += weighted.T @ away
    return PivotSums(pivot, float(weight.sum()), first, second)


def add_blocks(found: Sequence[BlockSums]) -> BlockSums:
    """Return the sums over several blocks."""
    total: dict[Any, PivotSums] = {}
    for one in found:
        for label, sums in one.by_label.items():
            total[label] = total[label].plus(sums) if label in total else sums
    return BlockSums(total)


def nearly_dependent(found: BlockSums) -> dict[Any, Array]:
    """Return the means of all labels if the columns of one depend on each other more nearly than squares can tell."""
    if all(_least_eigenvalue(sums) >= SQUARES_TELL for sums in found.by_label.values()):
        return {}
    return {label: sums.pivot + sums.first / sums.weight for label, sums in found.by_label.items()}


def _least_eigenvalue(sums: PivotSums) -> float:
    covariance = sums.second / sums.weight - np.outer(sums.first, sums.first) / sums.weight**2
    varies = covariance.diagonal() > 0.0
    unit = np.sqrt(covariance.diagonal()[varies])
    values = np.linalg.eigvalsh(covariance[np.ix_(varies, varies)] / np.outer(unit, unit))
    return float(np.min(values, initial=1.0))


def root_block(block: Any, kind: str, means: dict[Any, Array], folds: FoldsInOrder | None = None) -> dict[Any, Array]:
    """Return for each label of a block a triangle ``R`` with ``R'R`` the scatter of its rows about the mean of all."""
    found = {}
    for label, table, weight in _labeled(block, kind, folds):
        root: Array = np.zeros((0, table.shape[1]))
        for start in range(0, len(table), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            away = np.sqrt(weight[part, None]) * (np.asarray(table[part], dtype=np.float64) - means[label])
            root = tall_root(np.vstack([root, tall_root(away)]))
        found[label] = root
    return found


def add_roots(found: Sequence[dict[Any, Array]]) -> dict[Any, Array]:
    """Return the triangles of several blocks together."""
    labels = dict.fromkeys(label for one in found for label in one)
    return {label: tall_root(np.vstack([one[label] for one in found if label in one])) for label in labels}


def data_with(
    found: BlockSums,
    kind: str,
    n_features: int,
    classes: Array | None,
    one_target: bool,
    roots: dict[Any, Array] | None = None,
    name: str = "",
) -> TrainingData:
    """Return rows that have these sums, to prove claims about; ``classes`` are those of the model.

    ``roots`` are triangles of the scatter, where columns depend on each other too nearly for its eigenvectors. Labels
    of rows with numbers beside them are folds. ``name`` is the fingerprint of all rows.
    """
    tables, weights, codes = [], [], []
    known = [] if classes is None else classes.tolist()
    for label, sums in found.by_label.items():
        rows, weight = _table_of(sums, None if roots is None else roots[label])
        tables.append(rows)
        weights.append(weight)
        codes.append(np.full(len(rows), known.index(label) if label in known else -1))
    table, weight = np.concatenate(tables), np.concatenate(weights)
    X, y = np.ascontiguousarray(table[:, :n_features]), None
    if kind == "numbers":
        y = table[:, n_features] if one_target else np.ascontiguousarray(table[:, n_features:])
    elif kind == "classes":
        y = np.concatenate(codes)
        if (y < 0).any():
            missing = sorted(str(label) for label in found.by_label if label not in known)
            raise ValueError(f"y must have the labels of the fit, got {', '.join(missing)} too.")
    is_folded = kind == "numbers" and None not in found.by_label
    folds = np.repeat(list(found.by_label), [len(table) for table in tables]) if is_folded else None
    data = TrainingData(X, y, weight, given=(X, y, weight), folds=folds, name=name)
    return data if classes is None else replace(data, classes=classes)


def _table_of(sums: PivotSums, root: Array | None = None) -> tuple[Array, Array]:
    """Return rows on both sides of the mean along each axis of the scatter, or each line of its root, and the mean."""
    shift = sums.first / sums.weight
    mean = sums.pivot + shift
    covariance = sums.second / sums.weight - np.outer(shift, shift)
    unit = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    varies = unit > 0.0
    if not varies.any():
        return mean[None, :], np.array([sums.weight])
    if root is None:
        safe = np.where(varies, unit, 1.0)
        values, axes = np.linalg.eigh(covariance / np.outer(safe, safe))
        lines = (np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T) * unit
    else:
        lines = np.where(varies, root, 0.0) / np.sqrt(sums.weight)
    lines = lines[np.abs(lines).any(axis=1)]
    spread = min(max(1.0, float(np.max(np.abs(mean[varies]) / unit[varies]))), LARGEST_SHIFT)
    share = 2.0 ** np.floor(np.log2(0.25 / len(lines) / spread**2))
    away = lines / np.sqrt(2.0 * share)
    weight = np.full(2 * len(lines) + 1, share * sums.weight)
    weight[-1] = sums.weight - 2 * len(lines) * share * sums.weight
    return np.concatenate([mean + away, mean - away, mean[None, :]]), weight
