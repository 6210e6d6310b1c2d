"""The problem that boosted trees solve, as parameters and data state it: losses, rows held out, what a round draws.

Raw predictions are (n_outputs, n_samples), targets numbers or class codes. Rows are held out, and few of many are
scored, by the rules of scikit-learn's ``train_test_split`` and ``resample``, written down again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.proofs.arrays import Array
from pellucid.proofs.classes import class_weights
from pellucid.proofs.ensemble.boosting_blocks import bins_of, edges_of_bins
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

LOG_LOSS = "log_loss"
BY_RESIDUAL = ("absolute_error", "quantile")
"""Losses whose leaves are quantiles of the residuals: they have no curvature to take a Newton step with."""
MANY_ROWS = 10_000
"""Rows above which ``early_stopping='auto'`` stops early, and the most that are scored."""
KEY_ROWS = 1024
"""Nodes with keys of their own; of more nodes, some share them."""
NO_SPLIT, OF_TRAINING, GIVEN = "none", "split", "given"
"""Where the rows that early stopping looks at come from."""


@dataclass(frozen=True, eq=False)
class Setting:
    """The training rows, without those held out, and what the parameters say about the features."""

    X: Any
    y: Array
    weight: Array
    is_weighted: bool
    loss: str
    quantile: float | None
    n_outputs: int
    edges: list[Array]
    is_categorical: Array
    has_missing: Array
    direction: Array
    sets: Array
    held_out: tuple[Array, Array, Array] | None
    given: Any
    """The rows as they were given: where ``verify`` reads them in blocks, ``X``, ``held_out`` and ``edges`` are about
    bins. A fit leaves ``X`` in blocks until it is known which trees are looked at."""

    @property
    def is_in_bins(self) -> bool:
        """Whether bins stand for the values of the rows."""
        return self.given is not self.X

    @classmethod
    def of(cls, fitted: Seen, parameters: Seen, data: TrainingData, *, is_whole: bool) -> Setting:
        """Return the problem of a fit; for a proof that is not whole, rows in blocks stay there."""
        X, p, y = data.X, data.X.shape[1], np.asarray(data.y, dtype=np.float64)
        weight, is_weighted = data.weights, data.weight is not None
        if getattr(parameters, "class_weight", None) is not None:
            weight, is_weighted = weight * class_weights(parameters.class_weight, data)[data.y], True
        held_out = None
        if fitted.held_out_ == OF_TRAINING:
            of_class = data.y if len(data.classes) else None
            kept, held = _parted(len(y), parameters.validation_fraction, int(fitted.random_seeds_[0]), of_class)
            held_out = X[held], y[held], weight[held]
            X, y, weight = X[kept], y[kept], weight[kept]
        edges, mask, rows = list(fitted.bin_thresholds_), category_mask(fitted, p), X
        if is_whole and not isinstance(X, np.ndarray):
            X = bins_of(X, edges, mask)
            held_out = None if held_out is None else (bins_of(held_out[0], edges, mask), *held_out[1:])
            edges = edges_of_bins(edges)
        has_missing = np.asarray(np.isnan(X).any(axis=0)) if isinstance(X, np.ndarray) else np.zeros(p, dtype=bool)
        given: Any = parameters.monotonic_cst
        if isinstance(given, dict):
            given = [given.get(name, 0) for name in fitted.feature_names]
        return cls(
            X, y, weight, is_weighted, parameters.loss, getattr(parameters, "quantile", None), len(fitted.baseline_),
            edges, mask, has_missing,
            np.zeros(p, dtype=np.int64) if given is None else np.asarray(given, dtype=np.int64),
            _interaction_sets(parameters.interaction_cst, p), held_out, rows,
        )  # fmt: skip


def category_mask(fitted: Seen, p: int) -> Array:
    """Return which columns hold categories."""
    return np.zeros(p, dtype=bool) if fitted.is_categorical_ is None else np.asarray(fitted.is_categorical_)


def _interaction_sets(given: Any, p: int) -> Array:
    """Return which features each set has, (n_sets, p); features of no set form one more. None: no sets."""
    if given is None:
        return np.zeros((0, p), dtype=bool)
    if isinstance(given, str):
        given = [[j] for j in range(p)] if given == "no_interactions" else combinations(range(p), 2)
    sets = [set(group) for group in given]
    rest = set(range(p)).difference(*sets)
    return np.array([[j in group for j in range(p)] for group in (*sets, *([rest] if rest else []))], dtype=bool)


def most_leaves(n: int, parameters: Seen) -> int:
    """Return how many leaves a tree on so many rows can have."""
    most = min(max(1, n // parameters.min_samples_leaf), parameters.max_leaf_nodes or math.inf)
    return int(min(most, 2.0 ** min(parameters.max_depth or 1000, 1000)))


def drawn_keys(rng: np.random.Generator, share: float, n_leaves: int, p: int) -> Array:
    """Return the keys of a tree: a split looks at this share of the features, those of lowest keys."""
    return np.empty((0, p)) if share == 1.0 else rng.random((min(KEY_ROWS, 2 * n_leaves + 1), p))


def _parted(n: int, share: Any, seed: int, of_class: Array | None) -> tuple[Array, Array]:
    """Return the rows to train on and those held out, of each class the same part."""
    rng = np.random.RandomState(seed)
    n_held = int(share) if isinstance(share, Integral) else math.ceil(share * n)
    if of_class is None:
        order = rng.permutation(n)
        return order[n_held:], order[:n_held]
    members = [np.flatnonzero(of_class == c) for c in np.unique(of_class)]
    counts = np.array([len(rows) for rows in members])
    n_kept = _shared_out(counts, n - n_held, rng)
    held_of = _shared_out(counts - n_kept, n_held, rng)
    kept, held = [], []
    for rows, a, b in zip(members, n_kept, held_of, strict=True):
        rows = rows[rng.permutation(len(rows))]
        kept.append(rows[:a])
        held.append(rows[a : a + b])
    return rng.permutation(np.concatenate(kept)), rng.permutation(np.concatenate(held))


def _few(n: int, seed: int, of_class: Array | None) -> Array:
    """Return the rows that are scored where there are many, of each class the same part."""
    rng = np.random.RandomState(seed)
    if of_class is None:
        order = np.arange(n)
        rng.shuffle(order)
        return order[:MANY_ROWS]
    members = [np.flatnonzero(of_class == c) for c in np.unique(of_class)]
    counts = _shared_out(np.array([len(rows) for rows in members]), MANY_ROWS, rng)
    some = [rng.choice(rows, count, replace=False) for rows, count in zip(members, counts, strict=True)]
    return rng.permutation(np.concatenate(some))


def _shared_out(counts: Array, n: int, rng: np.random.RandomState) -> Array:
    """Return n shared out in proportion to the counts: rounded down, then one more by remainder, ties drawn."""
    exact = counts / counts.sum() * n
    found = np.floor(exact)
    missing = int(n - found.sum())
    for value in np.unique(exact - np.floor(exact))[::-1]:
        if missing <= 0:
            break
        tied = np.flatnonzero(exact - np.floor(exact) == value)
        tied = rng.choice(tied, size=min(len(tied), missing), replace=False)
        found[tied] += 1
        missing -= len(tied)
    return found.astype(int)


def row_losses(s: Setting, y: Array, raw: Array) -> Array:
    """Return the loss of each row."""
    score = raw[0]
    if s.loss == LOG_LOSS and len(raw) > 1:
        return np.logaddexp.reduce(raw, axis=0) - raw[y.astype(int), np.arange(len(y))]
    if s.loss == LOG_LOSS:
        return np.where(y == 1.0, np.logaddexp(0.0, -score), np.logaddexp(0.0, score))
    if s.loss == "poisson":
        return np.asarray(np.exp(score) - y * score)
    if s.loss == "gamma":
        return np.asarray(score + y * np.exp(-score))
    if s.loss == "squared_error":
        return np.asarray((score - y) ** 2 / 2.0)
    if s.loss == "absolute_error":
        return np.abs(y - score)
    return np.maximum(float(s.quantile or 0.0) * (y - score), (float(s.quantile or 0.0) - 1.0) * (y - score))


def derivatives(s: Setting, raw: Array, k: int) -> tuple[Array, Array]:
    """Return first and second derivative of each row's loss by its ``k``-th raw prediction, times its weight."""
    y, score = s.y, raw[k]
    second = np.ones(len(score))
    if s.loss == LOG_LOSS:
        odds = score if len(raw) == 1 else score - np.logaddexp.reduce(np.delete(raw, k, axis=0), axis=0)
        first, second = expit(odds) - (y if len(raw) == 1 else y == k), expit(odds) * expit(-odds)
    elif s.loss == "poisson":
        first, second = np.exp(score) - y, np.exp(score)
    elif s.loss == "gamma":
        first, second = 1.0 - y * np.exp(-score), y * np.exp(-score)
    elif s.loss == "squared_error":
        first = score - y
    else:
        above, below = (1.0, -1.0) if s.loss == "absolute_error" else (1.0 - (s.quantile or 0.0), -(s.quantile or 0.0))
        is_above = score > y
        first = np.where(is_above, above, below)
    return s.weight * first, s.weight * second


def best_constant(s: Setting) -> Array:
    """Return the raw prediction that fits all rows best, of shape (n_outputs,)."""
    if s.loss in BY_RESIDUAL:
        return np.array([weighted_quantile(s.y, s.weight, level_of(s))])
    if s.loss != LOG_LOSS:
        mean = np.average(s.y, weights=s.weight)
        return np.array([mean if s.loss == "squared_error" else np.log(mean)])
    shares = np.array([s.weight[s.y == c].sum() for c in range(max(s.n_outputs, 2))]) / s.weight.sum()
    if s.n_outputs == 1:
        share = np.clip(shares[1], 10 * EPSILON, 1.0 - 10 * EPSILON)
        return np.array([np.log(share) - np.log1p(-share)])
    logs = np.log(np.clip(shares, EPSILON, 1.0 - EPSILON))
    return np.asarray(logs - logs.mean())


def level_of(s: Setting) -> float:
    """Return which quantile the loss asks for."""
    return 0.5 if s.loss == "absolute_error" else float(s.quantile or 0.0)


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the middle of the values that minimize the pinball loss; a weight of k means k equal values."""
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weight[order])
    slack = 1e-12 * mass[-1]  # sums of weights are rounded
    low = values[mass >= level * mass[-1] - slack][0]
    above = values[mass > level * mass[-1] + slack]
    high = above[0] if len(above) else values[-1]
    return float(low + (high - low) / 2.0)


@dataclass
class ScoresAgain:
    """The scores by which a fit stops early, of training rows, or of some if they are many, and of rows held out.

    No name stands for accuracy of classes and R squared of numbers; what others say is asked of ``scorer``.
    """

    setting: Setting
    has_classes: bool
    few: Array
    scorer: Callable[..., float] | None
    train: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, setting: Setting, fitted: Seen, parameters: Seen, has_classes: bool) -> ScoresAgain:
        """Prepare to score."""
        few, n = np.arange(len(setting.y)), len(setting.y)
        if n > MANY_ROWS:
            few = _few(n, int(fitted.random_seeds_[0]), setting.y if has_classes else None)
        return cls(setting, has_classes, few, None if parameters.scoring is None else fitted.scorer)

    def note(self, raw: Array, held: Array | None) -> None:
        """Write down the scores at these predictions."""
        s, few = self.setting, self.few
        self.train.append(self._score(s.X[few], s.y[few], s.weight[few], raw[:, few]))
        if held is not None and s.held_out is not None:
            self.held_out.append(self._score(*s.held_out, held))

    def _score(self, X: Array, y: Array, weight: Array, raw: Array) -> float:
        if self.scorer is not None:
            return self.scorer(raw, X, y, weight if self.setting.is_weighted else None)
        if self.has_classes:
            said = raw.argmax(axis=0) if len(raw) > 1 else (raw[0] > 0).astype(int)
            return float(np.average(said == y, weights=weight))
        said = np.exp(raw[0]) if self.setting.loss in ("poisson", "gamma") else raw[0]
        error, size = weight @ (y - said) ** 2, weight @ (y - np.average(y, weights=weight)) ** 2
        return float(1.0 - error / size) if size > 0 else float(error == 0)
