"""Is one method better than another? The corrected resampled t-test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from pellucid.core.checks import check_level, check_whole
from pellucid.core.types import Array, Data
from pellucid.core.watching import tracked
from pellucid.model_selection.recipes import CrossValidationTest, ResamplingTest, chosen_by, one_task, validation_errors
from pellucid.model_selection.score_interval import ScoreInterval, score_interval


@dataclass(frozen=True, repr=False)
class Comparison:
    """Errors of two methods on the same splits, the interval of their mean difference, and its p-value."""

    difference: float
    """Mean error of the first less that of the second: below 0 the first is better."""
    low: float
    """Lower end of the interval of the difference."""
    high: float
    """Upper end of the interval of the difference."""
    p_value: float
    """Probability of so large a difference, on either side, if there is none."""
    level: float
    """Confidence level of the interval."""
    errors: tuple[Array, Array]
    """Errors of the first and of the second, one per split each."""

    @property
    def verdict(self) -> str:
        """Which method is better, in words."""
        if self.low <= 0 <= self.high:
            return "no difference shown"
        return "the first is better" if self.high < 0 else "the second is better"

    def __repr__(self) -> str:
        return (
            f"difference of errors {self.difference:.4g} [{self.low:.4g}, {self.high:.4g}] ({self.level:.0%}), "
            f"p = {self.p_value:.3g}: {self.verdict}"
        )


def compare_methods(
    first: Any,
    second: Any,
    X: Data,
    y: Data,
    *,
    n_splits: int = 20,
    test_size: float = 0.2,
    level: float = 0.95,
    random_state: int = 0,
) -> Comparison:
    r"""Compare two estimators on random splits of the same rows.

    Training sets of different splits overlap, so their errors are not independent and the usual t-test finds
    differences that are not there. Nadeau and Bengio's correction widens it:

    .. math:: t = \frac{\bar d}{\sqrt{\bigl(\frac1J + \frac{n_{test}}{n_{train}}\bigr)\,s_d^2}}

    Parameters
    ----------
    first, second : estimators
        Both classifiers or both regressors.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The rows and their targets.
    n_splits : int, default=20
        Number :math:`J` of splits, at least 2.
    test_size : float, default=0.2
        Share of the rows in each test part.
    level : float, default=0.95
        Level of the interval.
    random_state : int, default=0
        Seed of the splits.
    """
    check_whole(2, n_splits=n_splits)
    check_level(level)
    is_classification = one_task({"first": first, "second": second})
    recipe = ResamplingTest(n_splits=n_splits, validation_size=test_size, random_state=random_state)
    splits = list(recipe.splitter(is_classification=is_classification).split(X, y))
    one, other = (validation_errors(estimator, X, y, splits, is_classification) for estimator in (first, second))
    return corrected_t_test(one, other, share=len(splits[0][1]) / len(splits[0][0]), level=level)


def corrected_t_test(one: Data, other: Data, *, share: float, level: float = 0.95) -> Comparison:
    """Return the comparison of the errors of two methods on the same splits.

    Parameters
    ----------
    one, other : array-like of shape (n_splits,)
        Their errors, of at least two splits.
    share : float
        Number of test rows over number of training rows; 0 is the usual t-test.
    level : float, default=0.95
        Confidence level of the interval.

    Examples
    --------
    >>> corrected_t_test([0.1, 0.2, 0.15], [0.3, 0.35, 0.4], share=0.25).verdict
    'the first is better'
    """
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or len(one) < 2:
        raise ValueError(
            f"errors must be two vectors of equal length of at least 2, got {one.shape} and {other.shape}."
        )
    gap = one - other
    mean, spread = float(gap.mean()), float(gap.var(ddof=1))
    error = math.sqrt((1 / len(gap) + share) * spread)
    if error == 0.0:
        return Comparison(mean, mean, mean, 1.0 if mean == 0 else 0.0, level, (one, other))
    freedom = len(gap) - 1
    reach = float(student.ppf(0.5 + level / 2, freedom)) * error
    p_value = 2 * float(student.sf(abs(mean) / error, freedom))
    return Comparison(mean, mean - reach, mean + reach, p_value, level, (one, other))


@dataclass(frozen=True, repr=False)
class NestedScore:
    """The score of all rows, each predicted by a model that was chosen and fitted without it."""

    interval: ScoreInterval
    """Score of all predictions together, with its interval."""
    chosen: tuple[str, ...]
    """Name of the candidate chosen in each outer fold."""
    errors: Array
    """Error of each outer fold: the rate of mistakes, or the mean squared error."""
    predictions: Array
    """What is predicted for each row, in the order given, by the model of the fold it was left out of."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {self.chosen.count(name)} times" for name in dict.fromkeys(self.chosen))
        return f"{self.interval!r}; chosen: {counts}"


def nested_cross_validation(
    candidates: Mapping[str, Any],
    X: Data,
    y: Data,
    *,
    outer: int = 5,
    inner: int = 5,
    rule: str = "best",
    metric: Callable[[Array, Array], float] | None = None,
    random_state: int = 0,
    progress: bool = False,
) -> NestedScore:
    """Choose among candidates inside each outer fold, and predict that fold with the one chosen.

    Parameters
    ----------
    candidates : dict of str to estimator
        All classifiers or all regressors, the simplest first.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        The rows and their targets.
    outer, inner : int, default=5
        Numbers of folds, at least 2.
    rule : {"best", "one standard error"}, default="best"
        The second takes the first candidate within one standard error of the best.
    metric : str or callable, default=None
        Of :func:`score_interval`; an error rate or a mean squared error if not given.
    random_state : int, default=0
        Seed of the folds.
    progress : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> from pellucid.linear_model import LinearRegression, Ridge
    >>> X = np.arange(40.0)[:, None]
    >>> nested = nested_cross_validation({"line": LinearRegression(), "flat": Ridge(1e9)}, X, 2 * X[:, 0])
    >>> nested.chosen
    ('line', 'line', 'line', 'line', 'line')
    """
    check_whole(2, outer=outer, inner=inner)
    is_classification = one_task(candidates)
    folds = (StratifiedKFold if is_classification else KFold)(outer, shuffle=True, random_state=random_state)
    inside = CrossValidationTest(rule=rule, random_state=random_state, n_splits=inner).splitter(
        is_classification=is_classification
    )
    target = np.asarray(y)
    predictions = np.empty(len(target), dtype=target.dtype if is_classification else np.float64)
    chosen, errors = [], []
    for train, test in tracked(list(folds.split(X, y)), "outer folds", show=progress):
        X_train, y_train = _safe_indexing(X, train), _safe_indexing(y, train)
        splits = list(inside.split(X_train, y_train))
        found = {
            name: validation_errors(estimator, X_train, y_train, splits, is_classification)
            for name, estimator in candidates.items()
        }
        chosen.append(chosen_by(found, rule))
        model = clone(candidates[chosen[-1]]).fit(X_train, y_train)
        predictions[test] = model.predict(_safe_indexing(X, test))
        gap = predictions[test] != target[test] if is_classification else np.square(predictions[test] - target[test])
        errors.append(float(np.mean(gap)))
    name = metric or ("error rate" if is_classification else "mse")
    return NestedScore(score_interval(target, predictions, name), tuple(chosen), np.array(errors), predictions)
