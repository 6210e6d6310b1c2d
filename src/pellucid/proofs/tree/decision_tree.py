r"""What decision trees, pruned ones among them, claim, and the proof of it from the data alone.

Every training row is sent down the tree. That gives for each node its rows, and from these its weight, its value, its
impurity, the two values its threshold must lie halfway between, and whether it had to be split or to be a leaf. Then
nodes are looked at again: in a small tree all that could be something else; in a large one the first nodes, leaves that
could have been split, and every node on the way of rows that are drawn at random. If none is wrong on the ways of k
rows, then with 99 % confidence at most a share :math:`1 - 0.01^{1/k}` of the rows comes by a wrong node.

Of a pruned tree, the tree that was grown is proved whole, and its branches are cut again: from the bottom up a node
becomes a leaf where that makes no more errors than its branch. Of pessimistic pruning the errors follow from the
training rows; those on a validation set are taken as stored, and the certificate says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import drawn, draws, is_fitting, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.tree_bins import MOST_BINS
from pellucid.proofs.tree.tree_check import REFIT, Bag, TreeCheck
from pellucid.proofs.tree.tree_rows import TreeRows, columns_drawn, drawn_seed, growth_rule, tree_rows
from pellucid.proofs.tree.trees import LEAF, Chosen, TreeArrays, chosen_nodes, fault_of_trees

MOST_REPLAYED = 600
MOST_VALUES = 1e7
"""Nodes looked at again, and numbers sorted for it, about at most."""
AT_FIT = 1
FEW_ROWS = 1 << 13
"""Nodes that a fit looks at again, in one column each, and the rows of one, at most: a fit to few rows takes no longer
than that."""
VALIDATED = "Not covered: the errors on the validation rows, by which branches were cut, are taken as stored."
TWICE = "Not covered: what was cut before the last pruning; of the tree it began with, the splits are proved."


def prove_decision_tree(fitted: Seen, parameters: Seen, data: TrainingData, *, replays: bool = True) -> Certificate:
    """Return the certificate of a single tree; without replays, of what all nodes must say."""
    structure = structure_claim(fitted.trees_, data.X.shape[1], 1)
    rows = tree_rows(fitted, parameters, data)
    if is_fitting() and structure.holds:
        check = _check(fitted, parameters, rows, walks=parameters.monotonic_cst is not None)
        return Certificate("replayed", (structure, spot_claim(check, check.tree.n_nodes)))
    claims = [record_claim(fitted, parameters, rows, data), structure]
    if not all(claim.holds for claim in claims):
        return Certificate("replayed", tuple(claims))
    check = _check(fitted, parameters, rows)
    claims += check.claims()
    if replays:
        claims.append(replay_claim(check, nodes_to_replay(check, MOST_REPLAYED), check.tree.n_nodes))
    return Certificate("replayed", tuple(claims))


def _check(fitted: Seen, parameters: Seen, rows: TreeRows, *, walks: bool = True, ccp_alpha: Any = None) -> TreeCheck:
    """Return the tree with its rows; without walks, what its nodes say of themselves is believed."""
    rule = growth_rule(parameters, len(rows.weight), float(rows.weight.sum()), rows.is_category)
    bag = Bag(np.arange(len(rows.weight)), rows.weight, int(fitted.seed_), rule.min_weight)
    price = parameters.ccp_alpha if ccp_alpha is None else ccp_alpha
    return TreeCheck.of(TreeArrays.of(fitted.trees_), rows, [bag], rule, price, walks=walks)


def record_claim(fitted: Seen, parameters: Seen, rows: TreeRows, data: TrainingData) -> Claim:
    """Claim that labels, categories, columns and seed of the model follow from data and parameters."""
    wrong = 0
    if rows.label_sets:
        several = len(rows.label_sets) > 1
        labels = fitted.classes_ if several else [fitted.classes_]
        counts = fitted.n_classes_ if several else [fitted.n_classes_]
        wrong += [len(found) for found in labels] != [int(count) for count in counts]
        wrong += not _all_equal(labels, rows.label_sets)
    wrong += int(fitted.n_outputs_) != rows.target.n_outputs
    wrong += not _all_equal(fitted.categories_, rows.categories)
    if hasattr(fitted, "max_features_"):
        wrong += fitted.max_features_ != columns_drawn(parameters.max_features, data.X.shape[1])
    if hasattr(fitted, "seed_") and isinstance(parameters.random_state, (int, np.integer)):
        wrong += fitted.seed_ != drawn_seed(int(parameters.random_state))
    statement = "of labels, categories, outputs, columns and seed, how many do not follow from data and parameters"
    return Claim("record", statement, float(wrong), 0.0, REFIT)


def _all_equal(stored: Any, found: Any) -> bool:
    return len(stored) == len(found) and all(
        one is other is None or (one is not None and other is not None and np.array_equal(one, other))
        for one, other in zip(stored, found, strict=True)
    )


def structure_claim(stored: Any, n_features: int, n_trees: int) -> Claim:
    """Claim that the arrays are binary trees: in range, without circles, every node reached."""
    fault = fault_of_trees(stored, n_features)
    if not fault and len(stored.starts) - 1 != n_trees:
        fault = f"there are {len(stored.starts) - 1} trees"
    return Claim("structure", fault or "structure of the tree", float(bool(fault)), 0.0, REFIT)


def nodes_to_replay(check: TreeCheck, most_nodes: int) -> Chosen:
    """Return the nodes to look at again."""
    bags, tree = check.bags, check.tree

    def starts(count: int) -> tuple[Array, Array]:
        trees, turns = draws().integers(tree.n_trees, size=count), draws().random(count)
        places = (turns * np.array([len(bag.rows) for bag in bags])[trees]).astype(np.int64)
        return trees, np.array([bags[t].rows[place] for t, place in zip(trees, places, strict=True)])

    return chosen_nodes(tree, check.cost, check.facts.n_rows, starts, check.columns, most_nodes, MOST_VALUES)


def replay_claim(check: TreeCheck, chosen: Chosen, n_nodes: int, most_columns: int | None = None) -> Claim:
    """Claim that none of the nodes looked at again is wrong, and say what that proves about all of them."""
    faults = check.faults(chosen.nodes, most_columns) if len(chosen.nodes) else []
    proves = "all that could be something else"
    if not chosen.are_all:
        share = most_wrong(chosen.n_ways)
        proves = (
            f"at most {share:.2g} of the rows pass a wrong one at 99 % confidence"
            if chosen.n_ways
            else "in the column of its split, and no more at the fit"
        )
    among = f"; each split is the best among the edges of at most {MOST_BINS} bins a column"
    statement = f"wrong nodes of {len(chosen.nodes)} replayed, of {n_nodes}: {proves}{among * check.rules.in_bins}"
    remedy = f"{REFIT} First fault: {faults[0]}." if faults else REFIT
    return Claim("splits", statement, float(len(faults)), 0.0, remedy)


def spot_claim(check: TreeCheck, n_nodes: int) -> Claim:
    """Return what a fit claims at once: that a small split, drawn at random, is right in its column."""
    small = np.flatnonzero(~check.tree.is_leaf & (check.tree.n_node_samples <= FEW_ROWS))
    nodes = small[drawn(len(small), AT_FIT)] if len(small) else np.array([0])
    return replay_claim(check, Chosen(nodes, 0, False), n_nodes, most_columns=1)


def prove_pruned_tree(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of a tree that was grown on these data, and may have lost branches since."""
    grown = getattr(fitted, "grown_", None)
    if grown is None:  # nothing was cut
        return prove_decision_tree(fitted, parameters, data)
    seen = type(fitted)(**{**vars(fitted), "trees_": grown})
    if fitted.pruned_before_:
        found = _splits_alone(prove_decision_tree(seen, parameters, data, replays=False), seen, parameters, data)
    else:
        found = prove_decision_tree(seen, parameters, data)
    if found.failed:
        return found
    reasons = [TWICE] if fitted.pruned_before_ else []
    errors = np.asarray(fitted.node_errors_)
    if fitted.confidence_ is None:
        reasons.append(VALIDATED)
    else:
        errors = expected_errors(grown, float(fitted.confidence_))
    return Certificate("replayed", (*found.claims, cuts_claim(fitted.trees_, grown, errors, data)), " ".join(reasons))


def _splits_alone(found: Certificate, fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate with the splits of inner nodes looked at again: its leaves need not have been leaves."""
    if found.failed:
        return found
    check = _check(fitted, parameters, tree_rows(fitted, parameters, data), ccp_alpha=0.0)
    chosen = nodes_to_replay(check, MOST_REPLAYED)
    inner = chosen.nodes[~check.tree.is_leaf[chosen.nodes]]
    return found.with_claims(replay_claim(check, chosen._replace(nodes=inner), check.tree.n_nodes))


def expected_errors(tree: Any, confidence: float) -> Array:
    r"""Return :math:`N p` for each node, with P(at most E of N wrong | p) equal to the confidence."""
    counts = tree.weighted_n_node_samples
    wrong = np.minimum(np.round(counts * (1.0 - tree.value[:, 0].max(axis=1)), 9), counts)
    right = np.maximum(counts - wrong, np.finfo(float).tiny)
    return np.where(wrong >= counts, counts, counts * betaincinv(wrong + 1.0, right, 1.0 - confidence))


def cuts_claim(pruned: Any, grown: Any, errors: Array, data: TrainingData) -> Claim:
    """Claim that the tree is the grown one without the branches that make no fewer errors than a leaf."""
    statement = "nodes that differ from those of the grown tree after the cuts that its errors ask for"
    suits = errors.shape == (len(grown.feature),) and bool(np.isfinite(errors).all())
    if not suits or fault_of_trees(pruned, data.X.shape[1]) or pruned.value.shape[1:] != grown.value.shape[1:]:
        return Claim("cuts", statement, float(len(grown.feature)), 0.0, REFIT)
    is_leaf = _cut_again(grown, errors)
    return Claim("cuts", statement, float(_differences(pruned, grown, is_leaf)), 0.0, REFIT)


def _cut_again(grown: Any, errors: Array) -> Array:
    """Return which nodes are leaves once branches are cut; children stand behind their parents."""
    is_leaf, least = grown.children_left == LEAF, np.array(errors, dtype=np.float64)
    rounding = sum_error(len(errors)) * float(np.abs(errors).max())
    for v in range(len(errors) - 1, -1, -1):
        if not is_leaf[v]:
            branch = least[grown.children_left[v]] + least[grown.children_right[v]]
            is_leaf[v] = errors[v] <= branch + rounding
            least[v] = errors[v] if is_leaf[v] else branch
    return is_leaf


def _differences(pruned: Any, grown: Any, is_leaf: Array) -> int:
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


def _set_of(tree: Any, v: int) -> Array:
    row = int(tree.category_row[v])
    return tree.left_categories[row] if row >= 0 else np.empty(0)


PROVES = {
    "DecisionTreeClassifier": prove_decision_tree,
    "DecisionTreeRegressor": prove_decision_tree,
    "PrunedTreeClassifier": prove_pruned_tree,
    "PrunedTreeRegressor": prove_pruned_tree,
}
