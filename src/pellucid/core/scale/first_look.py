"""What the first of several passes leaves: the weight of each label, and some rows to start from in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from pellucid.core.labels import encode_labels
from pellucid.core.scale.moments import (
    RowMoments,
    block_weights,
    refuse_no_weight,
    refuse_values,
    rows_of_labels,
    summarize_block,
)
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks, made_on_device
from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData

MOST_ROWS, MOST_NUMBERS = 1 << 15, 1 << 20
"""That are kept."""


@dataclass(frozen=True, eq=False)
class FirstLook:
    """The weight of each label, and some of its rows, weighted so that they stand for all of it."""

    totals: dict[Any, float]
    """Of each label; of None where there are no classes."""
    moments: RowMoments | None
    """Of all rows, where there are no classes."""
    rows: Array
    weight: Array
    labels: Array

    @property
    def data(self) -> TrainingData:
        """The rows kept, as training data; labels are codes among those of all rows."""
        if self.labels.dtype == object and self.labels[0] is None:
            return TrainingData(self.rows, weight=self.weight, given=(self.rows, None, self.weight))
        classes, codes = encode_labels(self.labels)  # every label has rows here
        return TrainingData(self.rows, codes, self.weight, classes, given=(self.rows, self.labels, self.weight))


def first_look(blocks: RowBlocks, kind: str) -> FirstLook:
    """Return what one pass leaves; ``kind`` is ``rows`` or ``classes``."""
    kept = min(MOST_ROWS, max(1, MOST_NUMBERS // blocks.n_features))
    found = blocks.reduce(look_at_block, join_looks, kind, -(-kept // len(blocks)))
    refuse_no_weight(found.totals)
    return found


@made_on_device("pellucid.core.device.device_moments:look_at_block")
def look_at_block(block: RowBlock, kind: str, count: int) -> FirstLook:
    """Return so many rows of a block, evenly spaced among those of each label, with the weights of all."""
    X, weight, totals = block.X, block_weights(block), dict[Any, float]()
    counted = np.arange(len(X)) if weight is None else np.flatnonzero(weight)
    _check_values(block, X if len(counted) == len(X) else X[counted])
    groups: list[tuple[Any, Array]] = [(None, counted)] if len(counted) else []
    if kind == "classes":
        assert block.y is not None
        groups = [(label, counted[places]) for label, places in rows_of_labels(block.y[counted], block.number)]
    rows, weights, labels = [np.empty((0, X.shape[1]))], [np.empty(0)], []
    for label, places in groups:
        evenly = np.linspace(0, len(places) - 1, max(1, count // len(groups))).astype(np.intp)
        some = places[np.unique(evenly)]
        own = np.ones(len(some)) if weight is None else weight[some]
        totals[label] = float(len(places) if weight is None else weight[places].sum())
        rows.append(X[some].astype(np.float64))
        weights.append(own * (totals[label] / own.sum()))
        labels += [label] * len(some)
    moments = None if kind == "classes" else summarize_block(block, kind).moments.get(None)
    return FirstLook(totals, moments, np.concatenate(rows), np.concatenate(weights), _labels(labels, block))


def _check_values(block: RowBlock, X: Array) -> None:
    """Refuse NaN, infinity, and values whose squares overflow, in the rows that count."""
    extremes = (np.float64(X.min()), np.float64(X.max())) if X.size else ()
    if not np.isfinite([len(X) * value**2 for value in extremes]).all():
        refuse_values(block)


def _labels(labels: list[object], block: RowBlock) -> Array:
    plain = None in labels or block.y is None
    return np.array(labels, dtype=object) if plain else np.array(labels)


def join_looks(found: Sequence[FirstLook]) -> FirstLook:
    """Return what several blocks leave, which come in order."""
    parts = ([getattr(one, name) for one in found if len(one.rows)] for name in ("rows", "weight", "labels"))
    rows, weight, labels = (np.concatenate(part) if part else np.empty(0) for part in parts)
    totals = dict.fromkeys((label for one in found for label in one.totals), 0.0)
    for one in found:
        for label, own in one.totals.items():
            totals[label] += own
    known = [one.moments for one in found if one.moments is not None]
    return FirstLook(totals, reduce(RowMoments.merged, known) if known else None, rows, weight, labels)
