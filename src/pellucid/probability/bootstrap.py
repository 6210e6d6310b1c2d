"""Intervals: of a statistic and of a curve from resamples of the data, of a mean by Hoeffding's inequality."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from math import isfinite, log, sqrt
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.core.checks import check_level, check_one_of, check_whole, is_number
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.watching import tracked
from pellucid.probability.sample_data import scalar_data

METHODS = ("BCa", "percentile")

BATCH = 1 << 21
"""Numbers resampled at once, at most: resamples are drawn in batches so that memory stays small."""


@dataclass(frozen=True, eq=False)
class BootstrapInterval:
    """An interval for a statistic, from resamples of the data."""

    estimate: Any
    """The statistic of the data; for an array, both ends and the standard error are arrays as well."""
    low: Any
    """Lower end of the interval."""
    high: Any
    """Upper end of the interval."""
    standard_error: Any
    """Standard deviation of the statistic over the resamples."""
    level: float
    """Confidence level, between 0 and 1."""
    method: str
    """``BCa`` or ``percentile``: what was used."""
    note: str = ""
    """Why the method is not the one asked for, or that resamples do not differ; else empty."""
    distribution: Array = field(repr=False, default_factory=lambda: np.empty(0))
    """The statistic of each resample, along the last axis."""


def bootstrap(
    *data: Data,
    statistic: Callable[..., Any],
    n_resamples: int = 9999,
    level: float = 0.95,
    method: str = "BCa",
    paired: bool = False,
    random_state: RandomState = None,
    progress: bool = False,
) -> BootstrapInterval:
    r"""Return an interval for a statistic of one sample or several, from resamples with replacement.

    Parameters
    ----------
    *data : array-like of shape (n,) or (n, p)
        The samples; rows of a table are resampled whole.
    statistic : callable
        Function of the samples that returns a number or a vector. If it has an ``axis`` argument it is called on many
        resamples at once, otherwise on one after the other.
    n_resamples : int, default=9999
        Number of resamples.
    level : float, default=0.95
        Confidence level, between 0 and 1.
    method : {"BCa", "percentile"}, default="BCa"
        Bias-corrected and accelerated interval, or plain quantiles. Where BCa is not defined the quantiles are given.
    paired : bool, default=False
        Whether rows of the samples belong together and are resampled together.
    random_state : int, Generator, RandomState or None
        Seed: the same one gives the same bits.
    progress : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> found = bootstrap([1, 2, 3, 4, 5], statistic=np.mean, method="percentile", random_state=0)
    >>> found.estimate, found.low, found.high
    (3.0, 1.8, 4.2)
    >>> same = bootstrap([2, 2, 2], statistic=np.mean)
    >>> same.low, same.high, same.note
    (2.0, 2.0, 'All resamples give the same value.')
    """
    check_whole(n_resamples=n_resamples)
    check_level(level)
    check_one_of(METHODS, method=method)
    samples = _samples(data, paired)
    if not callable(statistic):
        raise TypeError(f"statistic must be a function of the samples, got {statistic!r}.")
    rows, on_rows, vectorized = _resampled(samples, statistic, paired)
    estimate = np.asarray(on_rows(*rows))
    if not np.isfinite(estimate).all():
        raise ValueError(f"statistic must be finite on the data, got {estimate}.")
    settings = {"vectorized": vectorized, "paired": paired and vectorized, "confidence_level": level}
    drawn = _draw(rows, on_rows, settings, n_resamples, generator(random_state), progress)
    distribution = drawn.bootstrap_distribution
    _refuse_nonfinite(distribution)
    low, high, used, note = _interval(drawn, rows, on_rows, settings, method)
    plain = estimate.ndim == 0
    return BootstrapInterval(
        estimate=float(estimate) if plain else estimate,
        low=float(low) if plain else low,
        high=float(high) if plain else high,
        standard_error=float(drawn.standard_error) if plain else drawn.standard_error,
        level=level,
        method=used,
        note=note,
        distribution=distribution,
    )


def _draw(
    rows: tuple[Array, ...],
    statistic: Callable[..., Any],
    settings: dict[str, Any],
    n_resamples: int,
    rng: np.random.Generator,
    progress: bool,
) -> Any:
    """Return SciPy's result after all resamples, drawn in batches of the same sizes with and without a bar."""
    from scipy.stats import DegenerateDataWarning
    from scipy.stats import bootstrap as scipy_bootstrap

    batch = min(n_resamples, max(1, BATCH // max(map(len, rows))), 1000)
    sizes = [min(batch, n_resamples - start) for start in range(0, n_resamples, batch)]
    drawn = None
    for size in tracked(sizes, "bootstrap", show=progress):
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore", DegenerateDataWarning)  # such distributions are refused or noted
            drawn = scipy_bootstrap(
                rows, statistic, n_resamples=size, method="percentile", bootstrap_result=drawn, rng=rng, **settings
            )
    return drawn


def _refuse_nonfinite(distribution: Array) -> None:
    bad = int((~np.isfinite(distribution)).any(axis=tuple(range(distribution.ndim - 1))).sum())
    if bad:
        raise ValueError(
            f"statistic must be finite on resamples, got nan or infinity on {bad} of {distribution.shape[-1]}. "
            "Let it return a number when all values of a resample are equal."
        )


def _interval(
    drawn: Any, rows: tuple[Array, ...], statistic: Callable[..., Any], settings: dict[str, Any], method: str
) -> tuple[Array, Array, str, str]:
    """Return both ends, the method they come from and what is to be said about it."""
    from scipy.stats import bootstrap as scipy_bootstrap

    low, high = (np.asarray(end) for end in drawn.confidence_interval)
    if (np.ptp(drawn.bootstrap_distribution, axis=-1) == 0).all():
        return low, high, method, "All resamples give the same value."
    if method == "percentile":
        return low, high, method, ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what SciPy warns about is seen in the answer and said in the note
        ends = scipy_bootstrap(
            rows, statistic, n_resamples=0, method="BCa", bootstrap_result=drawn, **settings
        ).confidence_interval
    better = np.isfinite(ends.low) & np.isfinite(ends.high)
    note = "" if better.all() else "BCa is not defined where the statistic hardly varies; these are quantiles."
    chosen = "BCa" if better.any() else "percentile"
    return np.where(better, ends.low, low), np.where(better, ends.high, high), chosen, note


def _resampled(
    samples: tuple[Array, ...], statistic: Callable[..., Any], paired: bool
) -> tuple[tuple[Array, ...], Callable[..., Any], bool]:
    """Return what SciPy resamples, the statistic of that, and whether it takes many resamples at once.

    SciPy resamples numbers. Rows of tables, and statistics without an axis, get resampled row numbers instead.
    """
    if all(sample.ndim == 1 for sample in samples) and _has_axis(statistic):
        return samples, statistic, True
    if paired:
        return (np.arange(len(samples[0])),), lambda i: statistic(*(sample[i] for sample in samples)), False
    numbers = tuple(np.arange(len(sample)) for sample in samples)
    return numbers, lambda *chosen: statistic(*(s[i] for s, i in zip(samples, chosen, strict=True))), False


def _has_axis(statistic: Callable[..., Any]) -> bool:
    try:
        return "axis" in signature(statistic).parameters
    except (TypeError, ValueError):  # some compiled functions do not tell their arguments
        return False


def _samples(data: tuple[Data, ...], paired: bool) -> tuple[Array, ...]:
    if not data:
        raise ValueError("data must be given, got none. Pass one array per sample.")
    samples = tuple(np.asarray(sample) for sample in data)
    for sample in samples:
        if sample.ndim not in (1, 2) or len(sample) < 2:
            raise ValueError(
                f"data must have one or two dimensions and at least two rows, got shape {sample.shape}. "
                "One observation says nothing about how it varies."
            )
        if sample.dtype.kind == "f" and not np.isfinite(sample).all():
            raise ValueError("data must be finite, got nan or infinity. Drop those rows.")
    if paired and len({len(sample) for sample in samples}) > 1:
        raise ValueError(f"paired data must have equal lengths, got {[len(sample) for sample in samples]}.")
    return samples


@dataclass(frozen=True, eq=False)
class CurveBand:
    """A fitted curve with two bands: one for each point of a grid taken alone, one for all of them at once."""

    grid: Any = field(repr=False)
    """Where the curve was evaluated, as it was given."""
    curve: Array
    """The curve fitted to all rows, of shape (n_points,), as are the ends of the bands."""
    low: Array
    """Lower end of the band that covers the curve at each point taken alone."""
    high: Array
    """Upper end of the band that covers the curve at each point taken alone."""
    simultaneous_low: Array
    """Lower end of the band that covers the curve at all points at once."""
    simultaneous_high: Array
    """Upper end of the band that covers the curve at all points at once."""
    standard_error: Array
    """Standard deviation of the resampled curves at each point."""
    critical_value: float
    """Standard errors that the simultaneous band reaches to either side, at least."""
    level: float
    """Confidence level of each band."""
    resampled_curves: Array = field(repr=False)
    """Curves fitted to resamples of the rows, of shape (n_resamples, n_points)."""


def curve_band(
    estimator: Any,
    X: Data,
    y: Data,
    grid: Data,
    *,
    n_resamples: int = 999,
    level: float = 0.95,
    random_state: RandomState = None,
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


def hoeffding_interval(values: Data, low: float, high: float, level: float = 0.95) -> tuple[float, float]:
    r"""Return ends between which the true mean lies with at least this probability, for any number of values.

    .. math:: \bar x \pm (b - a) \sqrt{\frac{\log(2 / \delta)}{2n}}, \qquad \delta = 1 - \text{level},

    cut to :math:`[a, b]`, where the mean must be.

    Parameters
    ----------
    values : array-like of shape (n,)
        Independent values between ``low`` and ``high``.
    low, high : float
        The smallest and largest values possible, :math:`a < b`; known beforehand, not read off the data.
    level : float, default=0.95
        Probability of covering the mean, between 0 and 1.

    Examples
    --------
    >>> hoeffding_interval([0, 1] * 500, 0, 1)  # half width sqrt(log(40) / 2000)
    (0.457..., 0.542...)
    """
    if not (is_number(low) and is_number(high) and isfinite(high - low) and low < high):
        raise ValueError(f"low and high must be finite numbers, low below high, got low={low!r} and high={high!r}.")
    check_level(level)
    data = scalar_data(values)
    if data.values.min() < low or data.values.max() > high:
        got = float(data.values.min() if data.values.min() < low else data.values.max())
        raise ValueError(f"values must be between low={low!r} and high={high!r}, got {got!r}.")
    mean = float(data.values.mean())
    reach = (high - low) * sqrt(log(2 / (1 - level)) / (2 * data.total))
    return max(float(low), mean - reach), min(float(high), mean + reach)
