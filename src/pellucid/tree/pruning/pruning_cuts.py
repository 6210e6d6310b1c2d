"""What all ways to prune a grown tree share: cutting from the bottom up, and the copy that is left."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.pruning.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor

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
    for name, value in vars(tree).items():
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
