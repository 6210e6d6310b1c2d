"""What the parameters of boosting mean: seeds, held-out rows, sets of features, and the losses in plain NumPy."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp
from sklearn.utils import check_random_state

from pellucid.core.types import Array, RandomState

MANY_ROWS = 10_000
"""Rows above which ``early_stopping='auto'`` stops early, and the most that a scorer is asked about."""

KEY_ROWS = 1024
"""Nodes with keys of their own; of more nodes, some share them."""

NO_SPLIT, OF_TRAINING, GIVEN = "none", "split", "given"
"""Where the rows that early stopping looks at come from."""


def most_leaves(n: int, min_samples_leaf: int, max_leaf_nodes: int | None, max_depth: int | None) -> int:
    """Return how many leaves a tree on so many rows can have."""
    most = max(1, n // min_samples_leaf)
    if max_leaf_nodes is not None:
        most = min(most, max_leaf_nodes)
    return most if max_depth is None or max_depth > 30 else min(most, 1 << max_depth)


def draw_keys(rng: np.random.Generator, max_features: float, n_leaves: int, p: int) -> Array:
    """Draw the keys of a tree: a split looks at the share ``max_features`` of the features, those of lowest keys."""
    return np.empty((0, p)) if max_features == 1.0 else rng.random((min(KEY_ROWS, 2 * n_leaves + 1), p))


def draw_seeds(random_state: RandomState) -> Array:
    """Return the seeds of a fit: for the rows held out and sampled, and for the features of a split."""
    rng = check_random_state(random_state)
    return np.array([rng.randint(np.iinfo(np.uint32).max, dtype="u8") for _ in range(2)], dtype=np.int64)


def part_rows(y: Array, share: Any, seed: int, *, is_stratified: bool) -> tuple[Array, Array]:
    """Return the numbers of the rows to train on and of those held out."""
    from sklearn.model_selection import train_test_split

    numbers = np.arange(len(y))
    kept, held = train_test_split(numbers, test_size=share, stratify=y if is_stratified else None, random_state=seed)
    return kept, held


def interaction_sets(given: Any, p: int) -> Array:
    """Return which features each set has, bool (n_sets, p); features of no set form one more. None: no sets."""
    if given is None:
        return np.zeros((0, p), dtype=bool)
    if isinstance(given, str):
        groups: Any = [[j] for j in range(p)] if given == "no_interactions" else combinations(range(p), 2)
    else:
        groups = given
    try:
        sets = [set(group) for group in groups]
    except TypeError:
        raise ValueError(f"Interaction constraints must be a sequence of tuples or lists, got: {given!r}.") from None
    for group in sets:
        if not all(isinstance(j, Integral) and 0 <= int(j) < p for j in group):
            raise ValueError(
                f"Interaction constraints must consist of integer indices in [0, n_features - 1] = [0, {p - 1}], "
                f"specifying the position of features, got invalid indices: {group!r}"
            )
    rest = set(range(p)).difference(*sets)
    sets += [rest] if rest else []
    return np.array([[j in group for j in range(p)] for group in sets], dtype=bool).reshape(len(sets), p)


# The losses of boosting in plain NumPy: value, derivatives by the raw prediction, best constant, inverse link.
#
# Raw predictions are (n_outputs, n_samples), targets numbers or class codes. These formulas serve scores, predictions
# and the proof; the fit has its own loops.


LOG_LOSS = "log_loss"
BY_RESIDUAL = ("absolute_error", "quantile")
"""Losses whose leaves are quantiles of the residuals: they have no curvature to take a Newton step with."""

POSITIVE = ("poisson", "gamma")
"""Losses whose predictions are exponentials of the raw ones."""


def row_losses(loss: str, y: Array, raw: Array, quantile: float | None = None) -> Array:
    """Return the loss of each row."""
    if loss == LOG_LOSS and len(raw) > 1:
        return np.asarray(logsumexp(raw, axis=0) - raw[y.astype(np.intp), np.arange(len(y))])
    score = raw[0]
    if loss == LOG_LOSS:
        return np.asarray(np.logaddexp(0.0, score) - y * score)
    if loss == "poisson":
        return np.asarray(np.exp(score) - y * score)
    if loss == "gamma":
        return np.asarray(score + y * np.exp(-score))
    if loss == "squared_error":
        return np.asarray(0.5 * np.square(score - y))
    level = 0.5 if quantile is None else quantile
    pinball = np.where(y >= score, level * (y - score), (1.0 - level) * (score - y))
    return np.asarray(2.0 * pinball if loss == "absolute_error" else pinball)


def derivatives(loss: str, y: Array, raw: Array, k: int = 0, quantile: float | None = None) -> tuple[Array, Array]:
    """Return first and second derivative of each row's loss by its ``k``-th raw prediction."""
    score = raw[k]
    one = np.ones(len(score))
    if loss == LOG_LOSS:
        share = expit(score) if len(raw) == 1 else np.exp(score - logsumexp(raw, axis=0))
        other = expit(-score) if len(raw) == 1 else 1.0 - share
        return share - (y if len(raw) == 1 else y == k), share * other
    if loss == "poisson":
        return np.exp(score) - y, np.exp(score)
    if loss == "gamma":
        part = y * np.exp(-score)
        return 1.0 - part, part
    if loss == "squared_error":
        return score - y, one
    if loss == "absolute_error":
        return np.where(score > y, 1.0, -1.0), one
    return np.where(y >= score, -float(quantile or 0.0), 1.0 - float(quantile or 0.0)), one


def best_constant(loss: str, y: Array, weight: Array, n_outputs: int, quantile: float | None = None) -> Array:
    """Return the raw prediction that fits all rows best, of shape (n_outputs,)."""
    if loss == LOG_LOSS:
        eps = np.finfo(np.float64).eps
        if n_outputs == 1:
            share = np.clip(np.average(y, weights=weight), 10 * eps, 1.0 - 10 * eps)
            return np.array([np.log(share / (1.0 - share))])
        shares = np.bincount(y.astype(np.intp), weights=weight, minlength=n_outputs) / weight.sum()
        logs = np.log(np.clip(shares, eps, 1.0 - eps))
        return np.asarray(logs - logs.mean())
    if loss in BY_RESIDUAL:
        return np.array([weighted_quantile(y, weight, 0.5 if loss == "absolute_error" else float(quantile or 0.0))])
    mean = np.average(y, weights=weight)
    return np.array([np.log(mean) if loss in POSITIVE else mean])


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the middle of the values that minimize the pinball loss; a weight of k means k equal values."""
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weight[order])
    goal = level * mass[-1]
    slack = 1e-12 * mass[-1]  # sums of weights are rounded
    low = min(int(np.searchsorted(mass, goal - slack)), len(values) - 1)
    high = min(int(np.searchsorted(mass, goal + slack, side="right")), len(values) - 1)
    return float(values[low] + (values[high] - values[low]) / 2.0)


def predicted(loss: str, raw: Array) -> Array:
    """Return what regression predicts from raw predictions."""
    return np.exp(raw) if loss in POSITIVE else raw


def probabilities(raw: Array) -> Array:
    """Return the probability of each class, of shape (n_samples, n_classes), from raw predictions of log loss."""
    if len(raw) == 1:
        share = expit(raw[0])
        return np.stack([1.0 - share, share], axis=1)
    shares = np.exp(raw - raw.max(axis=0))
    return np.ascontiguousarray((shares / shares.sum(axis=0)).T)
