"""Error against sample size and against capacity, with a verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import cross_val_score, learning_curve, validation_curve

from pellucid.core.types import Array, Data

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SAME = 0.1
"""Errors that differ by less than this part count as the same."""


@dataclass(frozen=True, repr=False)
class ErrorCurve:
    """Training and validation error along an axis, and the error of always predicting the mean or the majority."""

    name: str
    values: tuple[Any, ...]
    train: Array
    validation: Array
    standard_error: Array
    baseline: float
    verdict: str

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
        from pellucid.drawing.error_curve_plot import plot_error_curve

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
    random_state: Any = 0,
    scoring: str | None = None,
) -> ErrorCurve:
    """Return training and validation error for growing training sets, and whether more rows would help.

    Parameters
    ----------
    estimator : regressor or classifier
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
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
    train, validation, spread = _errors(train, validation, scoring)
    baseline = _baseline(estimator, X, y, cv, scoring)
    verdict = _size_verdict(train, validation, spread, baseline)
    return ErrorCurve("rows", tuple(int(c) for c in counts), train, validation, spread, baseline, verdict)


def error_against_capacity(
    estimator: Any, X: Data, y: Data, parameter: str, values: Sequence[Any], *, cv: Any = 5
) -> ErrorCurve:
    """Return training and validation error for settings of growing capacity, and where over- and underfitting begin.

    Parameters
    ----------
    estimator : regressor or classifier
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
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
    baseline = _baseline(estimator, X, y, cv, scoring)
    verdict = _capacity_verdict(parameter, values, train, validation, spread)
    return ErrorCurve(parameter, tuple(values), train, validation, spread, baseline, verdict)


def _scoring(estimator: Any) -> str:
    return "accuracy" if is_classifier(estimator) else "neg_mean_squared_error"


def _errors(train: Array, validation: Array, scoring: str) -> tuple[Array, Array, Array]:
    """Return mean errors and the standard error of the validation error over folds."""
    shift = 1.0 if scoring == "accuracy" else 0.0
    spread = validation.std(axis=1, ddof=1) / np.sqrt(validation.shape[1])
    return shift - train.mean(axis=1), shift - validation.mean(axis=1), spread


def _baseline(estimator: Any, X: Data, y: Data, cv: Any, scoring: str) -> float:
    dummy = DummyClassifier() if is_classifier(estimator) else DummyRegressor()
    scores = cross_val_score(dummy, X, y, cv=cv, scoring=scoring)
    return float((1.0 if scoring == "accuracy" else 0.0) - scores.mean())


def _size_verdict(train: Array, validation: Array, spread: Array, baseline: float) -> str:
    gap, noise = validation[-1] - train[-1], 2 * spread[-1]
    if validation[-1] >= (1 - SAME) * baseline:
        return (
            f"no better than the baseline ({validation[-1]:.3g} against {baseline:.3g}): the model learns nothing here"
        )
    fall = validation[-2] - validation[-1] if len(validation) > 1 else 0.0
    still_falling = validation[-1] > 0 and fall > max(noise / 2, SAME * validation[-1])
    more = "; more rows would help" if still_falling else "; more rows would change little"
    if gap > max(noise, SAME * validation[-1]):
        return f"overfits: validation error {validation[-1]:.3g} well above training error {train[-1]:.3g}{more}"
    return f"no overfitting: training error {train[-1]:.3g}, validation error {validation[-1]:.3g}{more}"


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
