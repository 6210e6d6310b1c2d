"""Why a model errs: noise, bias and variance, by simulation from a known truth or by resampling real data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.core.checks import check_nonnegative, check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.watching import tracked
from pellucid.proofs.certificate import Certificate, Claim

Draw = Callable[[np.random.Generator], tuple[Data, Data]]
"""From a generator to a fresh training set ``(X, y)``."""

ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class BiasVariance:
    r"""The parts of the expected error, averaged over the test rows."""

    noise: float
    """Variance of the noise of the targets; nan where it cannot be told apart from the bias, which then holds both."""
    bias: float
    """Squared distance of the mean prediction from the truth, less what chance adds to it: it may be a little below 0.
    For the zero-one loss the share of rows whose most frequent prediction is wrong."""
    variance: float
    """Variance of the predictions of a row; for the zero-one loss, how often one differs from the most frequent."""
    error: float
    """The expected error, which the parts explain."""
    standard_error: float
    """Standard error of the error: over the fits of a simulation, over the rows otherwise."""
    n_repeats: int
    """Training sets fitted to."""
    loss: str
    """``squared``, or ``zero-one`` for a classifier."""
    certificate: Certificate
    """Says that the parts explain the error, up to rounding."""
    per_row: dict[str, Array] = field(default_factory=dict)
    """``bias`` and ``variance`` of each test row, by these names."""
    predictions: Array | None = None
    """(n_repeats, n_points): what each fit of a simulation predicts, for ``plot_resampled_curves``."""

    def __repr__(self) -> str:
        noise = "with noise" if np.isnan(self.noise) else f"noise {self.noise:.4g} +"
        bias = "bias²" if self.loss == "squared" else "bias"
        return (
            f"error {self.error:.4g} (+-{self.standard_error:.2g}) = {noise} {bias} {self.bias:.4g} + "
            f"variance {self.variance:.4g} ({self.n_repeats} fits, {self.loss} loss)"
        )


def bias_variance_simulation(
    estimator: Any,
    draw: Draw,
    X_test: Data,
    truth: Callable[[Data], Data],
    *,
    noise_variance: float = 0.0,
    n_repeats: int = 200,
    random_state: RandomState = 0,
    progress: bool = False,
) -> BiasVariance:
    r"""Split the expected squared error of a regressor, by fitting it to many training sets from a known truth.

    .. math:: E\,(y - \hat f(x))^2 = \sigma^2 + (f(x) - E\hat f(x))^2 + \mathrm{Var}\,\hat f(x)

    Parameters
    ----------
    estimator : regressor
        It is cloned for every training set.
    draw : callable generator -> (X, y)
        Makes a training set.
    X_test : array-like of shape (n_points, n_features)
        Where the error is split.
    truth : callable X -> y
        The function :math:`f` without noise.
    noise_variance : float, default=0.0
        :math:`\sigma^2`.
    n_repeats : int, default=200
        Number of training sets, at least 2.
    random_state : int, Generator, RandomState or None, default=0
        Seed.
    progress : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> from pellucid.linear_model import LinearRegression
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> def draw(random):
    ...     return X, X[:, 0] + random.standard_normal(20)
    >>> split = bias_variance_simulation(LinearRegression(), draw, X, lambda X: X[:, 0], noise_variance=1.0)
    >>> bool(split.bias < 0.01), bool(0.07 < split.variance < 0.13)  # p / n = 2 / 20
    (True, True)
    """
    check_whole(2, n_repeats=n_repeats)
    check_nonnegative(noise_variance=noise_variance)
    random = generator(random_state)
    right = np.asarray(truth(X_test), dtype=np.float64)
    predictions = np.empty((n_repeats, len(right)))
    for k in tracked(range(n_repeats), "fits", show=progress):
        X, y = draw(random)
        predictions[k] = np.asarray(clone(estimator).fit(X, y).predict(X_test), dtype=np.float64)
    return _squared_split(predictions, right, noise_variance)


def bias_variance_bootstrap(
    estimator: Any,
    X: Data,
    y: Data,
    *,
    n_repeats: int = 100,
    random_state: RandomState = 0,
    progress: bool = False,
) -> BiasVariance:
    r"""Split the error on real data: fit to resamples of the rows, predict the rows that a resample left out.

    For a regressor the squared error; noise and squared bias cannot be told apart, so ``bias`` holds both. For a
    classifier the rate of mistakes: ``bias`` is the error of the most frequent prediction of each row, ``variance`` how
    often a prediction differs from it; on rows where the most frequent one is wrong, differing helps, so the two need
    not add up to the error.

    Parameters
    ----------
    estimator : regressor or classifier
        It is cloned for every resample.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The rows and their targets.
    n_repeats : int, default=100
        Number of resamples, at least 10.
    random_state : int, Generator, RandomState or None, default=0
        Seed.
    progress : bool, default=False
        Whether to show a progress bar.
    """
    check_whole(10, n_repeats=n_repeats)
    check_consistent_length(X, y)
    target, random = np.asarray(y), generator(random_state)
    n = len(target)
    predicted: list[list[Any]] = [[] for _ in range(n)]
    for _ in tracked(range(n_repeats), "fits", show=progress):
        rows = random.integers(n, size=n)
        left_out = np.setdiff1d(np.arange(n), rows)
        if len(left_out) == 0 or (is_classifier(estimator) and len(np.unique(target[rows])) < 2):
            continue
        model = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows))
        for row, value in zip(left_out, model.predict(_safe_indexing(X, left_out)), strict=True):
            predicted[row].append(value)
    seen = [row for row in range(n) if len(predicted[row]) >= 2]
    if not seen:
        raise ValueError(f"n_repeats must leave every row out more than once, got {n_repeats}. Raise it.")
    split = _mistake_split if is_classifier(estimator) else _resampled_squared_split
    return split([np.array(predicted[row]) for row in seen], target[seen], n_repeats)


def _squared_split(predictions: Array, right: Array, noise: float) -> BiasVariance:
    repeats = len(predictions)
    mean = predictions.mean(axis=0)
    spread = predictions.var(axis=0, ddof=1)
    # the mean of finitely many fits varies by spread / repeats itself: that part is no bias
    bias = np.square(mean - right) - spread / repeats
    per_fit = np.mean(np.square(predictions - right), axis=1)
    error = float(per_fit.mean()) + noise
    split = float(bias.mean()) + float(spread.mean()) + noise
    return BiasVariance(
        noise=noise,
        bias=float(bias.mean()),
        variance=float(spread.mean()),
        error=error,
        standard_error=float(per_fit.std(ddof=1) / np.sqrt(repeats)),
        n_repeats=repeats,
        loss="squared",
        certificate=_adds_up(error, split),
        per_row={"bias": bias, "variance": spread},
        predictions=predictions,
    )


def _resampled_squared_split(predicted: list[Array], target: Array, repeats: int) -> BiasVariance:
    mean = np.array([values.mean() for values in predicted])
    spread = np.array([values.var(ddof=1) for values in predicted])
    counts = np.array([len(values) for values in predicted])
    bias = np.square(mean - target) - spread / counts
    errors = np.array([np.mean(np.square(values - y)) for values, y in zip(predicted, target, strict=True)])
    split = float(bias.mean()) + float(spread.mean())
    return BiasVariance(
        noise=float("nan"),
        bias=float(bias.mean()),
        variance=float(spread.mean()),
        error=float(errors.mean()),
        standard_error=float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else float("nan"),
        n_repeats=repeats,
        loss="squared",
        certificate=_adds_up(float(errors.mean()), split),
        per_row={"bias": bias, "variance": spread},
    )


def _mistake_split(predicted: list[Array], target: Array, repeats: int) -> BiasVariance:
    main = np.array([_most_frequent(values) for values in predicted])
    bias = (main != target).astype(float)
    variance = np.array([np.mean(values != favorite) for values, favorite in zip(predicted, main, strict=True)])
    errors = np.array([np.mean(values != y) for values, y in zip(predicted, target, strict=True)])
    # where the favorite is right every deviation is a mistake; where it is wrong some deviations are right
    harmful = np.where(bias == 0, variance, 0.0)
    helpful = np.where(bias == 1, 1.0 - errors, 0.0)
    split = float(np.mean(bias + harmful - helpful))
    return BiasVariance(
        noise=float("nan"),
        bias=float(bias.mean()),
        variance=float(variance.mean()),
        error=float(errors.mean()),
        standard_error=float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else float("nan"),
        n_repeats=repeats,
        loss="zero-one",
        certificate=_adds_up(float(errors.mean()), split),
        per_row={"bias": bias, "variance": variance},
    )


def _most_frequent(values: Array) -> Any:
    """Return the most frequent value; of tied ones, the first in order."""
    labels, counts = np.unique(values, return_counts=True)
    return labels[np.argmax(counts)]


def _adds_up(error: float, split: float) -> Certificate:
    claim = Claim(
        "split",
        "error less the sum of its parts, 0 up to rounding",
        abs(error - split),
        ROUNDING * max(1.0, abs(error)),
    )
    return Certificate("exact", (claim,))
