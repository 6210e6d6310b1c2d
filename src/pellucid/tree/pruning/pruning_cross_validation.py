"""Cost-complexity pruning with the price of a leaf chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from pellucid.core.cards import card_of
from pellucid.core.checks import check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.tree.packed_trees import PackedTrees, plain_leaves
from pellucid.tree.pruning.cost_complexity import pruned
from pellucid.tree.pruning.pruned_tree import single_tree


def prune_by_cross_validation(
    tree: Any,
    X: Data,
    y: Data,
    *,
    sample_weight: Data | None = None,
    cv: Any = 5,
    one_standard_error: bool = False,
    max_prices: int = 50,
) -> Any:
    r"""Return the tree fitted to all rows and pruned at the price of a leaf that cross-validation finds best.

    The path of the tree of all rows has the prices :math:`\alpha_0 < \alpha_1 < \dots` at which it loses branches. In
    between, at :math:`\sqrt{\alpha_k \alpha_{k+1}}`, the trees of the folds are pruned and judged on the rows they have
    not seen. Of equally good prices the highest, with the smallest tree, is taken.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Whose parameters are used; it is not changed, and need not be fitted.
    X, y, sample_weight
        All training rows; a row of weight k counts as k rows in fits and errors.
    cv : int, splitter or iterable of splits, default=5
        The folds, as in scikit-learn.
    one_standard_error : bool, default=False
        Take the highest price whose error is no more than one standard error above the least: a smaller tree that is
        hardly worse.
    max_prices : int, default=50
        Most prices to try, evenly spaced along the path.

    Returns
    -------
    DecisionTreeClassifier or DecisionTreeRegressor
        Fitted with ``ccp_alpha`` at that price. ``trace_`` has a row for each price: ``objective`` is the mean error
        over the folds (share of wrong classes, or mean squared error), then its standard error, the leaves of the tree
        of all rows, and whether it was chosen.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier
    >>> X, y = [[k] for k in range(12)], [0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1]
    >>> model = prune_by_cross_validation(DecisionTreeClassifier(), X, y, cv=3)
    >>> model.get_n_leaves()
    2
    """
    check_whole(low=1, max_prices=max_prices)
    whole = clone(tree).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
    packed = single_tree(whole)
    path = whole.cost_complexity_pruning_path(X, y, sample_weight=sample_weight).ccp_alphas
    prices = _tried_prices(path, max_prices)
    errors = _fold_errors(whole, X, y, sample_weight, prices, cv)
    mean = errors.mean(axis=0)
    spread = errors.std(axis=0, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.zeros(len(prices))
    best = int(np.flatnonzero(mean <= mean.min() * (1.0 + 1e-12))[-1])
    chosen = int(np.flatnonzero(mean <= mean[best] + spread[best])[-1]) if one_standard_error else best
    model = clone(tree).set_params(ccp_alpha=float(prices[chosen])).fit(X, y, sample_weight=sample_weight)
    model.trace_ = _trace(prices, mean, spread, packed, chosen)
    return model


def _tried_prices(path: Array, most: int) -> Array:
    """Return geometric means of neighboring prices, and the last price; 0 is tried as it is."""
    path = np.unique(np.maximum(path, 0.0))
    tried = np.concatenate([np.sqrt(path[:-1] * path[1:]), path[-1:]])
    places = np.unique(np.linspace(0, len(tried) - 1, min(most, len(tried))).round().astype(int))
    return np.asarray(tried[places])


def _fold_errors(whole: Any, X: Data, y: Data, sample_weight: Data | None, prices: Array, cv: Any) -> Array:
    """Return the error of each fold at each price, of shape (n_folds, n_prices)."""
    target = np.asarray(y)
    weight = np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    found = []
    for train, test in check_cv(cv, target, classifier=is_classifier(whole)).split(X, target):
        fold = clone(whole).fit(_safe_indexing(X, train), target[train], sample_weight=weight[train])
        rows = card_of(type(fold)).rules_for(fold).check_rows(fold, _safe_indexing(X, test))
        found.append([_error(fold, pruned(fold.trees_, price), rows, target[test], weight[test]) for price in prices])
    return np.array(found)


def _error(model: Any, tree: PackedTrees, rows: Any, target: Array, weight: Array) -> float:
    """Return the mean error of a pruned tree: the share of wrong classes, or the squared error."""
    value = tree.value[plain_leaves(tree, rows), 0]
    if is_classifier(model):
        wrong = model.classes_[np.argmax(value, axis=1)] != target
        return float(np.average(wrong, weights=weight))
    return float(np.average((target - value[:, 0]) ** 2, weights=weight))


def _trace(prices: Array, mean: Array, spread: Array, tree: PackedTrees, chosen: int) -> Trace:
    trace = Trace()
    for k, price in enumerate(prices.tolist()):
        trace.add(
            iteration=k + 1,
            objective=float(mean[k]),
            ccp_alpha=price,
            standard_error=float(spread[k]),
            leaves=int(pruned(tree, price).is_leaf.sum()),
            chosen=float(k == chosen),
        )
    return trace
