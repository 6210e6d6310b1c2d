"""Pruned trees: branches cut by errors on other rows, or by a pessimistic view of those on the training rows."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.checks import check_between
from pellucid.core.input_rules import check_sample_weight
from pellucid.core.labels import known_codes
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.packed_trees import PackedTrees, plain_leaves, rows_of_nodes
from pellucid.tree.pruning.cost_complexity import without_branches


class PrunedTreeClassifier(DecisionTreeClassifier):
    """A :class:`DecisionTreeClassifier` some of whose branches may have been cut; what the functions of pruning return.

    All parameters and attributes are those of the tree it was; beside them ``grown_`` is that tree before the cuts and
    ``node_errors_`` the errors of its nodes by which they were made. ``verify`` proves the grown tree and cuts again.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, prune_pessimistic
    >>> tree = DecisionTreeClassifier().fit([[k] for k in range(9)], [0, 0, 0, 1, 0, 0, 1, 1, 1])
    >>> prune_pessimistic(tree).get_n_leaves()
    2
    """


class PrunedTreeRegressor(DecisionTreeRegressor):
    """A :class:`DecisionTreeRegressor` some of whose branches may have been cut; see :class:`PrunedTreeClassifier`."""


PRUNED: dict[type, Any] = {
    DecisionTreeClassifier: PrunedTreeClassifier,
    DecisionTreeRegressor: PrunedTreeRegressor,
    PrunedTreeClassifier: PrunedTreeClassifier,
    PrunedTreeRegressor: PrunedTreeRegressor,
}
"""What a tree becomes when branches are cut."""


def single_tree(tree: Any) -> PackedTrees:
    """Return the arrays of a fitted decision tree of one target; refuse everything else."""
    if type(tree) not in PRUNED:
        raise TypeError(
            f"tree must be a DecisionTreeClassifier or DecisionTreeRegressor of pellucid, got {type(tree).__name__}."
        )
    check_is_fitted(tree)
    packed: PackedTrees = tree.trees_
    if packed.value.shape[1] > 1:
        raise ValueError(f"tree must have one target, got {packed.value.shape[1]}. Fit one tree for each.")
    return packed


def cut_bottom_up(tree: PackedTrees, as_leaf: Array, weight: Array) -> tuple[Array, Trace]:
    """Return which nodes become leaves, or are gone, and a row of the trace for each node looked at.

    Children stand behind their parent, so from the last node to the first every branch is done before its node.
    """
    is_cut, of_branch, trace = tree.is_leaf.copy(), as_leaf.copy(), Trace()
    total = float(as_leaf[tree.is_leaf].sum())
    rounding = sum_error(tree.n_nodes) * float(np.abs(as_leaf).max())
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        sides = [int(tree.children_left[node]), int(tree.children_right[node])]
        branch = float(of_branch[sides].sum())
        is_cut[node] = as_leaf[node] <= branch + rounding
        if is_cut[node]:
            total -= branch - as_leaf[node]
        of_branch[node] = as_leaf[node] if is_cut[node] else branch
        trace.add(
            iteration=len(trace) + 1,
            objective=total,
            node=node,
            weight=float(weight[node]),
            error_of_leaf=float(as_leaf[node]),
            error_of_branch=branch,
            cut=float(is_cut[node]),
        )
    return is_cut, trace


def with_branches_cut(
    tree: Any,
    pruned: PackedTrees,
    trace: Trace,
    errors: Array,
    after: float,
    n: int,
    confidence: float | None = None,
) -> Any:
    """Return the pruned copy; its certificate compares the error of what is left with the trace and with the tree.

    ``errors`` are those of all nodes as leaves. They and the whole tree are kept, so that ``verify`` can cut again.
    """
    before = float(errors[tree.trees_.is_leaf].sum())
    found = PRUNED[type(tree)](**tree.get_params(deep=False))
    for name, value in {**vars(tree), "data_fingerprint_": tree.data_fingerprint_}.items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(found, name, copy.copy(value))
    found.pruned_before_ = hasattr(tree, "grown_")
    found.grown_, found.node_errors_, found.confidence_ = tree.trees_, errors, confidence
    size = max(abs(before), 1.0)
    told = trace["objective"][-1] if len(trace) else before
    bound = 16 * sum_error(n)
    claims = (
        Claim(
            "objective",
            "distance of the error in the trace from that of the pruned tree",
            abs(after - told) / size,
            bound,
        ),
        Claim("no worse", "by how much the error rose through pruning", max(after - before, 0.0) / size, bound),
    )
    found.trees_, found.trace_, found.certificate_ = pruned, trace, Certificate("replayed", claims)
    warn_unless_holds(found.certificate_, type(found).__name__)
    return found


def prune_pessimistic(tree: Any, confidence: float = 0.25) -> Any:
    r"""Return a copy of a classification tree without the branches that C4.5 would call no better than a leaf.

    A leaf with :math:`E` errors among :math:`N` training rows is taken to have the error rate :math:`p` that so few
    errors leave possible: :math:`P(\text{at most } E \text{ of } N) = \text{confidence}`. From the bottom up, a node
    whose leaves together expect at least as many errors as it would as a leaf becomes one. No validation set is needed.
    (Branches are cut, not raised to their parent's place.)

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier
        It stays as it is.
    confidence : float, default=0.25
        Between 0 and 1; the smaller, the more is cut.

    Returns
    -------
    PrunedTreeClassifier
        ``trace_`` as of :func:`prune_reduced_error`, with expected errors on the training rows.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[k] for k in range(9)], [0, 0, 0, 1, 0, 0, 1, 1, 1])
    >>> tree.get_n_leaves(), prune_pessimistic(tree).get_n_leaves()
    (4, 2)
    """
    packed = single_tree(tree)
    if not is_classifier(tree):
        raise TypeError(f"tree must be a DecisionTreeClassifier, got {type(tree).__name__}. Use prune_reduced_error.")
    check_between(0.0, 1.0, confidence=confidence)
    counts = packed.weighted_n_node_samples
    expected = pessimistic_errors(counts * (1.0 - packed.value[:, 0].max(axis=1)), counts, confidence)
    is_cut, trace = cut_bottom_up(packed, expected, counts)
    pruned = without_branches(packed, is_cut)
    kept = pessimistic_errors(
        pruned.weighted_n_node_samples * (1.0 - pruned.value[:, 0].max(axis=1)),
        pruned.weighted_n_node_samples,
        confidence,
    )
    after, n = float(kept[pruned.is_leaf].sum()), int(packed.n_node_samples[0])
    return with_branches_cut(tree, pruned, trace, expected, after, n, confidence=float(confidence))


def pessimistic_errors(errors: Array, counts: Array, confidence: float) -> Array:
    r"""Return :math:`N p` with :math:`P(\text{at most } E \text{ of } N \text{ wrong} \mid p)` equal to the confidence.

    Examples
    --------
    >>> pessimistic_errors(np.array([0.0]), np.array([2.0]), 0.25)  # (1 - p)^2 = 1/4
    array([1.])
    """
    errors = np.minimum(np.round(errors, 9), counts)
    rate = stats.beta.ppf(1.0 - confidence, errors + 1.0, np.maximum(counts - errors, np.finfo(float).tiny))
    return np.asarray(counts * np.where(errors >= counts, 1.0, rate))


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
