r"""What members of ensembles were fitted on, by a rule that anybody can follow, and how out-of-bag answers are judged.

Rows are put in an order that depends on their values alone: that of the sum, modulo :math:`2^{64}`, of a hash of the
bits of each value xor :math:`g (j + 1)` for column :math:`j`, the columns of the target after those of the rows; a 0
adds nothing. On a line in this order each row takes as much room as it has weight, and points drawn on it hit rows.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.tree.tree_bins import gathered
from pellucid.proofs.tree.tree_rows import GOLDEN, NodeTarget, mixed
from pellucid.proofs.tree.trees import by_columns

MISSING = np.uint64(0x7FF8000000000001)
"""The bits that stand for every NaN."""


def value_order(X: Any, targets: Array) -> Array:
    """Return the rows in the order of a hash of their values and targets; rows in blocks are hashed where they are."""
    is_in_memory = isinstance(X, np.ndarray) or sparse.issparse(X)
    keys = _hashes(X, 0) if is_in_memory else gathered(X, np.uint64, _hashes, 0)
    y = np.asarray(targets, dtype=np.float64).reshape(len(keys), -1)
    with np.errstate(over="ignore"):
        return np.argsort(keys + _hashes(y, X.shape[1]), kind="stable")


def _hashes(X: SparseOrDense, before: int) -> Array:
    """Return the sum over the columns, behind so many others, of the hashes of their values."""
    columns, keys = by_columns(X), np.zeros(X.shape[0], dtype=np.uint64)
    for j in range(X.shape[1]):
        rows: SparseOrDense = slice(None)
        if not sparse.issparse(X):
            x = np.asarray(X[:, j], dtype=np.float64)
        else:  # sparse, as columns
            own = slice(columns.indptr[j], columns.indptr[j + 1])
            rows, x = columns.indices[own], columns.data[own].astype(np.float64)
        with np.errstate(over="ignore"):
            bits = np.where(np.isnan(x), MISSING, np.ascontiguousarray(x).view(np.uint64))
            keys[rows] += np.where(x == 0.0, np.uint64(0), mixed(bits ^ (np.uint64(before + j + 1) * GOLDEN)))
    return keys


def n_drawn(max_samples: Any, n: int, weight: Array | None) -> int:
    """Return how many rows are drawn: a number, a part of their weight, or as many as there are rows.

    Whole weights are repetitions, so that there are as many rows as they sum to; others only say how much more one row
    counts than another.
    """
    if isinstance(max_samples, Integral):
        return int(max_samples)
    total = float(n) if weight is None else float(weight.sum())
    if max_samples is not None:
        return max(1, int(max_samples * total))
    return n if weight is None or (weight != np.round(weight)).any() else max(n, round(total))


def times_drawn(seed: int, order: Array, n_draws: int, weight: Array | None) -> Array:
    """Return how often each row is in the sample that a seed draws, with replacement."""
    n, rng = len(order), np.random.RandomState(seed)
    if weight is None:
        return np.bincount(order[rng.randint(0, n, n_draws)], minlength=n)
    ends = np.cumsum(weight[order])
    is_whole = (weight == np.round(weight)).all() and ends[-1] < 2**53
    points = rng.randint(0, int(ends[-1]), n_draws) if is_whole else rng.random_sample(n_draws) * ends[-1]
    places = np.minimum(np.searchsorted(ends, points, side="right"), n - 1)
    return np.bincount(order[places], minlength=n)


class Judged(NamedTuple):
    """How good answers are: accuracy or R squared, for how many equal rows it stands, and a row's deviation."""

    score: float
    rows: float
    deviation: float


def judged(answers: Array, target: NodeTarget, weight: Array | None, scoring: Any) -> Judged:
    """Return the score of answers of shape (n_rows, n_outputs, n_values), or what a function says of them."""
    truth, said = (target.codes, answers.argmax(axis=2)) if target.n_classes else (target.y, answers[:, :, 0])
    w = np.ones(len(truth)) if weight is None else weight
    rows = float(w.sum() ** 2 / (w @ w))
    if callable(scoring):
        one = target.n_outputs == 1
        return Judged(float(scoring(truth[:, 0], said[:, 0]) if one else scoring(truth, said)), rows, math.nan)
    if target.n_classes:
        share = float(w @ (truth == said).all(axis=1) / w.sum())
        return Judged(share, rows, math.sqrt(share * (1.0 - share)))
    if len(truth) < 2:
        return Judged(math.nan, rows, 0.0)
    errors, around = (truth - said) ** 2, (truth - w @ truth / w.sum()) ** 2
    of_errors, size = w @ errors / w.sum(), w @ around / w.sum()
    per_output = np.where(size > 0, 1.0 - of_errors / np.where(size > 0, size, 1.0), np.where(of_errors > 0, 0.0, 1.0))
    size = np.where(size > 0, size, 1.0)
    influence = ((errors - around * (of_errors / size)) / size).mean(axis=1)
    return Judged(float(per_output.mean()), rows, math.sqrt(float(w @ influence**2 / w.sum())))
