"""Boosted trees: class probabilities, or numbers, from sums of many small trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from pellucid.core.linear_classifier import class_weights
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.ensemble.hist_gradient_boosting.boosted_trees import BoostedTrees
from pellucid.ensemble.hist_gradient_boosting.boosting_losses import BoostingLoss, class_loss, regression_loss
from pellucid.proofs.training_data import TrainingData


class HistGradientBoostingClassifier(ClassifierMixin, BoostedTrees):
    r"""Trees that each correct what the trees before them predict, for classes.

    Two classes have one score, more classes have one each; their logistic transforms are the probabilities. A round
    grows a tree per score on the first and second derivatives :math:`g_i, h_i` of the logistic loss; a leaf with the
    rows :math:`I` adds

    .. math:: -\eta\,\frac{\sum_{i \in I} g_i}{\sum_{i \in I} h_i + \lambda}

    to their scores. Splits are searched among bins; the leaf whose split gains most is split next. Missing values go
    where they gain most; a set of categories may go left. Of equal gains the first feature and the lowest threshold are
    taken.

    Parameters
    ----------
    loss : {'log_loss'}, default='log_loss'
        What is minimized.
    learning_rate : float, default=0.1
        Factor of every tree's values, above 0.
    max_iter : int, default=100
        Most rounds; each adds a tree, one per class if these are more than two.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_leaf : int, default=20
        Fewest rows of a leaf.
    l2_regularization : float, default=0
        :math:`\lambda`, added to the curvature of a leaf.
    max_features : float, default=1.0
        Share of the features, drawn anew, that a split may use.
    max_bins : int, default=255
        Most bins of a feature, missing values apart.
    categorical_features : array-like of bool, int or str, 'from_dtype' or None, default='from_dtype'
        Columns of categories: a mask, places or names; 'from_dtype' takes those that a data frame calls categorical.
    monotonic_cst : array-like of int, dict or None, default=None
        Per feature 1 if predictions may only rise with it, -1 if they may only fall, 0 if they are free.
    interaction_cst : sequence of sets of int, 'pairwise', 'no_interactions' or None, default=None
        Features that may be on one path from root to leaf.
    warm_start : bool, default=False
        Whether a new fit adds rounds to those of the last one.
    early_stopping : 'auto' or bool, default='auto'
        Whether to stop when scores no longer rise; 'auto' does with more than 10,000 rows.
    scoring : str, callable or None, default='loss'
        What early stopping looks at; None is the estimator's own score.
    validation_fraction : float, int or None, default=0.1
        Share, or number, of rows held out for early stopping; None looks at the training rows.
    n_iter_no_change : int, default=10
        Rounds without a better score after which to stop.
    tol : float, default=1e-7
        By how much a better score must be better.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Where held-out rows, sampled rows and features of splits are drawn from.
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class, by which those of its rows are multiplied; 'balanced' gives all classes the same sum.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    trees_ : PackedTrees
        All trees, one after another, those of a round in the order of the classes; values of leaves are shrunken.
    baseline_ : ndarray of shape (n_trees_per_iteration,)
        The raw prediction before the first round.
    bin_thresholds_ : list of ndarray
        The edges between the bins of each feature.
    categories_ : list of ndarray or None, or None
        The categories of each categorical feature, in the order of their codes.
    is_categorical_ : ndarray of shape (n_features,) or None
        Which features are categorical.
    n_iter_, n_trees_per_iteration_ : int
        Rounds, and trees in each.
    train_score_, validation_score_ : ndarray of shape (n_iter + 1,)
        Scores before the first and after each round; empty without early stopping, the latter without held-out rows.
    do_early_stopping_ : bool
        Whether scores could stop the fit.
    held_out_ : {'none', 'split', 'given'}
        Where the rows of ``validation_score_`` come from.
    random_seeds_ : ndarray of shape (2,)
        What ``random_state`` gave.
    certificate_ : Certificate
        Leaves hold the values that the rule asks for, splits gain as much as any on the stated bins.
    trace_ : Trace
        Loss of the training rows and number of leaves, round by round.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = HistGradientBoostingClassifier(max_iter=1, learning_rate=1.0, min_samples_leaf=1)
    >>> model.fit(X, ["a", "a", "b", "b"]).decision_function([[0.5], [2.5]])
    array([-2.,  2.])
    """

    classes_: Array

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight

    def _target(self, data: TrainingData) -> Array:
        self.classes_ = data.classes
        return np.asarray(data.y, dtype=np.float64)

    def _weights(self, data: TrainingData) -> Array | None:
        if self.class_weight is None:
            return data.weight
        by_class = class_weights(self.class_weight, data)[data.y]
        return np.asarray(by_class if data.weight is None else by_class * data.weight)

    @property
    def _boosting_loss(self) -> BoostingLoss:
        return class_loss(len(self.classes_))

    def _labels(self, y: Array) -> Array:
        return self.classes_[y.astype(np.intp)]

    def _attributes(self, *known: Any) -> dict[str, Any]:
        return {"classes_": self.classes_, **super()._attributes(*known)}

    def predict(self, X: Data) -> Array:
        """Return the most probable class of each row, the first of equal ones."""
        return self._decided(self._raw(X))

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes)."""
        raw = self._raw(X)
        return self._boosting_loss.predicted(raw)

    def decision_function(self, X: Data) -> Array:
        """Return the score of the second class, of shape (n_samples,), or of each class if there are more."""
        return _scores(self._raw(X))

    def staged_predict(self, X: Data) -> Iterator[Array]:
        """Yield the predicted classes after each round."""
        return (self._decided(raw) for raw in self._staged_raw(X))

    def staged_predict_proba(self, X: Data) -> Iterator[Array]:
        """Yield the probabilities after each round."""
        return (self._boosting_loss.predicted(raw) for raw in self._staged_raw(X))

    def staged_decision_function(self, X: Data) -> Iterator[Array]:
        """Yield the scores after each round."""
        return (_scores(raw) for raw in self._staged_raw(X))

    def _decided(self, raw: Array) -> Array:
        codes = (raw[0] > 0.0).astype(np.intp) if len(raw) == 1 else raw.argmax(axis=0)
        return self.classes_[codes]


def _scores(raw: Array) -> Array:
    return raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)


class HistGradientBoostingRegressor(RegressorMixin, BoostedTrees):
    r"""Trees that each correct what the trees before them predict, for a number.

    A round grows a tree on the first and second derivatives :math:`g_i, h_i` of the loss at the predictions so far; a
    leaf with the rows :math:`I` adds

    .. math:: -\eta\,\frac{\sum_{i \in I} g_i}{\sum_{i \in I} h_i + \lambda}

    to their raw predictions, or, for absolute error and quantiles, :math:`\eta` times the quantile of their residuals.
    Splits are searched among bins; the leaf whose split gains most is split next. Missing values go where they gain
    most; a set of categories may go left. Of equal gains the first feature and the lowest threshold are taken.

    Parameters
    ----------
    loss : {'squared_error', 'absolute_error', 'gamma', 'poisson', 'quantile'}, default='squared_error'
        What is minimized; 'gamma' and 'poisson' predict the exponential of the sum.
    quantile : float or None, default=None
        The quantile that ``loss='quantile'`` predicts, between 0 and 1.
    learning_rate : float, default=0.1
        Factor of every tree's values, above 0.
    max_iter : int, default=100
        Most rounds; each adds a tree.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_leaf : int, default=20
        Fewest rows of a leaf.
    l2_regularization : float, default=0
        :math:`\lambda`, added to the curvature of a leaf.
    max_features : float, default=1.0
        Share of the features, drawn anew, that a split may use.
    max_bins : int, default=255
        Most bins of a feature, missing values apart.
    categorical_features : array-like of bool, int or str, 'from_dtype' or None, default='from_dtype'
        Columns of categories: a mask, places or names; 'from_dtype' takes those that a data frame calls categorical.
    monotonic_cst : array-like of int, dict or None, default=None
        Per feature 1 if predictions may only rise with it, -1 if they may only fall, 0 if they are free.
    interaction_cst : sequence of sets of int, 'pairwise', 'no_interactions' or None, default=None
        Features that may be on one path from root to leaf.
    warm_start : bool, default=False
        Whether a new fit adds rounds to those of the last one.
    early_stopping : 'auto' or bool, default='auto'
        Whether to stop when scores no longer rise; 'auto' does with more than 10,000 rows.
    scoring : str, callable or None, default='loss'
        What early stopping looks at; None is the estimator's own score.
    validation_fraction : float, int or None, default=0.1
        Share, or number, of rows held out for early stopping; None looks at the training rows.
    n_iter_no_change : int, default=10
        Rounds without a better score after which to stop.
    tol : float, default=1e-7
        By how much a better score must be better.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Where held-out rows, sampled rows and features of splits are drawn from.

    Attributes
    ----------
    trees_ : PackedTrees
        All trees, one after another; values of leaves are shrunken.
    baseline_ : ndarray of shape (n_trees_per_iteration,)
        The raw prediction before the first round.
    bin_thresholds_ : list of ndarray
        The edges between the bins of each feature.
    categories_ : list of ndarray or None, or None
        The categories of each categorical feature, in the order of their codes.
    is_categorical_ : ndarray of shape (n_features,) or None
        Which features are categorical.
    n_iter_, n_trees_per_iteration_ : int
        Rounds, and trees in each.
    train_score_, validation_score_ : ndarray of shape (n_iter + 1,)
        Scores before the first and after each round; empty without early stopping, the latter without held-out rows.
    do_early_stopping_ : bool
        Whether scores could stop the fit.
    held_out_ : {'none', 'split', 'given'}
        Where the rows of ``validation_score_`` come from.
    random_seeds_ : ndarray of shape (2,)
        What ``random_state`` gave.
    certificate_ : Certificate
        Leaves hold the values that the rule asks for, splits gain as much as any on the stated bins.
    trace_ : Trace
        Loss of the training rows and number of leaves, round by round.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0, min_samples_leaf=1, max_leaf_nodes=2)
    >>> model.fit(X, [0.0, 0.0, 6.0, 8.0]).predict([[0.5], [2.5]]).round(9)
    array([0., 7.])
    """

    quantile: float | None

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _target(self, data: TrainingData) -> Array:
        y = np.asarray(data.y, dtype=np.float64)
        if complaint := self._boosting_loss.complaint(y):
            raise ValueError(complaint)
        return y

    @property
    def _boosting_loss(self) -> BoostingLoss:
        return regression_loss(self.loss, self.quantile)

    def predict(self, X: Data) -> Array:
        """Return the predicted number of each row."""
        raw = self._raw(X)
        return self._boosting_loss.predicted(raw)

    def staged_predict(self, X: Data) -> Iterator[Array]:
        """Yield the predictions after each round."""
        return (self._boosting_loss.predicted(raw) for raw in self._staged_raw(X))
