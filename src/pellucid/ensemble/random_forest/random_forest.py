"""Random forests: many trees, each grown on a sample of the rows and looking at samples of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.ensemble.bootstrap_samples import OutOfBag
from pellucid.ensemble.random_forest.random_forest_base import RandomForest, spread_answers
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.decision_tree.decision_tree import partial_answers
from pellucid.tree.decision_tree.tree_data import TreeData
from pellucid.tree.tree_reading import join_peer, log_shares


class RandomForestClassifier(ClassifierMixin, RandomForest):
    r"""The mean of many trees' class shares, :math:`\hat p(x) = \tfrac 1T \sum_t p_t(x)`.

    Each tree is grown on rows drawn with replacement, and every node looks at some columns only, drawn anew. Both
    follow from the seed of the tree.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {'gini', 'entropy', 'log_loss', 'gain_ratio', 'error'}, default='gini'
        The impurity; 'log_loss' is another name of 'entropy'. With 'gain_ratio' a split is the one with the largest
        fall of the entropy divided by the entropy of the split itself.
    max_depth : int or None, default=None
        Most splits on a way.
    min_samples_split : int or float, default=2
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_samples_leaf : int or float, default=1
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_weight_fraction_leaf : float, default=0.0
        The part of all weight that each side of a split must have.
    max_features : int, float, {'sqrt', 'log2'} or None, default='sqrt'
        Columns that a node looks at.
    max_leaf_nodes : int or None, default=None
        Most leaves; the node whose split lowers the impurity most is split next.
    min_impurity_decrease : float, default=0.0
        What a split must lower the impurity by, in parts of the weight of all rows.
    bootstrap : bool, default=True
        Whether each tree has its own sample of the rows; if not, all rows.
    oob_score : bool or callable, default=False
        Whether to judge every row by the trees that have not seen it; a function ``score(y, answers)`` of codes.
    n_jobs : int or None, default=None
        Nothing changes: all threads that BLAS may use are used.
    random_state : int, RandomState instance or None, default=None
        Where the seeds of the trees come from.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    warm_start : bool, default=False
        Whether the next fit keeps the trees and adds to them.
    class_weight : dict, list of dicts, 'balanced', 'balanced_subsample' or None, default=None
        Weights of classes, by which rows are drawn; 'balanced_subsample' balances each sample instead.
    ccp_alpha : float, default=0.0
        Price of a leaf: the tree is pruned to the best one for it.
    max_samples : int, float or None, default=None
        Rows drawn for a tree, as a number or a part of all; None for as many as there are.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        1 for columns with which the probability of the second class must not fall, -1 must not rise, 0 for others.
    categorical_features : None, 'from_dtype', or array-like of column numbers, names or bool, default=None
        Columns of categories: a split sends some of them left. Of two classes it is the best of all subsets;
        otherwise the best first part of the categories in the order of their share of one class, for each class.

    Attributes
    ----------
    classes_, n_classes_ : ndarray and int, or a list and an ndarray for several outputs
        The labels, sorted, and how many there are.
    n_outputs_ : int
        Columns of ``y``.
    categories_ : list
        The values of each column of categories, None for one of numbers; empty without any.
    trees_ : PackedTrees
        All trees in one pack; ``estimators_`` makes estimators of them.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each tree.
    sample_order_, draw_weight_ : ndarray or None
        The order of the rows in which points are drawn, which depends on their values alone, and the room that each
        of them has there; None for equal weights, or without samples.
    oob_score_, oob_decision_function_ : float, ndarray
        Out-of-bag accuracy and shares; ``oob_interval`` gives an interval.
    oob_rows_, oob_deviation_ : float
        Rows that were judged, and the deviation of one row's part in the score.
    certificate_, trace_
        That splits are the best under the stated rule; nodes and rows level by level.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> RandomForestClassifier(10, random_state=0).fit(X, y).predict([[0.0], [3.0]])
    array([0, 1])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    def predict(self, X: Data) -> Array:
        """Return the class with the largest mean share; of equal ones the first."""
        best = self._mean_values(X).argmax(axis=2)
        if self.n_outputs_ == 1:
            return self.classes_[best[:, 0]]
        return np.column_stack([classes[best[:, k]] for k, classes in enumerate(self.classes_)])

    def predict_proba(self, X: Data) -> Array | list[Array]:
        """Return the mean shares of the classes, in a list for several outputs."""
        shares = self._mean_values(X)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, k, : len(classes)] for k, classes in enumerate(self.classes_)]

    def predict_log_proba(self, X: Data) -> Array | list[Array]:
        """Return the logarithms of the mean shares."""
        return log_shares(self.predict_proba(X))

    def _named(self, found: OutOfBag, data: TreeData) -> dict[str, Any]:
        shares = found.answers[:, 0] if self._is_single(data) else found.answers.transpose(0, 2, 1)
        return {**super()._named(found, data), "oob_decision_function_": spread_answers(shares, data)}

    @staticmethod
    def _is_single(data: TreeData) -> bool:
        return data.target.n_outputs == 1

    def _plain_tree(self) -> Any:
        return DecisionTreeClassifier(**self._tree_parameters())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class RandomForestRegressor(RegressorMixin, RandomForest):
    r"""The mean of many trees' answers, :math:`\hat y(x) = \tfrac 1T \sum_t y_t(x)`.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {'squared_error', 'absolute_error', 'poisson', 'friedman_mse'}, default='squared_error'
        The impurity; 'friedman_mse' is another name of 'squared_error'.
    max_depth : int or None, default=None
        Most splits on a way.
    min_samples_split : int or float, default=2
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_samples_leaf : int or float, default=1
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_weight_fraction_leaf : float, default=0.0
        The part of all weight that each side of a split must have.
    max_features : int, float, {'sqrt', 'log2'} or None, default=1.0
        Columns that a node looks at: all of them, if nothing else is said.
    max_leaf_nodes : int or None, default=None
        Most leaves; the node whose split lowers the impurity most is split next.
    min_impurity_decrease : float, default=0.0
        What a split must lower the impurity by, in parts of the weight of all rows.
    bootstrap : bool, default=True
        Whether each tree has its own sample of the rows; if not, all rows.
    oob_score : bool or callable, default=False
        Whether to judge every row by the trees that have not seen it; a function ``score(y, answers)`` of codes.
    n_jobs : int or None, default=None
        Nothing changes: all threads that BLAS may use are used.
    random_state : int, RandomState instance or None, default=None
        Where the seeds of the trees come from.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    warm_start : bool, default=False
        Whether the next fit keeps the trees and adds to them.
    ccp_alpha : float, default=0.0
        Price of a leaf: the tree is pruned to the best one for it.
    max_samples : int, float or None, default=None
        Rows drawn for a tree, as a number or a part of all; None for as many as there are.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        1 for columns with which the predicted number must not fall, -1 must not rise, 0 for others.
    categorical_features : None, 'from_dtype', or array-like of column numbers, names or bool, default=None
        Columns of categories: a split sends some of them left, by the best of all subsets; for absolute error by the
        best first part of them in the order of their mean.

    Attributes
    ----------
    trees_ : PackedTrees
        All trees in one pack; ``estimators_`` makes estimators of them.
    seeds_ : ndarray of shape (n_estimators,)
        The seed of each tree.
    n_outputs_ : int
        Columns of ``y``.
    categories_ : list
        The values of each column of categories, None for one of numbers; empty without any.
    sample_order_, draw_weight_ : ndarray or None
        The order of the rows in which points are drawn, which depends on their values alone, and the room that each
        of them has there; None for equal weights, or without samples.
    oob_rows_, oob_deviation_ : float
        Rows that were judged, and the deviation of one row's part in the score.
    oob_score_, oob_prediction_ : float, ndarray
        Out-of-bag R squared and answers.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 2.0, 2.0]
    >>> RandomForestRegressor(50, random_state=0).fit(X, y).predict([[0.0], [3.0]]).round()
    array([0., 2.])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    def predict(self, X: Data) -> Array:
        """Return the mean answer, of shape (n_samples,) or (n_samples, n_outputs)."""
        values = self._mean_values(X)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _named(self, found: OutOfBag, data: TreeData) -> dict[str, Any]:
        numbers = found.answers[:, :, 0]
        numbers = numbers[:, 0] if numbers.shape[1] == 1 else numbers
        return {**super()._named(found, data), "oob_prediction_": spread_answers(numbers, data)}

    def _plain_tree(self) -> Any:
        return DecisionTreeRegressor(**self._tree_parameters())

    def _compute_partial_dependence_recursion(self, grid: Array, target_features: Array) -> Array:
        """Return the mean answer over the training rows with some columns set, for scikit-learn's inspection."""
        return partial_answers(self, grid, target_features) / self.trees_.n_trees

    def __sklearn_tags__(self) -> Any:
        join_peer(RandomForestRegressor, "sklearn.ensemble._forest", "RandomForestRegressor")
        return super().__sklearn_tags__()
