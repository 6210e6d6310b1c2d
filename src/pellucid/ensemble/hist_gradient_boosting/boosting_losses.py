"""The losses of boosting in plain NumPy: value, derivatives by the raw prediction, best constant, inverse link.

Raw predictions are (n_outputs, n_samples), targets numbers or class codes. These formulas serve scores, predictions and
the proof; the fit has its own loops.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from pellucid.core.types import Array

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
