"""Error against sample size and against capacity, with a verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import cross_val_score, learning_curve, validation_curve

from pellucid.core.types import Array, Data, RandomState

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SAME = 0.1
"""Errors that differ by less than this part count as the same."""
LITTLE = 0.01
"""Part of the error by which it must fall, when the rows double, to be worth more rows."""
MUCH_LEFT = 0.3
"""Part of the baseline's error that, left on the very rows learned from, is called underfitting."""
CLEARLY = 2.0
"""Standard errors that a difference must have to be believed."""
ROUNDING = 1e-9
LAST_SIZES = 3
"""Sizes at the end of the curve that tell how it goes on."""


@dataclass(frozen=True, repr=False)
class ErrorCurve:
    """Training and validation error along an axis, and the error of always predicting the mean or the majority."""

    name: str
    """What varies along the axis: ``rows``, or the name of a setting."""
    values: tuple[Any, ...]
    """The places on the axis, from left to right: numbers of training rows, or settings."""
    train: Array
    """Mean error on the rows learned from, at each value."""
    validation: Array
    """Mean error on the rows left out, at each value."""
    standard_error: Array
    """Standard error of the validation error over the folds, at each value."""
    baseline: float
    """Error of always predicting the mean, or the most frequent class."""
    verdict: str
    """What the curve says, in words."""

    @property
    def best(self) -> Any:
        """The value with the smallest validation error."""
        return self.values[int(np.argmin(self.validation))]

    @property
    def simplest_within_one_standard_error(self) -> Any:
        """The first value, from the left, whose validation error is within one standard error of the best."""
        best = int(np.argmin(self.validation))
        limit = self.validation[best] + self.standard_error[best]
        return self.values[int(np.argmax(self.validation <= limit))]

    def frame(self) -> pd.DataFrame:
        """Return the curve as a pandas data frame."""
        import pandas as pd

        columns = {"train": self.train, "validation": self.validation, "standard_error": self.standard_error}
        return pd.DataFrame({self.name: list(self.values), **columns})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve; see :func:`pellucid.plots.plot_error_curve`."""
        from pellucid.plots.drawing.trace_plot import plot_error_curve

        return plot_error_curve(self, ax)

    def __repr__(self) -> str:
        return f"ErrorCurve over {self.name}, {len(self.values)} values: {self.verdict}"


def error_against_size(
    estimator: Any,
    X: Data,
    y: Data,
    *,
    sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = 5,
    random_state: RandomState = 0,
    scoring: str | None = None,
) -> ErrorCurve:
    """Return training and validation error for growing training sets, and whether more rows would help.

    Parameters
    ----------
    estimator : regressor or classifier
        It is cloned for every fit.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The rows and their targets.
    sizes : sequence of floats or ints, default=(0.1, 0.25, 0.5, 0.75, 1.0)
        Shares of the training rows, or numbers of them.
    cv : int or splitter, default=5
        Folds.
    random_state : int or None, default=0
        Seed of the shuffle before rows are left out.
    scoring : str, default=None
        Scikit-learn's name of a score whose negative is the error, such as ``"neg_root_mean_squared_error"``; accuracy
        or the mean squared error if not given.
    """
    scoring = scoring or _scoring(estimator)
    counts, train, validation = learning_curve(
        estimator, X, y, train_sizes=sizes, cv=cv, scoring=scoring, shuffle=True, random_state=random_state
    )
    shift = 1.0 if scoring == "accuracy" else 0.0
    return size_curve(counts, shift - train, shift - validation, _baseline(estimator, X, y, cv, scoring))


def size_curve(counts: Sequence[int] | Array, train: Array, validation: Array, baseline: Array) -> ErrorCurve:
    """Return the curve of errors for growing training sets, of shape (n_sizes, n_splits), and of the baseline's.

    Examples
    --------
    >>> errors = np.array([[0.3, 0.5], [0.2, 0.4]])
    >>> size_curve([100, 200], errors, errors, np.array([0.5, 0.6])).validation
    array([0.4, 0.3])
    """
    spread = standard_error_of_rows(validation)
    verdict = _size_verdict(np.asarray(counts, dtype=float), train, validation, baseline)
    rows = tuple(int(count) for count in counts)
    means = train.mean(axis=1), validation.mean(axis=1)
    return ErrorCurve("rows", rows, *means, spread, float(baseline.mean()), verdict)


def standard_error_of_rows(errors: Array) -> Array:
    """Return the standard error over splits of each row's mean; 0 if there is one split."""
    n_splits = errors.shape[1]
    return errors.std(axis=1, ddof=1) / np.sqrt(n_splits) if n_splits > 1 else np.zeros(len(errors))


def error_against_capacity(
    estimator: Any, X: Data, y: Data, parameter: str, values: Sequence[Any], *, cv: Any = 5
) -> ErrorCurve:
    """Return training and validation error for settings of growing capacity, and where over- and underfitting begin.

    Parameters
    ----------
    estimator : regressor or classifier
        It is cloned for every fit.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The rows and their targets.
    parameter : str
        Name of the setting, such as ``"max_depth"``.
    values : sequence
        Its values, from the simplest model to the most flexible.
    cv : int or splitter, default=5
        Folds.
    """
    if len(values) < 2:
        raise ValueError(f"values must have at least two settings, got {len(values)}.")
    scoring = _scoring(estimator)
    train, validation = validation_curve(
        estimator, X, y, param_name=parameter, param_range=list(values), cv=cv, scoring=scoring
    )
    train, validation, spread = _errors(train, validation, scoring)
    baseline = float(_baseline(estimator, X, y, cv, scoring).mean())
    verdict = _capacity_verdict(parameter, values, train, validation, spread)
    return ErrorCurve(parameter, tuple(values), train, validation, spread, baseline, verdict)


def _scoring(estimator: Any) -> str:
    return "accuracy" if is_classifier(estimator) else "neg_mean_squared_error"


def _errors(train: Array, validation: Array, scoring: str) -> tuple[Array, Array, Array]:
    """Return mean errors and the standard error of the validation error over folds."""
    shift = 1.0 if scoring == "accuracy" else 0.0
    spread = validation.std(axis=1, ddof=1) / np.sqrt(validation.shape[1])
    return shift - train.mean(axis=1), shift - validation.mean(axis=1), spread


def _baseline(estimator: Any, X: Data, y: Data, cv: Any, scoring: str) -> Array:
    dummy = DummyClassifier() if is_classifier(estimator) else DummyRegressor()
    scores = cross_val_score(dummy, X, y, cv=cv, scoring=scoring)
    return (1.0 if scoring == "accuracy" else 0.0) - np.asarray(scores)


def _size_verdict(counts: Array, train: Array, validation: Array, baseline: Array) -> str:
    """Return whether it learns at all, over- or underfits, and what more rows would do, each with its uncertainty."""
    learned, new, usual = float(train[-1].mean()), float(validation[-1].mean()), float(baseline.mean())
    gain = (baseline - validation[-1])[None]
    if new > 0 and gain.mean() <= CLEARLY * float(standard_error_of_rows(gain)[0]):
        return f"no better than the baseline ({new:.3g} against {usual:.3g}): the model learns nothing here"
    noise = CLEARLY * float(standard_error_of_rows(validation)[-1])
    more = _more_rows(counts, validation)
    if new - learned > max(noise, SAME * new):
        return f"overfits: validation error {new:.3g} well above training error {learned:.3g}; {more}"
    if learned > MUCH_LEFT * usual:
        return (
            f"underfits, or the columns say no more: it misses the rows it learned from ({learned:.3g}) about as much "
            f"as new ones ({new:.3g}), and that is still {100 * new / usual:.0f} % of the baseline's error; {more}"
        )
    return f"neither over- nor underfits clearly: training error {learned:.3g}, validation error {new:.3g}; {more}"


def _more_rows(counts: Array, validation: Array) -> str:
    """Return what the slope of the last part of the curve, over the logarithm of the rows, says about more rows."""
    last = slice(-min(LAST_SIZES, len(counts)), None)
    new = float(validation[-1].mean())
    if len(counts) < 2 or new == 0.0:
        return "more rows would change little" if new == 0.0 else "one size says nothing about more rows"
    doublings = np.log2(counts[last]) - np.log2(counts[last]).mean()
    falls = -(doublings @ validation[last]) / (doublings @ doublings)  # of each split
    fall, error = float(falls.mean()), float(standard_error_of_rows(falls[None])[0])
    told = f"{fall:.2g} (± {error if error > ROUNDING * new else 0.0:.1g})"
    if fall > max(CLEARLY * error, LITTLE * new):
        return f"each doubling of the rows lowered the error by about {told}, so more rows would help"
    if fall + CLEARLY * error <= SAME * new:
        return f"more rows would change little (each doubling lowered the error by {told})"
    return f"whether more rows would help cannot be seen (each doubling lowered the error by {told})"


def _capacity_verdict(parameter: str, values: Sequence[Any], train: Array, validation: Array, spread: Array) -> str:
    best = int(np.argmin(validation))
    limit = validation[best] + max(float(spread[best]), SAME * float(validation[best]))
    words = [f"best at {parameter} = {values[best]} with validation error {validation[best]:.3g}"]
    under = [k for k in range(best) if validation[k] > limit]
    over = [k for k in range(best + 1, len(validation)) if validation[k] > limit and validation[k] > train[k]]
    if under:
        words.append(f"underfits up to {values[under[-1]]}")
    if over:
        words.append(f"overfits from {values[over[0]]} on")
    if not under and not over:
        words.append("the setting matters little")
    if best in (0, len(values) - 1):
        words.append(f"the best value is at the {'lower' if best == 0 else 'upper'} end: try beyond it")
    return "; ".join(words)
