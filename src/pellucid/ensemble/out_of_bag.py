"""Out-of-bag answers: each row judged by the trees that have not seen it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.checks import check_level
from pellucid.core.types import Array
from pellucid.tree.decision_tree.tree_target import TreeTarget


class OutOfBag(NamedTuple):
    """The mean answer of each row's trees, and how well it does."""

    answers: Array
    """(n_rows, n_outputs, n_values): shares of classes, or numbers; 0 for a row that every tree has seen."""
    n_trees: Array
    """Trees that have not seen each row."""
    score: float
    rows: float
    """Rows that were judged; with weights, as many equal ones as would say as much."""
    deviation: float
    """Standard deviation of what one row adds to the score."""


def judged(answers: Array, n_trees: Array, target: TreeTarget, weight: Array | None, scoring: Any) -> OutOfBag:
    """Return the score of mean answers: accuracy or R squared, or what a function says, over all rows."""
    from sklearn.metrics import accuracy_score, r2_score

    means = answers / np.maximum(n_trees, 1)[:, None, None]
    if target.n_classes:
        truth, said = target.codes, means.argmax(axis=2)
    else:
        truth, said = target.y, means[:, :, 0]
    if target.n_outputs == 1:
        truth, said = truth[:, 0], said[:, 0]
    w = np.ones(len(truth)) if weight is None else weight
    rows = float(w.sum() ** 2 / (w @ w))
    if callable(scoring):
        return OutOfBag(means, n_trees, float(scoring(truth, said)), rows, math.nan)
    if target.n_classes:
        score = float(accuracy_score(truth, said, sample_weight=weight))
        return OutOfBag(means, n_trees, score, rows, math.sqrt(score * (1.0 - score)))
    score = float(r2_score(truth, said, sample_weight=weight)) if len(truth) > 1 else math.nan
    return OutOfBag(means, n_trees, score, rows, _spread_of_r2(truth, said, w))


def _spread_of_r2(truth: Array, said: Array, w: Array) -> float:
    """Return the standard deviation of a row's influence on R squared, averaged over outputs."""
    truth, said = truth.reshape(len(truth), -1), said.reshape(len(said), -1)
    whole = w.sum()
    errors, around = (truth - said) ** 2, (truth - w @ truth / whole) ** 2
    size = w @ around / whole
    size = np.where(size > 0, size, 1.0)
    influence = ((errors - around * (w @ errors / whole / size)) / size).mean(axis=1)
    return float(np.sqrt(w @ influence**2 / whole))


def score_interval(score: float, rows: float, deviation: float, level: float, is_share: bool) -> tuple[float, float]:
    """Return an interval for the score on new rows like these.

    For an accuracy it is Wilson's; for R squared the score plus and minus so many standard errors.
    """
    from scipy import stats

    check_level(level)
    z = float(stats.norm.ppf(0.5 + level / 2.0))
    if not is_share:
        return score - z * deviation / math.sqrt(rows), score + z * deviation / math.sqrt(rows)
    middle, half = score + z * z / (2 * rows), z * math.sqrt(score * (1 - score) / rows + (z / (2 * rows)) ** 2)
    scale = 1.0 + z * z / rows
    return (middle - half) / scale, (middle + half) / scale
