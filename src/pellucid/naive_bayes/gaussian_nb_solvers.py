"""Means and scatters of the classes in one pass, merged with earlier ones; the model they make; its log densities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.threads import run_blocks, shares
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.naive_bayes.gaussian_nb_kernels import class_moments_pass, gaussian_scores_pass
from pellucid.naive_bayes.spot_check import spot_check_gaussian_nb
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData

BLOCK_ROWS = 4096

FAR = 100.0
"""A pivot whose squared distance from the mean is more than so many variances costs digits: the pass is repeated."""

SMALLEST_VARIANCE = TINY
"""Stands for a variance of 0: a value off the mean then has the log density of almost -inf, as in the limit."""

PRIOR_SUM_ERROR = 1e-5
"""How far from 1 given priors may add up."""


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Weight of each class, shape (K,), and mean and scatter ``sum w (x - mean)^2`` of its columns, shape (K, p)."""

    total: Array
    mean: Array
    scatter: Array

    def merged(self, other: ClassMoments) -> ClassMoments:
        """Return the moments of both sets of rows together, from differences of means: no digits cancel."""
        total = self.total + other.total
        share = np.divide(other.total, total, out=np.zeros_like(total), where=total > 0)[:, None]
        gap = other.mean - self.mean
        scatter = self.scatter + other.scatter + self.total[:, None] * share * gap**2
        return ClassMoments(total, self.mean + share * gap, scatter)

    def overall_variance(self) -> Array:
        """Return the variance of each column over all classes."""
        weight = self.total / self.total.sum()
        gap = self.mean - self.mean[np.argmax(self.total)]
        return np.asarray(self.scatter.sum(axis=0) / self.total.sum() + weight @ gap**2 - (weight @ gap) ** 2)


def class_moments(X: Array, codes: Array, weight: Array | None, n_classes: int) -> ClassMoments:
    """Return the moments of the classes; what is not finite in ``X`` shows in the scatter."""
    pivot = _first_rows(X, codes, n_classes)
    with np.errstate(all="ignore"):
        total, shift, square = _sums(X, codes, weight, pivot)
        found = _about_the_mean(total, shift, square)
        if (shift**2 > FAR * total[:, None] * found).any():
            pivot = pivot + _divided(shift, total)
            total, shift, square = _sums(X, codes, weight, pivot)
            found = _about_the_mean(total, shift, square)
        mean = np.where(total[:, None] > 0, pivot + _divided(shift, total), 0.0)
        return ClassMoments(total, mean, np.maximum(found, 0.0))


def normal_classes(
    part: ClassMoments, earlier: ClassMoments | None, data: TrainingData, parameters: Any, trace: Trace
) -> Fit:
    """Return the fit to a part of the data, with these moments, and to all that came earlier."""
    seen = part if earlier is None else earlier.merged(part)
    epsilon = float(parameters.var_smoothing * seen.overall_variance().max())
    count = np.where(seen.total > 0, seen.total, 1.0)
    fitted = SimpleNamespace(
        classes_=data.classes,
        class_count_=seen.total,
        class_prior_=given_or_shares(parameters.priors, seen.total, parameters.prior_alpha),
        theta_=seen.mean,
        var_=seen.scatter / count[:, None] + epsilon,
        scatter_=seen.scatter,
        epsilon_=epsilon,
    )
    trace.add(iteration=len(trace) + 1, objective=_mean_loss(fitted))
    return Fit(vars(fitted), trace, certificate=spot_check_gaussian_nb(fitted, parameters, part, data, len(trace)))


def given_or_shares(priors: Data | None, total: Array, pseudo: float) -> Array:
    """Return the prior: a copy of the given one, or the shares of the classes, smoothed by a pseudo-count."""
    if priors is None:
        return np.asarray((total + pseudo) / (total.sum() + pseudo * len(total)))
    given = np.array(priors, dtype=np.float64)  # a copy: the user may write into theirs
    if given.shape != total.shape:
        raise ValueError(
            f"priors must have {len(total)} entries, got shape {given.shape}. "
            "Number of priors must match number of classes."
        )
    if not (given >= 0).all():
        raise ValueError(f"priors must be at least 0, got {given.min()!r}. Priors must be non-negative.")
    if abs(given.sum() - 1) > PRIOR_SUM_ERROR:
        raise ValueError(
            f"priors must add up to 1, got {float(given.sum())!r}. The sum of the priors should be 1: "
            "divide them by it."
        )
    return given


def _mean_loss(fitted: Any) -> float:
    """Return the mean of ``-log P(c, x)`` over the rows seen, from their moments."""
    with np.errstate(all="ignore"):
        spread = np.where(fitted.var_ > 0, fitted.scatter_ / fitted.var_, 0.0).sum(axis=1)
        width = np.log(2 * np.pi * np.where(fitted.var_ > 0, fitted.var_, 1.0)).sum(axis=1)
        per_class = fitted.class_count_ * (0.5 * width - np.log(fitted.class_prior_)) + 0.5 * spread
    return float(per_class[fitted.class_count_ > 0].sum() / fitted.class_count_.sum())


def gaussian_log_scores(X: Array, mean: Array, variance: Array, log_prior: Array) -> Array:
    """Return the joint log density of every row and class, shape (n, K)."""
    spread = np.maximum(variance, SMALLEST_VARIANCE)
    scale = 1 / np.sqrt(2 * spread)
    offset = log_prior - 0.5 * np.log(2 * np.pi * spread).sum(axis=1)
    scores = np.empty((len(X), len(mean)))

    def work(part: slice) -> None:
        for rows in _blocks(part):
            gaussian_scores_pass(_plain(X[rows]), mean, scale, offset, scores[rows])

    run_blocks(work, shares(len(X), X.size * len(mean)))
    return scores


def _sums(X: Array, codes: Array, weight: Array | None, pivot: Array) -> tuple[Array, Array, Array]:
    ones = np.ones(BLOCK_ROWS)

    def work(part: slice) -> tuple[Array, Array, Array]:
        total, shift, square = np.zeros(len(pivot)), np.zeros(pivot.shape), np.zeros(pivot.shape)
        for rows in _blocks(part):
            block = _plain(X[rows])
            counts = ones[: len(block)] if weight is None else weight[rows]
            class_moments_pass(block, codes[rows], counts, pivot, total, shift, square)
        return total, shift, square

    totals, shifts, squares = zip(*run_blocks(work, shares(len(X), X.size)), strict=True)
    return np.sum(totals, axis=0), np.sum(shifts, axis=0), np.sum(squares, axis=0)


def _about_the_mean(total: Array, shift: Array, square: Array) -> Array:
    return np.asarray(square - _divided(shift, total) * shift)


def _divided(sums: Array, total: Array) -> Array:
    return np.divide(sums, total[:, None], out=np.zeros_like(sums), where=total[:, None] > 0)


def _first_rows(X: Array, codes: Array, n_classes: int) -> Array:
    """Return the first row of each class: a pivot that makes constant columns exact; 0 for a class without rows."""
    first = np.full(n_classes, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last to write is the first row
    return np.where(first[:, None] >= 0, X[first].astype(np.float64), 0.0)


def _blocks(part: slice) -> Iterator[slice]:
    for start in range(part.start, part.stop, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, part.stop))


def _plain(block: Array) -> Array:
    """Return the rows as the kernels are compiled for: float64, C order, writeable."""
    return np.require(block, dtype=np.float64, requirements=["C", "W", "E"])
