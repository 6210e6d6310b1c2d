"""What naive Bayes answers about rows on a device: joint log probabilities in double precision."""

from __future__ import annotations

from typing import Any

from pellucid.core.array_api import array_namespace
from pellucid.naive_bayes.gaussian_nb_solvers import SMALLEST_VARIANCE


def class_scores(model: Any, X: Any) -> Any:
    """Return the joint log probability of each row and class."""
    xp = array_namespace(X)
    rows = xp.astype(X, xp.float64)
    if hasattr(model, "var_"):
        return _gaussian(model, rows, xp)
    if getattr(model, "binarize", None) is not None:
        rows = xp.astype(rows > model.binarize, xp.float64)
    one = xp.astype(model.feature_log_prob_, xp.float64)
    zero = xp.astype(model.absence_log_prob_, xp.float64) if hasattr(model, "absence_log_prob_") else None
    scores = _product(rows, one, xp) + xp.astype(model.class_log_prior_, xp.float64)
    scores = scores if zero is None else scores + _product(1.0 - rows, zero, xp)
    impossible = xp.isinf(xp.max(scores, axis=1))[:, None]  # says nothing: the prior remains
    return xp.where(impossible, xp.astype(model.class_log_prior_, xp.float64)[None, :], scores)


def _product(rows: Any, logs: Any, xp: Any) -> Any:
    never = xp.isinf(logs)
    sums = rows @ xp.where(never, xp.zeros_like(logs), logs).T
    clashes = rows @ xp.astype(never, xp.float64).T > 0.0
    return xp.where(clashes, xp.full_like(sums, -xp.inf), sums)


def _gaussian(model: Any, rows: Any, xp: Any) -> Any:
    spread = xp.astype(model.var_, xp.float64)
    spread = xp.where(spread > SMALLEST_VARIANCE, spread, xp.full_like(spread, SMALLEST_VARIANCE))
    prior = xp.log(xp.astype(model.class_prior_, xp.float64))
    means, scores = xp.astype(model.theta_, xp.float64), []
    for k in range(means.shape[0]):
        z = (rows - means[k]) / xp.sqrt(2.0 * spread[k])
        scores.append(prior[k] - 0.5 * xp.sum(xp.log(2.0 * xp.pi * spread[k])) - xp.sum(z * z, axis=1))
    return xp.stack(scores, axis=1)
