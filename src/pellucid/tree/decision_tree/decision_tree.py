"""Decision trees: one question about one column after another."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import sklearn.tree
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Bunch, metadata_routing
from sklearn.utils.validation import check_is_fitted

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.random_state import drawn_seed
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array, ClassWeight, Data, RandomState
from pellucid.tree.decision_tree.growth_rules import GrowthRules, growth_rules
from pellucid.tree.decision_tree.tree_data import TreeData, rules_for_trees, with_codes
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.pruning.cost_complexity import pruned, pruning_path
from pellucid.tree.tree_reading import TreeSize, TreeView, leaves, log_shares, mean_answers


class DecisionTree(TreeSize, MultiOutputMixin, CertifiedEstimator):
    """What the classifier and the regressor share: growing, and the way of rows to their leaves."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"check_input": metadata_routing.UNUSED}
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"check_input": metadata_routing.UNUSED}

    trees_: PackedTrees
    categories_: list[Array | None]
    n_outputs_: int
    n_features_in_: int
    max_features_: int
    seed_: int
    classes_: Any
    n_classes_: Any

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None, check_input: bool = True) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y``, in one column or several.

        A row of weight k counts as k rows. ``check_input`` changes nothing: data are always checked.
        """
        data: TreeData = self._check(X, y, sample_weight)  # type: ignore[assignment]  # by the rules on the card
        check_monotonic(self, data.X.shape[1], data.target.n_outputs, data.target.n_classes)
        rules = growth_rules(self, data.X.shape[0], data.X.shape[1], float(data.weights.sum()), data.is_category)
        seed = drawn_seed(self.random_state)
        tree = self._grown(data, rules, seed)
        attributes = {
            **self._labels(data),
            "n_outputs_": data.target.n_outputs,
            "max_features_": rules.max_features,
            "categories_": list(data.categories),
            "seed_": seed,
            "trees_": tree,
        }
        return self._adopt(Fit(attributes, later={"trace_": partial(tree_trace, tree)}), data)

    def _grown(self, data: TreeData, rules: GrowthRules, seed: int) -> PackedTrees:
        from pellucid.tree.decision_tree.decision_tree_solvers import grow_tree
        from pellucid.tree.decision_tree.rows_in_bins import rank_rows

        tree = grow_tree(rank_rows(data), data.target, data.weights, rules, seed)
        return pruned(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

    def _labels(self, data: TreeData) -> dict[str, Any]:
        return {}

    def __getattr__(self, name: str) -> Any:
        if name in ("tree_", "feature_importances_"):  # properties of a fitted tree
            check_is_fitted(self)
        return super().__getattr__(name)

    @property
    def tree_(self) -> TreeView:
        """The tree as scikit-learn's tools read it."""
        if "trees_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'tree_': it is not fitted")
        return TreeView(
            self.trees_, self.n_features_in_, np.atleast_1d(getattr(self, "n_classes_", [1] * self.n_outputs_))
        )

    @property
    def feature_importances_(self) -> Array:
        """How much the splits of each column lower the impurity, as parts of 1."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def apply(self, X: Data, check_input: bool = True) -> Array:
        """Return the leaf of each row, as the number of its node."""
        return self._leaves(X).astype(np.int64)

    def decision_path(self, X: Data, check_input: bool = True) -> sparse.csr_matrix:
        """Return which nodes each row passes, as ones of a matrix of shape (n_samples, n_nodes)."""
        check_is_fitted(self)
        rows = rules_for_trees(self).check_rows(self, X)
        with own_threads():
            return self.tree_.decision_path(rows)

    def cost_complexity_pruning_path(self, X: Data, y: Data, sample_weight: Data | None = None) -> Bunch:
        """Return the prices of a leaf at which the tree of these data loses a split, and the impurity of what is left.

        ``ccp_alphas`` are the prices, ``impurities`` the weighted sums over the leaves.
        """
        data: TreeData = self._check(X, y, sample_weight)  # type: ignore[assignment]
        rules = growth_rules(self, data.X.shape[0], data.X.shape[1], float(data.weights.sum()), data.is_category)
        check_monotonic(self, data.X.shape[1], data.target.n_outputs, data.target.n_classes)
        plain = type(self)(**self.get_params(deep=False)).set_params(ccp_alpha=0.0)
        with own_threads():
            tree = plain._grown(data, rules, drawn_seed(self.random_state))
        prices, impurities = pruning_path(tree)
        return Bunch(ccp_alphas=prices, impurities=impurities)

    def _leaves(self, X: Data) -> Array:
        check_is_fitted(self)
        rows = rules_for_trees(self).check_rows(self, X)
        with own_threads():
            return leaves(self.trees_, rows)[:, 0]

    def _values(self, X: Data) -> Array:
        """Return the value of each row's leaf, of shape (n_samples, n_outputs, n_values)."""
        found = self._leaves(X)
        return self.trees_.value[found]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class DecisionTreeClassifier(ClassifierMixin, DecisionTree):
    r"""A tree of questions that part the rows until each leaf has one class, or a limit is reached.

    A split of a node with rows of weight :math:`w` into sides :math:`l` and :math:`r` is the one that lowers

    .. math:: \tfrac{w_l}{w} I_l + \tfrac{w_r}{w} I_r

    most, with the impurity :math:`I = 1 - \sum_k p_k^2` (gini), :math:`-\sum_k p_k \log_2 p_k` (entropy) or
    :math:`1 - \max_k p_k` (error). Of equally good splits the lowest column counts, then the lowest threshold.
    Thresholds lie halfway between two values. Missing values go to the side where they do most good; where the node
    had none, to the larger side.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'gain_ratio', 'error'}, default='gini'
        The impurity; 'log_loss' is another name of 'entropy'. With 'gain_ratio' a split is the one with the largest
        fall of the entropy divided by the entropy of the split itself.
    splitter : {'best', 'random'}, default='best'
        Whether every threshold of a column is tried, or one drawn between its least and largest value.
    max_depth : int or None, default=None
        Most splits on a way.
    min_samples_split, min_samples_leaf : int or float, default=2, 1
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_weight_fraction_leaf : float, default=0.0
        The part of all weight that each side of a split must have.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        Columns, drawn at random, that a node looks at; more if all these are constant.
    random_state : int, RandomState instance or None, default=None
        Where drawn columns and thresholds come from: without any of these, nothing is drawn.
    max_leaf_nodes : int or None, default=None
        Most leaves; the node whose split lowers the impurity most is split next.
    min_impurity_decrease : float, default=0.0
        What a split must lower the impurity by, in parts of the weight of all rows.
    class_weight : dict, list of dicts, 'balanced' or None, default=None
        Weights of classes; 'balanced' gives all classes the same sum of weights.
    ccp_alpha : float, default=0.0
        Price of a leaf: the tree is pruned to the best one for it.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        1 for columns with which the probability of the second class must not fall, -1 must not rise, 0 for others.
    categorical_features : None, 'from_dtype', or array-like of column numbers, names or bool, default=None
        Columns of categories: a split sends some of them left. Of two classes it is the best of all subsets;
        otherwise the best first part of the categories in the order of their share of one class, for each class.

    Attributes
    ----------
    classes_, n_classes_ : ndarray and int, or a list and an ndarray for several outputs
        The labels, sorted, and how many there are.
    tree_ : TreeView
        The tree as scikit-learn's tools read it.
    trees_ : PackedTrees
        Its arrays, as they are stored.
    categories_ : list
        The values of each column of categories, None for one of numbers; empty without any.
    max_features_, n_outputs_, seed_ : int
        Columns a node looks at, columns of ``y``, and where random numbers come from.
    certificate_ : Certificate
        That splits are the best under the stated rule; ``verify`` looks at more of them.
    trace_ : Trace
        Nodes, leaves and rows level by level.

    Examples
    --------
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> float(model.tree_.threshold[0]), str(model.predict([[1.4]])[0])
    (1.5, 'a')
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    def predict(self, X: Data, check_input: bool = True) -> Array:
        """Return the class with the largest share in each row's leaf; of equal ones the first."""
        best = self._values(X).argmax(axis=2)
        if self.n_outputs_ == 1:
            return self.classes_[best[:, 0]]
        return np.column_stack([classes[best[:, k]] for k, classes in enumerate(self.classes_)])

    def predict_proba(self, X: Data, check_input: bool = True) -> Array | list[Array]:
        """Return the shares of the classes in each row's leaf, in a list for several outputs."""
        shares = self._values(X)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, k, : len(classes)] for k, classes in enumerate(self.classes_)]

    def predict_log_proba(self, X: Data) -> Array | list[Array]:
        """Return the logarithms of the shares."""
        return log_shares(self.predict_proba(X))

    def _labels(self, data: TreeData) -> dict[str, Any]:
        return label_attributes(data)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class DecisionTreeRegressor(RegressorMixin, DecisionTree):
    r"""A tree of questions that part the rows until each leaf has one value of the target, or a limit is reached.

    The impurity of a node is :math:`\tfrac 1w \sum_i w_i (y_i - \bar y)^2` (squared error),
    :math:`\tfrac 1w \sum_i w_i |y_i - m|` about the median (absolute error) or
    :math:`\tfrac 1w \sum_i w_i\, y_i \log(y_i / \bar y)` (poisson). Everything else is as in
    :class:`DecisionTreeClassifier`; categories are split by the best of all subsets, for absolute error by the best
    first part of them in the order of their mean.

    Parameters
    ----------
    criterion : {'squared_error', 'absolute_error', 'poisson', 'friedman_mse'}, default='squared_error'
        The impurity; 'friedman_mse' is another name of 'squared_error'.
    splitter : {'best', 'random'}, default='best'
        Whether every threshold of a column is tried, or one drawn between its least and largest value.
    max_depth : int or None, default=None
        Most splits on a way.
    min_samples_split : int or float, default=2
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_samples_leaf : int or float, default=1
        Rows, or the part of all rows, that a node must have to be split, and each side of a split.
    min_weight_fraction_leaf : float, default=0.0
        The part of all weight that each side of a split must have.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        Columns, drawn at random, that a node looks at; more if all these are constant.
    random_state : int, RandomState instance or None, default=None
        Where drawn columns and thresholds come from: without any of these, nothing is drawn.
    max_leaf_nodes : int or None, default=None
        Most leaves; the node whose split lowers the impurity most is split next.
    min_impurity_decrease : float, default=0.0
        What a split must lower the impurity by, in parts of the weight of all rows.
    ccp_alpha : float, default=0.0
        Price of a leaf: the tree is pruned to the best one for it.
    monotonic_cst : array-like of int of shape (n_features,) or None, default=None
        1 for columns with which the predicted number must not fall, -1 must not rise, 0 for others.
    categorical_features : None, 'from_dtype', or array-like of column numbers, names or bool, default=None
        Columns of categories: a split sends some of them left, by the best of all subsets; for absolute error by the
        best first part of them in the order of their mean.

    Attributes
    ----------
    tree_ : TreeView
        The tree as scikit-learn's tools read it.
    trees_ : PackedTrees
        Its arrays, as they are stored.
    categories_ : list
        The values of each column of categories, None for one of numbers; empty without any.
    max_features_, n_outputs_, seed_ : int
        Columns a node looks at, columns of ``y``, and where random numbers come from.
    certificate_ : Certificate
        That splits are the best under the stated rule; ``verify`` looks at more of them.
    trace_ : Trace
        Nodes, leaves and rows level by level.

    Examples
    --------
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 6.0])
    >>> model.predict([[0.5], [9.0]])
    array([0., 6.])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features

    def predict(self, X: Data, check_input: bool = True) -> Array:
        """Return the value of each row's leaf, of shape (n_samples,) or (n_samples, n_outputs)."""
        values = self._values(X)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _compute_partial_dependence_recursion(self, grid: Array, target_features: Array) -> Array:
        """Return the mean answer over the training rows with some columns set, for scikit-learn's inspection."""
        return partial_answers(self, grid, target_features)


sklearn.tree.DecisionTreeClassifier.register(DecisionTreeClassifier)  # so that its tools take ours for one of theirs
sklearn.tree.DecisionTreeRegressor.register(DecisionTreeRegressor)


def partial_answers(model: Any, grid: Array, columns: Array) -> Array:
    """Return the mean answers of a model's trees at the rows of a grid, of shape (1, n_rows)."""
    if model.categories_:
        grid = with_codes(grid, tuple(model.categories_[j] for j in columns))
    return mean_answers(model.trees_, np.asarray(grid, dtype=np.float64), np.asarray(columns))


def label_attributes(data: TreeData) -> dict[str, Any]:
    """Return the labels and their numbers, of one output or in lists."""
    counts = np.array([len(labels) for labels in data.label_sets], dtype=np.int64)
    if len(counts) == 1:
        return {"classes_": data.label_sets[0], "n_classes_": int(counts[0])}
    return {"classes_": list(data.label_sets), "n_classes_": counts}


def check_monotonic(estimator: Any, n_features: int, n_outputs: int, n_classes: tuple[int, ...]) -> None:
    """Refuse directions that do not fit the data."""
    if estimator.monotonic_cst is None:
        return
    given = np.asarray(estimator.monotonic_cst)
    if n_outputs > 1:
        raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
    if given.shape != (n_features,):
        raise ValueError(f"monotonic_cst has shape {len(given)} but the input data X has {n_features} features.")
    if not np.isin(given, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {np.unique(given)}")
    if n_classes and n_classes[0] > 2:
        raise ValueError("Monotonicity constraints are not supported with multiclass classification")


def tree_trace(trees: PackedTrees) -> Trace:
    """Return one row per level: nodes, leaves among them, and the rows that get there."""
    trace, depth = Trace(), trees.depths()
    nodes = np.bincount(depth)
    leaf_counts = np.bincount(depth[trees.is_leaf], minlength=len(nodes))
    rows = np.bincount(depth, trees.n_node_samples)
    for level in range(len(nodes)):
        trace.add(iteration=level, nodes=int(nodes[level]), leaves=int(leaf_counts[level]), rows=int(rows[level]))
    return trace
