r"""What four criteria say of a clustering, and which number of clusters each prefers.

- Elbow: the sum :math:`W_K` of squared distances to the means of the clusters falls with every cluster more; the elbow
  is the K that lies farthest below the straight line from the first to the last.
- Silhouette: how much nearer rows are to their own cluster than to the next one; the largest mean is best.
- Gap statistic (Tibshirani, Walther and Hastie, 2001): how much smaller :math:`\log W_K` is than on rows spread evenly
  over the same box, :math:`\mathrm{Gap}_K = \overline{\log W^*_K} - \log W_K`; the first K with
  :math:`\mathrm{Gap}_K \ge \mathrm{Gap}_{K+1} - s_{K+1}` is best, with :math:`s = \sqrt{1 + 1/B}` times the standard
  deviation over B such sets of rows.
- BIC: minus twice the log likelihood of round clusters of one width, plus :math:`\log n` for each number that is
  fitted; the least is best. An estimator that has a ``bic`` of its own is asked for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.solvers.leading_eigenvectors import first_largest


def dispersion(X: Array, labels: Array) -> float:
    """Return :math:`W`, the sum of squared distances of rows to the mean of their cluster.

    Examples
    --------
    >>> dispersion(np.array([[0.0], [2.0], [8.0]]), np.array([0, 0, 1]))
    2.0
    """
    total = 0.0
    for label in np.unique(labels):
        rows = X[labels == label]
        total += float(np.square(rows - rows.mean(axis=0)).sum())
    return total


def spherical_bic(X: Array, labels: Array, spread: float) -> float:
    r"""Return the BIC of round clusters of one width, each row in its own: ``spread`` is :math:`W`.

    .. math:: \sigma^2 = \frac{W}{d(n - K)},\quad -2\sum_k n_k\log\frac{n_k}{n} + nd\log(2\pi\sigma^2) + d(n - K)
       + (Kd + K)\log n
    """
    n, d = X.shape
    counts = np.unique(labels, return_counts=True)[1]
    k = len(counts)
    if n <= k or spread <= 0.0:
        return math.nan
    variance = spread / (d * (n - k))
    fit = -2.0 * float(np.sum(counts * np.log(counts / n))) + n * d * math.log(2.0 * math.pi * variance) + d * (n - k)
    return fit + (k * d + k) * math.log(n)  # k centers, one width, k - 1 shares


def even_rows(X: Array, rng: np.random.Generator) -> Array:
    """Return as many rows, spread evenly over the box around the rows along their principal directions."""
    mean = X.mean(axis=0)
    directions = np.linalg.svd(X - mean, full_matrices=False)[2]
    turned = (X - mean) @ directions.T
    return np.asarray(rng.uniform(turned.min(axis=0), turned.max(axis=0), size=turned.shape) @ directions + mean)


def best_gap(ks: Array, gaps: Array, errors: Array) -> int | None:
    """Return the first K whose gap is no smaller than the next one less its standard error; None where none is.

    Examples
    --------
    >>> best_gap(np.array([1, 2, 3]), np.array([0.1, 0.8, 0.82]), np.array([0.05, 0.05, 0.05]))
    2
    """
    for i in range(len(ks) - 1):
        if np.isfinite(gaps[i : i + 2]).all() and gaps[i] >= gaps[i + 1] - errors[i + 1]:
            return int(ks[i])
    return None


def largest(ks: Array, values: Array) -> int | None:
    """Return the K of the largest value, the first of equal ones; None where there is no value."""
    known = np.isfinite(values)
    return int(ks[known][first_largest(values[known])]) if known.any() else None


def labels_of(model: Any, X: Array) -> Array:
    """Return the clusters of the rows that a model was fitted to."""
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))


def agreement(fit: Callable[[Array, int], Any], X: Array, labels: Array, rng: np.random.Generator) -> float:
    """Return the adjusted Rand index of ``labels`` and of clusters found from rows drawn with replacement.

    1 means the same clusters, 0 no more agreement than by chance. A model that cannot assign rows is asked for those
    that were drawn. ``fit(rows, seed)`` returns a fitted model.
    """
    from sklearn.metrics import adjusted_rand_score  # a tenth of a second that few need

    drawn = rng.integers(len(X), size=len(X))
    model = fit(X[drawn], int(rng.integers(2**31 - 1)))
    if hasattr(model, "predict"):
        return float(adjusted_rand_score(labels, model.predict(X)))
    once, places = np.unique(drawn, return_index=True)
    return float(adjusted_rand_score(labels[once], labels_of(model, X[drawn])[places]))
