"""Reduced-error pruning: a validation set decides which branches of a grown tree are worth keeping."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pellucid.core.cards import card_of
from pellucid.core.input_rules import check_sample_weight
from pellucid.core.labels import known_codes
from pellucid.core.types import Array, Data
from pellucid.tree.plain_walk import plain_leaves, rows_of_nodes
from pellucid.tree.pruning.cost_complexity import without_branches
from pellucid.tree.pruning.pruning_cuts import cut_bottom_up, single_tree, with_branches_cut


def prune_reduced_error(tree: Any, X: Data, y: Data, sample_weight: Data | None = None) -> Any:
    """Return a copy of a tree without the branches that make no fewer errors on a validation set than a leaf would.

    From the bottom up, each node whose branch makes at least as many errors as the node would as a leaf becomes one:
    of equals the smaller tree is taken, so a branch that no validation row reaches goes too. Errors are the weight of
    wrong classes, or the sum of squared errors.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier or DecisionTreeRegressor
        It stays as it is.
    X, y, sample_weight
        Rows that the tree was not fitted to.

    Returns
    -------
    PrunedTreeClassifier or PrunedTreeRegressor
        ``trace_`` has a row for each node looked at: its number, the weight of its validation rows, their error with
        and without the branch, whether it was cut, and as ``objective`` the error of the whole tree from then on.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [3], [4], [5], [6]], [0, 0, 0, 1, 1, 0])
    >>> pruned = prune_reduced_error(tree, [[1], [2], [4], [5], [6]], [0, 0, 1, 1, 1])
    >>> tree.get_n_leaves(), pruned.get_n_leaves()
    (3, 2)
    """
    packed = single_tree(tree)
    rows = card_of(type(tree)).rules_for(tree).check_rows(tree, X)
    weight = check_sample_weight(sample_weight, rows)
    weight = np.ones(rows.shape[0]) if weight is None else weight
    target = known_codes(np.asarray(y), tree.classes_) if is_classifier(tree) else np.asarray(y, dtype=np.float64)
    if target.shape != weight.shape:
        raise ValueError(f"y must have one value for each of the {len(weight)} rows of X, got shape {target.shape}.")
    passed = rows_of_nodes(packed, rows)
    as_leaf = np.array([_error(packed.value[v, 0], target[own], weight[own], tree) for v, own in enumerate(passed)])
    seen = np.array([weight[own].sum() for own in passed])
    is_cut, trace = cut_bottom_up(packed, as_leaf, seen)
    pruned = without_branches(packed, is_cut)
    after = [
        _error(pruned.value[v, 0], target[[i]], weight[[i]], tree) for i, v in enumerate(plain_leaves(pruned, rows))
    ]
    return with_branches_cut(tree, pruned, trace, as_leaf, float(np.sum(after)), len(weight))


def _error(value: Array, target: Array, weight: Array, tree: Any) -> float:
    """Return the error of rows in a leaf of this value."""
    if is_classifier(tree):
        return float(weight[target != int(np.argmax(value))].sum())
    return float(weight @ (target - value[0]) ** 2)
