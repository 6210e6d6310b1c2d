"""curve_band: bands for a whole regression curve, by refitting an estimator to resampled rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.core.checks import check_level, check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.core.watching import tracked


@dataclass(frozen=True, eq=False)
class CurveBand:
    """A fitted curve with two bands.

    ``low`` and ``high`` cover the curve at each point taken alone; ``simultaneous_low`` and ``simultaneous_high`` cover
    it at all points of the grid at once.
    """

    grid: Any = field(repr=False)
    curve: Array
    low: Array
    high: Array
    simultaneous_low: Array
    simultaneous_high: Array
    standard_error: Array
    critical_value: float
    level: float
    resampled_curves: Array = field(repr=False)


def curve_band(
    estimator: Any,
    X: Data,
    y: Data,
    grid: Data,
    *,
    n_resamples: int = 999,
    level: float = 0.95,
    random_state: Any = None,
    progress: bool = False,
) -> CurveBand:
    r"""Return pointwise and simultaneous confidence bands of the curve that an estimator fits.

    Rows are resampled with replacement and the estimator refitted: :math:`f_b`. The pointwise band has the quantiles of
    :math:`f_b(g)` at each :math:`g`. The simultaneous one is :math:`f(g) \pm c\,\mathrm{se}(g)`, with :math:`c` the
    quantile of :math:`\max_g |f_b(g) - f(g)| / \mathrm{se}(g)` over resamples, widened to hold the pointwise one where
    that is skewed.

    Parameters
    ----------
    estimator : regressor
        Any with scikit-learn's ``fit`` and ``predict``; it is cloned.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The data.
    grid : array-like of shape (n_points, n_features), or (n_points,) for one feature
        Where to evaluate the curve.
    n_resamples : int, default=999
        Number of refits, at least 2.
    level : float, default=0.95
        Confidence level of each band.
    random_state : int, Generator, RandomState or None
        Seed: the same one gives the same bits.
    progress : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> from pellucid.linear_model import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.2, 1.8, 3.0]
    >>> band = curve_band(LinearRegression(), X, y, [0.0, 1.5], n_resamples=100, random_state=0)
    >>> bool(np.all(band.simultaneous_low <= band.curve)), bool(np.all(band.curve <= band.simultaneous_high))
    (True, True)
    """
    check_whole(2, n_resamples=n_resamples)
    check_level(level)
    check_consistent_length(X, y)
    points = np.reshape(grid, (-1, 1)) if np.ndim(grid) == 1 else grid
    curve = _predicted(estimator, X, y, points)
    rng, n = generator(random_state), len(y)
    curves = np.empty((n_resamples, len(curve)))
    for b in tracked(range(n_resamples), "refits", show=progress):
        rows = rng.integers(n, size=n)
        curves[b] = _predicted(estimator, _safe_indexing(X, rows), _safe_indexing(y, rows), points)
    standard_error = curves.std(axis=0, ddof=1)
    low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    critical = _largest_deviation(curves - curve, standard_error, level)
    reach = critical * standard_error
    outer_low, outer_high = np.minimum(curve - reach, low), np.maximum(curve + reach, high)
    return CurveBand(
        grid, curve, low, high, outer_low, outer_high, standard_error, critical, level, resampled_curves=curves
    )


def _predicted(estimator: Any, X: Data, y: Data, points: Data) -> Array:
    curve = np.asarray(clone(estimator).fit(X, y).predict(points))
    if curve.ndim != 1 or curve.dtype.kind not in "iuf":
        raise ValueError(
            f"estimator must predict one number per row, got shape {curve.shape} of {curve.dtype}. "
            "Use a regressor with one target."
        )
    return curve.astype(np.float64)


def _largest_deviation(deviations: Array, standard_error: Array, level: float) -> float:
    """Return the quantile over curves of the largest standardized deviation; points that never vary do not count."""
    varies = standard_error > 0
    if not varies.any():
        return 0.0
    return float(np.quantile((np.abs(deviations[:, varies]) / standard_error[varies]).max(axis=1), level))
