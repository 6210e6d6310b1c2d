"""Blends: several methods fitted to the same rows, and the weighted mean of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data
from pellucid.ensemble.hist_gradient_boosting.hist_gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor

USUAL_ROUNDS, USUAL_DEPTH = 20, 4


class Blend(CertifiedEstimator):
    """What the classifier and the regressor share: members, and their weighted mean."""

    estimators_: list[Any]
    weights_: Array
    classes_: Array
    n_features_in_: int

    def __init__(self, estimators: Sequence[Any] | None = None, weights: Sequence[float] | None = None) -> None:
        self.estimators = estimators
        self.weights = weights

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit every member to ``X`` of shape (n_samples, n_features) and ``y``."""
        data = self._check(X, y, sample_weight)
        rows, target, weight = data.given
        members = [_fitted(member, rows, target, weight) for member in self._members()]
        weights = np.ones(len(members)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        attributes: dict[str, Any] = {"estimators_": members, "weights_": weights / weights.sum()}
        if len(data.classes):
            attributes["classes_"] = data.classes
        return self._adopt(Fit(attributes), data)

    def _mean_answers(self, X: Data) -> Array:
        check_is_fitted(self)
        rows = card_of(type(self)).rules_for(self).check_rows(self, X)
        answers = [self._answers(member, rows) for member in self.estimators_]
        return np.asarray(sum(share * one for share, one in zip(self.weights_, answers, strict=True)))

    def _answers(self, member: Any, rows: Array) -> Array:
        raise NotImplementedError

    def _members(self) -> list[Any]:
        return self._usual_members() if self.estimators is None else list(self.estimators)

    def _usual_members(self) -> list[Any]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_gaps()
        return tags

    def _takes_gaps(self) -> bool:
        """Return whether every member takes gaps, of a pipeline its first step."""
        first = (member.steps[0][1] if isinstance(member, Pipeline) else member for member in self._members())
        return all(get_tags(step).input_tags.allow_nan for step in first)


def _fitted(member: Any, X: Array, y: Array, weight: Array | None) -> Any:
    """Return a member fitted to the rows; of a pipeline, the last step has the weights."""
    if weight is None:
        return clone(member).fit(X, y)
    name = f"{member.steps[-1][0]}__sample_weight" if isinstance(member, Pipeline) else "sample_weight"
    return clone(member).fit(X, y, **{name: weight})


class BlendClassifier(ClassifierMixin, Blend):
    r"""The weighted mean of the probabilities that several classifiers give.

    .. math:: p_k(x) = \sum_i w_i\, p_{ik}(x), \qquad w_i \ge 0,\ \sum_i w_i = 1

    Parameters
    ----------
    estimators : list of classifiers or None, default=None
        The members, with probabilities, or pipelines that end in such; None for boosted trees and one tree.
    weights : list of float or None, default=None
        What each of them counts, at least 0, scaled to sum to 1; None for all the same.

    Attributes
    ----------
    estimators_ : list
        The members, fitted.
    weights_ : ndarray of shape (n_members,)
        The weights, summing to 1.
    classes_ : ndarray
        The labels, sorted.
    certificate_, trace_
        That the weights are those asked for; ``verify`` proves every member again. The trace is empty.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = BlendClassifier([DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=1)], [3.0, 1.0])
    >>> [str(label) for label in model.fit(X, y).predict([[0.0], [3.0]])]
    ['a', 'b']
    """

    def predict(self, X: Data) -> Array:
        """Return the class with the largest mean probability, the first of equals."""
        best = self._mean_answers(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Data) -> Array:
        """Return the weighted mean of the probabilities, of shape (n_samples, n_classes)."""
        return self._mean_answers(X)

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithms of the mean probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _answers(self, member: Any, rows: Array) -> Array:
        return np.asarray(member.predict_proba(rows), dtype=np.float64)

    def _usual_members(self) -> list[Any]:
        tree = DecisionTreeClassifier(max_depth=USUAL_DEPTH, random_state=0)
        return [HistGradientBoostingClassifier(max_iter=USUAL_ROUNDS), tree]


class BlendRegressor(RegressorMixin, Blend):
    r"""The weighted mean of what several regressors say.

    .. math:: f(x) = \sum_i w_i f_i(x), \qquad w_i \ge 0,\ \sum_i w_i = 1

    Parameters
    ----------
    estimators : list of classifiers or None, default=None
        The members, with probabilities, or pipelines that end in such; None for boosted trees and one tree.
    weights : list of float or None, default=None
        What each of them counts, at least 0, scaled to sum to 1; None for all the same.

    Attributes
    ----------
    estimators_ : list
        The members, fitted.
    weights_ : ndarray of shape (n_members,)
        The weights, summing to 1.
    certificate_
        That the weights are those asked for; ``verify`` proves every member again. The trace is empty.
    trace_
        That the weights are those asked for; ``verify`` proves every member again. The trace is empty.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 2.0, 4.0]
    >>> model = BlendRegressor([DecisionTreeRegressor(), DecisionTreeRegressor(max_depth=1)], [3.0, 1.0])
    >>> model.fit(X, y).predict([[3.0]])  # 3/4 of 4 and 1/4 of 3
    array([3.75])
    """

    def predict(self, X: Data) -> Array:
        """Return the weighted mean, of shape (n_samples,)."""
        return self._mean_answers(X)

    def _answers(self, member: Any, rows: Array) -> Array:
        return np.asarray(member.predict(rows), dtype=np.float64)

    def _usual_members(self) -> list[Any]:
        tree = DecisionTreeRegressor(max_depth=USUAL_DEPTH, random_state=0)
        return [HistGradientBoostingRegressor(max_iter=USUAL_ROUNDS), tree]
