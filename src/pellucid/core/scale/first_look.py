"""What the first of several passes leaves: the moments of all rows, and some of them to start from in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.core.labels import encode_labels
from pellucid.core.scale.moments import BlockSummary, groups_of, join_summaries, summarize_block
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks, made_on_device
from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData

MOST_ROWS, MOST_NUMBERS = 1 << 15, 1 << 20
"""That are kept."""


@dataclass(frozen=True, eq=False)
class FirstLook:
    """Moments by label, and some rows of each label, weighted so that they stand for all of it."""

    summary: BlockSummary
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
    if not found.summary.moments:
        raise ValueError("sample_weight must be above 0 for some row, got all 0. Leave it out.")
    return found


@made_on_device("pellucid.core.device.device_moments:look_at_block")
def look_at_block(block: RowBlock, kind: str, count: int) -> FirstLook:
    """Return the moments of a block, and so many of its rows, evenly spaced among those of each label."""
    summary = summarize_block(block, kind)
    rows, weights, labels = [np.empty((0, block.X.shape[1]))], [np.empty(0)], []
    for label, (X,), weight in groups_of(block, kind):
        some = np.unique(np.linspace(0, len(X) - 1, max(1, count // len(summary.moments))).astype(np.intp))
        own = np.ones(len(some)) if weight is None else weight[some]
        rows.append(X[some].astype(np.float64))
        weights.append(own * (summary.moments[label].weight / own.sum()))
        labels += [label] * len(some)
    return FirstLook(summary, np.concatenate(rows), np.concatenate(weights), _labels(labels, block))


def _labels(labels: list[object], block: RowBlock) -> Array:
    plain = None in labels or block.y is None
    return np.array(labels, dtype=object) if plain else np.array(labels)


def join_looks(found: Sequence[FirstLook]) -> FirstLook:
    """Return what several blocks leave, which come in order."""
    parts = ([getattr(one, name) for one in found if len(one.rows)] for name in ("rows", "weight", "labels"))
    summary = join_summaries([one.summary for one in found])
    rows, weight, labels = (np.concatenate(part) if part else np.empty(0) for part in parts)
    return FirstLook(summary, rows, weight, labels)
