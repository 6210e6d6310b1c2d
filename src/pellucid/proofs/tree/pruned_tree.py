"""Proof of a pruned tree: the tree that was grown is proved whole, and its branches are cut again.

From the bottom up a node becomes a leaf where that makes no more errors than its branch. Of pessimistic pruning the
errors follow from the training rows; those on a validation set are taken as stored, and the certificate says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.tree.decision_tree import MOST_REPLAYED, nodes_to_replay, replay_claim
from pellucid.proofs.tree.decision_tree import prove_decision_tree as prove_grown
from pellucid.tree.decision_tree.growth_rules import growth_rules
from pellucid.tree.decision_tree.tree_check import REFIT, Bag, TreeCheck
from pellucid.tree.decision_tree.tree_data import TreeData
from pellucid.tree.packed_trees import LEAF, PackedTrees

VALIDATED = "Not covered: the errors on the validation rows, by which branches were cut, are taken as stored."
TWICE = "Not covered: what was cut before the last pruning; of the tree it began with, the splits are proved."


def prove_pruned_tree(fitted: Any, parameters: Any, data: TreeData) -> Certificate:
    """Return the certificate of a tree that was grown on these data, and may have lost branches since."""
    grown = getattr(fitted, "grown_", None)
    if grown is None:  # nothing was cut
        return prove_grown(fitted, parameters, data)
    seen = type(fitted)(**{**vars(fitted), "trees_": grown})
    if fitted.pruned_before_:
        found = _splits_alone(prove_grown(seen, parameters, data, replays=False), seen, parameters, data)
    else:
        found = prove_grown(seen, parameters, data)
    if found.failed:
        return found
    reasons = [TWICE] if fitted.pruned_before_ else []
    errors = np.asarray(fitted.node_errors_)
    if fitted.confidence_ is None:
        reasons.append(VALIDATED)
    else:
        errors = expected_errors(grown, float(fitted.confidence_))
    return Certificate("replayed", (*found.claims, cuts_claim(fitted.trees_, grown, errors, data)), " ".join(reasons))


def _splits_alone(found: Certificate, fitted: Any, parameters: Any, data: TreeData) -> Certificate:
    """Return the certificate with the splits of inner nodes looked at again: its leaves need not have been leaves."""
    n, p = data.X.shape
    if found.failed:
        return found
    rules = growth_rules(parameters, n, p, float(data.weights.sum()), data.is_category)
    bag = Bag(np.arange(n), data.weights, int(fitted.seed_), rules.min_weight)
    check = TreeCheck.of(fitted.trees_, data, [bag], rules)
    chosen = nodes_to_replay(check, MOST_REPLAYED)
    inner = chosen.nodes[~fitted.trees_.is_leaf[chosen.nodes]]
    return found.with_claims(replay_claim(check, chosen._replace(nodes=inner), fitted.trees_.n_nodes))


def expected_errors(tree: PackedTrees, confidence: float) -> Array:
    r"""Return :math:`N p` for each node, with P(at most E of N wrong | p) equal to the confidence."""
    counts = tree.weighted_n_node_samples
    wrong = np.minimum(np.round(counts * (1.0 - tree.value[:, 0].max(axis=1)), 9), counts)
    right = np.maximum(counts - wrong, np.finfo(float).tiny)
    return np.where(wrong >= counts, counts, counts * stats.beta.ppf(1.0 - confidence, wrong + 1.0, right))


def cuts_claim(pruned: PackedTrees, grown: PackedTrees, errors: Array, data: TreeData) -> Claim:
    """Claim that the tree is the grown one without the branches that make no fewer errors than a leaf."""
    statement = "nodes that differ from those of the grown tree after the cuts that its errors ask for"
    suits = errors.shape == (grown.n_nodes,) and bool(np.isfinite(errors).all())
    if not suits or pruned.fault(data.X.shape[1]) or pruned.value.shape[1:] != grown.value.shape[1:]:
        return Claim("cuts", statement, float(grown.n_nodes), 0.0, REFIT)
    is_leaf = _cut_again(grown, errors)
    return Claim("cuts", statement, float(_differences(pruned, grown, is_leaf)), 0.0, REFIT)


def _cut_again(grown: PackedTrees, errors: Array) -> Array:
    """Return which nodes are leaves once branches are cut; children stand behind their parents."""
    is_leaf, least = grown.is_leaf.copy(), np.array(errors, dtype=np.float64)
    rounding = sum_error(grown.n_nodes) * float(np.abs(errors).max())
    for v in range(grown.n_nodes - 1, -1, -1):
        if not is_leaf[v]:
            branch = least[grown.children_left[v]] + least[grown.children_right[v]]
            is_leaf[v] = errors[v] <= branch + rounding
            least[v] = errors[v] if is_leaf[v] else branch
    return is_leaf


def _differences(pruned: PackedTrees, grown: PackedTrees, is_leaf: Array) -> int:
    """Return how many nodes of the pruned tree are not as in the grown one, both walked along from their roots."""
    wrong, waiting = 0, [(0, 0)]
    while waiting:
        v, u = waiting.pop()
        told = ("impurity", "n_node_samples", "weighted_n_node_samples", "value")
        wrong += any(not np.array_equal(getattr(pruned, name)[v], getattr(grown, name)[u]) for name in told)
        if is_leaf[u] or pruned.children_left[v] == LEAF:
            wrong += bool(is_leaf[u]) != bool(pruned.children_left[v] == LEAF)
            continue
        wrong += any(
            getattr(pruned, name)[v] != getattr(grown, name)[u]
            for name in ("feature", "threshold", "missing_go_to_left")
        )
        wrong += not np.array_equal(_set_of(pruned, v), _set_of(grown, u))
        for name in ("children_left", "children_right"):
            waiting += [(int(getattr(pruned, name)[v]), int(getattr(grown, name)[u]))]
    return wrong


def _set_of(tree: PackedTrees, v: int) -> Array:
    row = int(tree.category_row[v])
    return tree.left_categories[row] if row >= 0 else np.empty(0)
