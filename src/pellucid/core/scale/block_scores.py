"""Scores of rows in blocks, in one pass: the share of right labels, R squared, or what the method itself measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor

from pellucid.core.cards import card_of
from pellucid.core.scale.block_data import look_at_columns
from pellucid.core.scale.moments import RowMoments, block_weights, moments_of
from pellucid.core.scale.row_blocks import BlockError, RowBlock, row_blocks
from pellucid.core.types import Array
from pellucid.core.user_warnings import warn_user

SHARE, SQUARES, MEAN, SUM = "share of right labels", "squares", "mean of the rows", "sum over the rows"


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """What a pass leaves: the weight of the rows, a sum over them and, of numbers, the moments of the target."""

    weight: float
    n_rows: int
    total: Array
    target: RowMoments | None = None


class GivenAnswers:
    """Stands for a model whose answers are at hand."""

    def predict(self, answers: Array) -> Array:
        """Return them, one column as a list."""
        return answers[:, 0] if answers.shape[1] == 1 else answers


def score_blocks(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Return the score of a fitted model, as it is of the same rows in memory."""
    how = SHARE if is_classifier(model) else SQUARES if is_regressor(model) else SUM
    if how == SUM and hasattr(model, "score_samples"):
        how = MEAN
    if y is None and how in (SHARE, SQUARES):
        raise ValueError(f"y must be given for the score of {type(model).__name__}, got None.")
    target, with_words = y if how in (SHARE, SQUARES) else None, card_of(type(model)).rules_for(model).dtypes is None
    said = getattr(model, "_answers_in_blocks", lambda *_: None)("predict", X)
    if said is not None:  # it reads more than the row that it is asked about: the answers are what is scored
        blocks, model = row_blocks(said.reshape(len(said), -1), target, sample_weight, with_words=True), GivenAnswers()
    else:
        blocks = row_blocks(X, target, sample_weight, with_words=with_words)
        look_at_columns(model, blocks, reset=False)
    names = blocks.names if hasattr(model, "feature_names_in_") else None
    found = blocks.reduce(score_block, join_scores, model, how, names)
    if how == SUM:
        return float(found.total)
    if how in (SHARE, MEAN):
        return float(found.total / found.weight)
    return _r_squared(found)


def _r_squared(found: ScoreSums) -> float:
    """Return the mean over the targets; one that is constant has 1 if it is met, and else 0."""
    assert found.target is not None
    if found.n_rows < 2:
        warn_user(f"X should have at least 2 rows for R squared, got {found.n_rows}. It is nan.")
        return math.nan
    spread, left = found.target.scatter.diagonal(), found.total
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(spread > 0.0, 1.0 - left / spread, np.where(left > 0.0, 0.0, 1.0))
    return float(scores.mean())


def score_block(block: RowBlock, model: Any, how: str, names: tuple[str, ...] | None) -> ScoreSums:
    """Return the sums of a block."""
    weight = block_weights(block)
    own = np.ones(len(block)) if weight is None else weight
    rows = block.X if names is None else pd.DataFrame(block.X, columns=list(names))
    total = float(own.sum())
    if how == SUM:
        return ScoreSums(total, len(block), np.asarray(model.score(rows, sample_weight=weight)))
    if how == MEAN:
        return ScoreSums(total, len(block), np.asarray(own @ model.score_samples(rows)))
    said = np.asarray(model.predict(rows))
    if how == SHARE:
        return ScoreSums(total, len(block), np.asarray(own @ (said == block.y)))
    assert block.y is not None
    target = block.y.reshape(len(block), -1)
    if target.dtype.kind not in "biuf" or target.shape[1] != said.reshape(len(block), -1).shape[1]:
        raise BlockError(f"block {block.number} must have as many numbers as its target as the model predicts.")
    left = own @ np.square(said.reshape(len(block), -1) - target)
    counted = own > 0.0
    moments = moments_of((target[counted],), None if weight is None else own[counted]) if counted.any() else None
    return ScoreSums(total, int(counted.sum()), left, moments)


def join_scores(found: Sequence[ScoreSums]) -> ScoreSums:
    """Return the sums over several blocks."""
    targets = [one.target for one in found if one.target is not None]
    return ScoreSums(
        math.fsum(one.weight for one in found),
        sum(one.n_rows for one in found),
        np.sum([one.total for one in found], axis=0),
        reduce(RowMoments.merged, targets) if targets else None,
    )
