"""ID3Classifier: a decision tree with a branch for every category."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.checks import column_values
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data
from pellucid.tree.id3.id3_solvers import Growth, grow_id3, prune_id3
from pellucid.tree.id3.id3_tree import MultiwayTree, coded_columns, held_back, numeric_columns
from pellucid.tree.tree_reading import TreeSize, log_shares


class ID3Classifier(TreeSize, ClassifierMixin, CertifiedEstimator):
    r"""A decision tree whose questions have one answer for each category of a column.

    .. math:: j^* = \arg\max_j\ I(S) - \sum_v \frac{|S_v|}{|S|} I(S_v),\qquad S_v = \{x \in S : x_j = v\}

    A node asks for the column that lowers the impurity :math:`I` most; of equally good ones for the first. It is split
    while its rows are of different classes and a column is left that tells some of them apart, even if that gains
    nothing yet. A column of categories is asked for once on a path. A branch without training rows answers with the
    class weights of its parent. A row whose category training did not have stops at the node that asks for it, and
    gets the class weights there.

    Parameters
    ----------
    criterion : {'gain', 'gain_ratio', 'gini', 'error'}, default='gain'
        The impurity: entropy in bits (``gain``; ``gain_ratio`` divides what is gained by the entropy of the branches),
        :math:`1 - \sum_c p_c^2`, or :math:`1 - \max_c p_c`.
    numeric : {'auto', 'never'} or list of columns, default='auto'
        Columns that are split in two at a threshold half way between values, as often as it helps (C4.5): those named,
        none, or those with a number that is not whole or with more than 20 different numbers. Of equally good
        thresholds the lowest is taken. All other columns hold categories: texts, codes, a few whole numbers.
    max_depth : int, default=None
        Most questions on a path; None is no limit.
    min_samples_split : float, default=2
        Least weight of the rows of a node that is split; up to 2 it is no limit.
    min_samples_leaf : float, default=1
        Least weight that two branches of a split must have; up to 1 it is no limit.
    min_gain : float, default=0.0
        Least gain of a split, or gain ratio if that is the criterion.
    pruning : {'pre', 'post'}, default=None
        ``'pre'`` splits a node only if that gets more of the validation rows right. ``'post'`` grows the whole tree,
        and from the bottom up makes a leaf of every node that is no worse on them than the branch below it.
    validation : float or list of int, default=None
        The rows of ``X``, counted from 0, that are held back for pruning, or their share: then the last ones are.

    Attributes
    ----------
    tree_ : MultiwayTree
        The nodes: what each asks for, where its branches go, and the weight of each class in it.
    categories_ : list of n_features arrays
        The categories of each column, sorted; none where it is split by threshold.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    certificate_ : Certificate
        Every split was the best of all candidates, every leaf had to be one, and the class weights are right.
    trace_ : Trace
        One row per split: node, column, threshold, gain, weight of the rows. Where validation rows prune, the weight of
        those that the node gets right as a leaf and split, and whether it is ``kept``.

    Examples
    --------
    >>> X = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "hot"]]
    >>> model = ID3Classifier().fit(np.array(X, dtype=object), ["in", "out", "out", "out"])
    >>> model.predict(np.array([["sun", "mild"], ["sun", "cold"]], dtype=object))
    array(['out', 'in'], dtype='<U3')
    """

    tree_: MultiwayTree
    categories_: list[Array]
    classes_: Array

    def __init__(
        self,
        criterion: str = "gain",
        *,
        numeric: Any = "auto",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_gain: float = 0.0,
        pruning: str | None = None,
        validation: Any = None,
    ) -> None:
        self.criterion = criterion
        self.numeric = numeric
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.pruning = pruning
        self.validation = validation

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X``, a table or an array of shape (n_samples, n_features), and the labels ``y``."""
        data = self._check(X, y, sample_weight).without_absent_classes()
        names = getattr(self, "feature_names_in_", None)
        columns = [column_values(data.X, j) for j in range(data.X.shape[1])]
        is_numeric = numeric_columns(self.numeric, columns, None if names is None else names.tolist())
        categories = [np.empty(0) if of else np.unique(column) for of, column in zip(is_numeric, columns, strict=True)]
        most = math.inf if self.max_depth is None else self.max_depth
        named = np.empty(0, dtype=np.intp) if self.pruning is None else held_back(self.validation, data.n_given)
        held = data.places(named)
        if len(held) == len(data.y):
            raise ValueError(f"validation must leave rows to learn from, got all {len(held)} rows of weight above 0.")
        growth = Growth(
            self.criterion, most, self.min_samples_split, self.min_samples_leaf, self.min_gain, self.pruning == "pre"
        )
        rows, sizes = coded_columns(data.X, categories), [len(known) for known in categories]
        tree, trace = grow_id3(rows, sizes, data.y, data.weights, len(data.classes), growth, held)
        if self.pruning == "post":
            tree, trace = prune_id3(tree, trace, rows, data.y, data.weights, held)
        found = {"classes_": data.classes, "categories_": categories, "tree_": tree}
        return self._adopt(Fit(found, trace), data)

    def predict(self, X: Data) -> Array:
        """Return the class of most weight where each row stops; of tied ones the first in ``classes_``."""
        stops = self.apply(X)
        return self.classes_[np.argmax(self.tree_.value[stops], axis=1)]

    def predict_proba(self, X: Data) -> Array:
        """Return the share of each class where each row stops, of shape (n_samples, n_classes)."""
        stops = self.apply(X)
        value = self.tree_.value[stops]
        return np.asarray(value / value.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of ``predict_proba``."""
        return log_shares(self.predict_proba(X))

    def apply(self, X: Data) -> Array:
        """Return the node where each row stops."""
        check_is_fitted(self)
        rows = coded_columns(validate_data(self, X, reset=False, dtype=None), self.categories_)
        return self.tree_.stops_of(rows.codes, rows.values, rows.is_numeric)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
