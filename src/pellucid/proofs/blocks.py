"""Rows in blocks as a proof sees them: sums over all rows by its own pass, and a small table that has these sums.

Claims about rows that depend on their weight, mean and scatter alone are claims about any rows with the same ones. The
sums here are about the first row of each block, moved to that of the first block; nothing is shared with the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.training_data import TrainingData, fingerprint, fingerprint_of_blocks

ROWS_AT_ONCE = 4096
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
    """Sums by label, and what tells the blocks from others."""

    by_label: dict[Any, PivotSums]
    prints: tuple[str, ...]


def sum_block(block: Any, kind: str) -> BlockSums:
    """Return the sums of a block of rows ``X`` with ``y`` and ``weight``; see ``BLOCK_KINDS``."""
    X = block.X
    weight = np.ones(len(X)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    table = X if kind != "numbers" else np.concatenate([X, np.reshape(block.y, (len(X), -1))], axis=1)
    labels = list(dict.fromkeys(block.y.tolist())) if kind == "classes" else [None]
    found = {}
    for label in labels:
        is_own = weight > 0 if label is None else (block.y == label) & (weight > 0)
        if is_own.any():
            found[label] = _sums(table[is_own], weight[is_own])
    return BlockSums(found, (fingerprint(X, block.y, block.weight),))


BLOCK_KINDS = ("rows", "numbers", "classes")
"""Sums of the rows, of rows with their target beside them, or of the rows of each class."""


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
    return BlockSums(total, tuple(text for one in found for text in one.prints))


def data_with(found: BlockSums, kind: str, n_features: int, classes: Array | None, one_target: bool) -> TrainingData:
    """Return rows that have these sums, to prove claims about; ``classes`` are those of the model."""
    tables, weights, codes = [], [], []
    known = [] if classes is None else classes.tolist()
    for label, sums in found.by_label.items():
        rows, weight = _table_of(sums)
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
    data = TrainingData(X, y, weight, given=(X, y, weight))
    data = data if classes is None else replace(data, classes=classes)
    return replace(data, name=fingerprint_of_blocks(found.prints))


def _table_of(sums: PivotSums) -> tuple[Array, Array]:
    """Return rows on both sides of the mean along each axis of the scatter, and one on the mean for the rest."""
    shift = sums.first / sums.weight
    mean = sums.pivot + shift
    covariance = sums.second / sums.weight - np.outer(shift, shift)
    unit = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    varies = unit > 0.0
    if not varies.any():
        return mean[None, :], np.array([sums.weight])
    safe = np.where(varies, unit, 1.0)
    values, axes = np.linalg.eigh(covariance / np.outer(safe, safe))
    lines = (np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T) * unit
    lines = lines[np.abs(lines).any(axis=1)]
    spread = min(max(1.0, float(np.max(np.abs(mean[varies]) / unit[varies]))), LARGEST_SHIFT)
    share = 2.0 ** np.floor(np.log2(0.25 / len(lines) / spread**2))
    away = lines / np.sqrt(2.0 * share)
    weight = np.full(2 * len(lines) + 1, share * sums.weight)
    weight[-1] = sums.weight - 2 * len(lines) * share * sums.weight
    return np.concatenate([mean + away, mean - away, mean[None, :]]), weight
