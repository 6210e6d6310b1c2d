"""Bootstrap samples that follow from a seed, and from what the rows are, not from where they stand; out-of-bag scores.

Rows are put in an order that depends on their values alone, and each takes as much room on a line as it has weight.
Points drawn on the line hit rows. A row of weight k takes the room of k equal rows, so that weights are repetitions.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.core.checks import check_level
from pellucid.core.scale.table_in_blocks import TableInBlocks
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.tree.decision_tree.tree_data import TreeTarget

FIRST, SECOND, GOLDEN = (np.uint64(n) for n in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15))
MISSING = np.uint64(0x7FF8000000000001)
BLOCK = 1 << 12
"""Rows that are hashed together."""


def n_drawn(max_samples: Any, n_rows: int, weight: Array | None) -> int:
    """Return how many rows are drawn: a number, a part of the weight, or as many as there are rows.

    Rows with whole weights are there as often as these say. Weights that are not whole say how much more one row counts
    than another, so that their unit does not matter: as many rows are drawn as without weights.
    """
    if isinstance(max_samples, Integral):
        return int(max_samples)
    whole = float(n_rows) if weight is None else float(weight.sum())
    if max_samples is None:
        return n_rows if weight is None or (weight % 1.0).any() else max(n_rows, round(whole))
    return max(1, int(max_samples * whole))


def warn_of_few_draws(max_samples: Any, n_rows: int, weight: Array | None) -> None:
    """Warn where a part of the weight is next to nothing, as of weights that sum to 1."""
    if max_samples is None or isinstance(max_samples, Integral):
        return
    count = n_drawn(max_samples, n_rows, weight)
    if count < max(10.0, n_rows ** (1.0 / 3.0)):
        of = (
            f"the number of samples is {n_rows}"
            if weight is None
            else f"the total sum of sample weights is {weight.sum()}"
        )
        warn_user(
            f"Using the fractional value max_samples={max_samples} when {of} results in a low number ({count}) of "
            "bootstrap samples. We recommend passing `max_samples` as an integer.",
            UserWarning,
        )


def drawn_places(seed: int, n_rows: int, n_draws: int, room: Array | None) -> Array:
    """Return the places on the line that are hit, with replacement; the more room a place has, the more often."""
    rng = np.random.RandomState(seed)  # its numbers are the same in every version of NumPy
    if room is None:
        return rng.randint(0, n_rows, n_draws)
    ends = np.cumsum(room)
    is_whole = np.array_equal(room, np.floor(room)) and ends[-1] < 2**53
    points = rng.randint(0, int(ends[-1]), n_draws) if is_whole else rng.random_sample(n_draws) * ends[-1]
    return np.minimum(np.searchsorted(ends, points, side="right"), n_rows - 1)


def room_of(weight: Array | None, order: Array) -> Array | None:
    """Return the room of each place on the line: the weight of its row."""
    return None if weight is None else weight[order]


def value_order(X: SparseOrDense | TableInBlocks, targets: Array) -> Array:
    """Return the rows in the order of a hash of their values and targets; equal rows stand next to each other."""
    keys = _hashes_of_blocks(X) if isinstance(X, TableInBlocks) else _hashes(X, 1)
    keys += _hashes(np.asarray(targets, dtype=np.float64).reshape(len(targets), -1), X.shape[1] + 1)
    return np.argsort(keys, kind="stable").astype(np.int32)


def _hashes_of_blocks(table: TableInBlocks) -> Array:
    """Return the same of rows in blocks, found where they are in one pass."""
    found = np.empty(len(table), dtype=np.uint64)
    for rows, own in table.each(_hashes, 1):
        found[rows] = own
    return found


def _hashes(X: SparseOrDense, first: int) -> Array:
    """Return for each row the sum of hashes of its entries; a 0 adds nothing, so that it may be left out."""
    found = np.zeros(X.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):
        if sparse.issparse(X):
            entries = X.tocoo()
            parts = _mixed(np.asarray(entries.data, dtype=np.float64), entries.coords[1].astype(np.uint64), first)
            np.add.at(found, entries.coords[0], parts)
            return found
        columns = np.arange(X.shape[1], dtype=np.uint64)
        for start in range(0, X.shape[0], BLOCK):
            rows = np.ascontiguousarray(X[start : start + BLOCK], dtype=np.float64)
            found[start : start + BLOCK] = _mixed(rows, columns, first).sum(axis=1)
    return found


def _mixed(values: Array, column: Array, first: int) -> Array:
    """Return 64 bits for each value that depend on it and on its column; 0 for a 0."""
    bits = np.where(np.isnan(values), MISSING, values.view(np.uint64))
    z = bits ^ (column + np.uint64(first)) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return np.where(values == 0.0, np.uint64(0), z ^ (z >> np.uint64(31)))


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
