"""OptimalTreeClassifier: of all trees of a depth the one with the fewest errors; and how far others are from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.budget import Budget
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.input_rules import FLOATS
from pellucid.core.types import Array, Data
from pellucid.tree.optimal_tree.optimal_tree_columns import binned_columns, category_mask, packed_splits
from pellucid.tree.optimal_tree.optimal_tree_solvers import TreeSearch
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.tree_reading import TreeSize, TreeView, leaves, log_shares


class OptimalTreeClassifier(TreeSize, ClassifierMixin, CertifiedEstimator):
    r"""The decision tree of at most some depth that makes the fewest errors on its training rows.

    .. math:: \min_{\text{depth}(T) \le d}\ \frac{1}{\sum_i w_i} \sum_i w_i [T(x_i) \ne y_i] + \alpha\,\text{leaves}(T)

    A greedy tree takes the split that looks best now; this one is the best of all trees whose splits are thresholds
    half way between neighboring values of a column, or one category against all others. Of several best trees it is
    the first that the search meets, which is the same in every run that the time does not end.

    Parameters
    ----------
    max_depth : int, default=2
        :math:`d`, from 0 to 4. With every level the search takes some hundred times as long.
    leaf_penalty : float, default=0.0
        :math:`\alpha`: the share of errors that one more leaf must save, at least 0.
    max_thresholds : int or None, default=32
        Most thresholds of a column, next to evenly spaced shares of the rows; None takes all.
    categorical_features : list of columns, default=None
        Columns, by place or name, that hold codes 0, 1, 2, ... of categories.
    time_limit : float or None, default=60.0
        Seconds after which the best tree so far is kept, with the gap to the best that there may be.

    Attributes
    ----------
    trees_ : PackedTrees
        The tree as arrays; ``tree_`` shows it as scikit-learn's tools read it.
    objective_ : float
        The objective of the tree.
    lower_bound_ : float
        No tree of this depth over these thresholds has a lower objective.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_iter_ : int
        First splits that the search looked into.
    certificate_ : Certificate
        The gap between the two: 0 if the search ended before the time.
    trace_ : Trace
        Objective and lower bound along the search.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, [0, 1, 1, 0])  # no single split helps
    >>> model.objective_, model.lower_bound_
    (0.0, 0.0)
    """

    trees_: PackedTrees
    objective_: float
    lower_bound_: float
    classes_: Array
    n_iter_: int

    def __init__(
        self,
        max_depth: int = 2,
        *,
        leaf_penalty: float = 0.0,
        max_thresholds: int | None = 32,
        categorical_features: Any = None,
        time_limit: float | None = 60.0,
    ) -> None:
        self.max_depth = max_depth
        self.leaf_penalty = leaf_penalty
        self.max_thresholds = max_thresholds
        self.categorical_features = categorical_features
        self.time_limit = time_limit

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``; a row of weight k counts as k rows."""
        budget = Budget(math.inf if self.time_limit is None else self.time_limit)
        data = self._check(X, y, sample_weight).without_absent_classes()
        names = getattr(self, "feature_names_in_", None)
        is_category = category_mask(self.categorical_features, data.X, None if names is None else names.tolist())
        weight, n_classes = data.weights, len(data.classes)
        columns = binned_columns(data.X, weight, is_category, self.max_thresholds)
        labels = data.y.astype(np.int32)

        def packed(tree: Any) -> PackedTrees:
            return packed_splits(tree, columns, labels, weight, n_classes)

        watch = self._watch(X, y, attributes=lambda tree: {"trees_": packed(tree), "classes_": data.classes})
        penalty = self.leaf_penalty * float(weight.sum())
        search = TreeSearch(columns, labels, weight, n_classes, penalty, budget, watch)
        best = search.best_tree(self.max_depth)
        found = {
            "classes_": data.classes,
            "trees_": packed(best.tree),
            "objective_": best.cost / search.total,
            "lower_bound_": best.lower / search.total,
            "n_iter_": search.n_evaluated,
        }
        return self._adopt(Fit(found, search.trace), data)

    @property
    def tree_(self) -> TreeView:
        """The tree as scikit-learn's tools read it."""
        check_is_fitted(self)
        return TreeView(self.trees_, self.n_features_in_, np.array([len(self.classes_)]))

    @property
    def gap_(self) -> float:
        """How far the objective is from the best there may be, at most."""
        check_is_fitted(self)
        return self.objective_ - self.lower_bound_

    def predict(self, X: Data) -> Array:
        """Return the largest class of the leaf of each row; of tied ones the first in ``classes_``."""
        shares = self.predict_proba(X)
        return self.classes_[np.argmax(shares, axis=1)]

    def predict_proba(self, X: Data) -> Array:
        """Return the share of each class in the leaf of each row, of shape (n_samples, n_classes)."""
        found = self.apply(X)
        return self.trees_.value[found, 0]

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of ``predict_proba``."""
        return log_shares(self.predict_proba(X))

    def apply(self, X: Data) -> Array:
        """Return the leaf of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, order="C", reset=False)
        return leaves(self.trees_, X)[:, 0].astype(np.intp)


DEEPEST = 4


@dataclass(frozen=True)
class TreeGap:
    """Training errors of a tree and of the best tree of its depth, as shares of the rows."""

    depth: int
    error: float
    best_error: float
    """Of the best tree found."""
    lower_bound: float
    """No tree of this depth over the thresholds searched has a lower error."""

    @property
    def gap(self) -> float:
        """How many more errors the tree makes than the best found."""
        return self.error - self.best_error

    @property
    def is_proved(self) -> bool:
        """Whether no better tree than the best found exists."""
        return self.best_error <= self.lower_bound

    def __str__(self) -> str:
        best = "is proved to make" if self.is_proved else "found in time makes"
        return (
            f"Of depth {self.depth}, the best tree {best} {self.best_error:.2%} errors on the training rows; this one "
            f"makes {self.error:.2%}, {self.gap:.2%} more."
        )


def greedy_gap(
    tree: Any,
    X: Data,
    y: Data,
    *,
    sample_weight: Data | None = None,
    max_thresholds: int | None = 32,
    time_limit: float | None = 60.0,
) -> TreeGap:
    """Return how far a fitted tree is from the best tree of its depth, on its training rows.

    Parameters
    ----------
    tree : fitted tree classifier
        One of depth 4 at most, of ours or of scikit-learn.
    X, y, sample_weight : array-like
        The rows it was fitted to, their classes, their weights.
    max_thresholds : int or None, default=32
        Most thresholds of a column that the best tree may use; None takes all.
    time_limit : float or None, default=60.0
        Seconds of the search for the best tree; after them the gap is what is proved by then.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1, 0]
    >>> print(greedy_gap(DecisionTreeClassifier(max_depth=1).fit(X, y), X, y))
    Of depth 1, the best tree is proved to make 40.00% errors on the training rows; this one makes 40.00%, 0.00% more.
    """
    check_is_fitted(tree)
    depth = int(tree.get_depth())
    if depth > DEEPEST:
        raise ValueError(
            f"tree must have a depth of at most {DEEPEST}, got {depth}. A search through all trees of that depth takes "
            "too long: prune it first."
        )
    error = 1.0 - float(tree.score(X, y, sample_weight))
    search = OptimalTreeClassifier(depth, max_thresholds=max_thresholds, time_limit=time_limit)
    best = search.fit(X, y, sample_weight)
    # the tree may split where the search did not look, and then be the better one
    return TreeGap(depth, error, *(float(np.minimum(error, found)) for found in (best.objective_, best.lower_bound_)))
