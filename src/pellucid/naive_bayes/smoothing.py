r"""Smoothed shares: :math:`(n_j + \alpha_j) / \sum_i (n_i + \alpha_i)`.

That is the posterior mode of a Categorical or Bernoulli density under a Dirichlet, or Beta, prior with parameters
:math:`\alpha_j + 1` (:class:`pellucid.probability.Dirichlet`), taken for all classes and columns at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.checks import check_nonnegative, is_number
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user

SMALLEST_ALPHA = 1e-10
"""What a smaller alpha is raised to unless it is forced."""


def check_alpha(alpha: Any, force_alpha: bool, n_features: int) -> Array:
    """Return the pseudo-count of every column, of shape (n_features,)."""
    if is_number(alpha):
        check_nonnegative(alpha=alpha)
    values = np.asarray(alpha, dtype=np.float64)
    if values.ndim and values.shape != (n_features,):
        raise ValueError(
            f"alpha must be a number or have {n_features} entries, got shape {values.shape}. "
            "When alpha is an array, it should contains `n_features` numbers."
        )
    if not (values >= 0).all():
        raise ValueError(
            f"alpha must be at least 0, got {float(values.min())!r}. All values in alpha must be greater than 0."
        )
    if values.min() < SMALLEST_ALPHA and not force_alpha:
        warn_user(
            f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged."
        )
        values = np.maximum(values, SMALLEST_ALPHA)
    return np.broadcast_to(values, (n_features,))


def log_smoothed(counts: Array, alpha: Array, total: Array, usual: Array | None = None) -> Array:
    """Return ``log((counts + alpha) / total)`` for counts of shape (K, p), alpha (p,) and total (K, 1) or (K, p).

    Counts of words are mostly 0, counts of missing words mostly the number of rows: ``usual``, of shape (K, 1), says
    what most are, 0 by default. Where counts are as usual the logarithm is taken once, not for each of them.
    """
    usual = np.zeros((len(counts), 1)) if usual is None else usual
    special = np.flatnonzero(counts != usual)
    total = np.where(total > 0, total, 1.0)  # a class without counts has no shares: all are 0
    with np.errstate(divide="ignore"):
        if 2 * len(special) > counts.size:
            return np.asarray(np.log(counts + alpha) - np.log(total))
        logs = np.empty(counts.shape)
        logs[...] = np.log(usual + alpha) - np.log(total)
        row, column = np.divmod(special, counts.shape[1])
        share = counts.ravel()[special] + np.broadcast_to(alpha, counts.shape[1])[column]
        logs.ravel()[special] = np.log(share) - np.log(np.broadcast_to(total, counts.shape)[row, column])
    return logs


def one_if_equal(alpha: Array) -> Array:
    """Return pseudo-counts that are all the same as one, of shape (1,), so that it is worked with once."""
    return alpha[:1] if (alpha == alpha[0]).all() else alpha


def log_class_prior(class_count: Array, *, fit_prior: bool, class_prior: Data | None) -> Array:
    """Return the logarithm of the given prior, of the shares of the classes, or of a uniform prior."""
    n_classes = len(class_count)
    if class_prior is not None:
        given = np.asarray(class_prior, dtype=np.float64)
        if given.shape != (n_classes,):
            raise ValueError(
                f"class_prior must have {n_classes} entries, got shape {given.shape}. "
                "Number of priors must match number of classes."
            )
        if not (given >= 0).all():
            raise ValueError(f"class_prior must be at least 0, got {float(given.min())!r}.")
    else:
        given = class_count / class_count.sum() if fit_prior else np.full(n_classes, 1 / n_classes)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(given))
