r"""What the decision trees claim, and the proof of it from the data alone.

Every training row is sent down the tree. That gives for each node its rows, and from these its weight, its value, its
impurity, the two values its threshold must lie halfway between, and whether it had to be split or to be a leaf. Then
nodes are looked at again: in a small tree all that could be something else; in a large one the first nodes, leaves that
could have been split, and every node on the way of rows that are drawn at random. If none is wrong on the ways of k
rows, then with 99 % confidence at most a share :math:`1 - 0.01^{1/k}` of the rows comes by a wrong node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import drawn, draws, most_wrong
from pellucid.tree.chosen_nodes import Chosen, chosen_nodes
from pellucid.tree.decision_tree.growth_rules import columns_drawn, growth_rules
from pellucid.tree.decision_tree.tree_check import REFIT, Bag, TreeCheck
from pellucid.tree.decision_tree.tree_data import TreeData
from pellucid.tree.packed_trees import PackedTrees

MOST_REPLAYED = 600
MOST_VALUES = 1e7
"""Nodes looked at again, and numbers sorted for it, about at most."""
AT_FIT = 1
FEW_ROWS = 1 << 13
"""Nodes that a fit looks at again, in one column each, and the rows of one, at most: a fit to few rows takes no longer
than that."""
LARGEST_SEED = 2**31 - 1


def prove_decision_tree(fitted: Any, parameters: Any, data: TreeData, *, replays: bool = True) -> Certificate:
    """Return the certificate of a single tree; without replays, of what all nodes must say."""
    n_features = data.X.shape[1]
    claims = [record_claim(fitted, parameters, data), structure_claim(fitted.trees_, n_features, 1)]
    if not all(claim.holds for claim in claims):
        return Certificate("replayed", tuple(claims))
    rules = growth_rules(parameters, data.X.shape[0], n_features, float(data.weights.sum()), data.is_category)
    bag = Bag(np.arange(data.X.shape[0]), data.weights, int(fitted.seed_), rules.min_weight)
    check = TreeCheck.of(fitted.trees_, data, [bag], rules, parameters.ccp_alpha)
    claims += check.claims()
    if replays:
        claims.append(replay_claim(check, nodes_to_replay(check, MOST_REPLAYED), fitted.trees_.n_nodes))
    return Certificate("replayed", tuple(claims))


def record_claim(fitted: Any, parameters: Any, data: TreeData) -> Claim:
    """Claim that labels, categories, columns and seed of the model follow from data and parameters."""
    wrong = 0
    if data.label_sets:
        several = len(data.label_sets) > 1
        labels = fitted.classes_ if several else [fitted.classes_]
        counts = fitted.n_classes_ if several else [fitted.n_classes_]
        wrong += [len(found) for found in labels] != [int(count) for count in counts]
        wrong += not _same_labels(labels, data)
    wrong += int(fitted.n_outputs_) != data.target.n_outputs
    wrong += not _same_categories(tuple(fitted.categories_), data.categories)
    if hasattr(fitted, "max_features_"):
        wrong += fitted.max_features_ != columns_drawn(parameters.max_features, data.X.shape[1])
    if hasattr(fitted, "seed_") and isinstance(parameters.random_state, (int, np.integer)):
        wrong += fitted.seed_ != int(check_random_state(parameters.random_state).randint(LARGEST_SEED))
    statement = "of labels, categories, outputs, columns and seed, how many do not follow from data and parameters"
    return Claim("record", statement, float(wrong), 0.0, REFIT)


def _same_labels(labels: Any, data: TreeData) -> bool:
    """Return whether the stored labels are those of the given target, rows of weight 0 included."""
    given = np.asarray(data.given[1])
    columns = given.reshape(len(given), -1).T
    return len(labels) == len(columns) and all(
        np.array_equal(np.unique(column), np.asarray(found)) for column, found in zip(columns, labels, strict=True)
    )


def _same_categories(stored: tuple[Any, ...], found: tuple[Any, ...]) -> bool:
    if len(stored) != len(found):
        return False
    return all(
        one is other is None or (one is not None and other is not None and np.array_equal(one, other))
        for one, other in zip(stored, found, strict=True)
    )


def structure_claim(trees: PackedTrees, n_features: int, n_trees: int) -> Claim:
    """Claim that the arrays are binary trees: in range, without circles, every node reached."""
    fault = trees.fault(n_features) or (None if trees.n_trees == n_trees else f"there are {trees.n_trees} trees")
    statement = "structure of the tree" if fault is None else fault
    return Claim("structure", statement, float(fault is not None), 0.0, REFIT)


def nodes_to_replay(check: TreeCheck, most_nodes: int) -> Chosen:
    """Return the nodes to look at again."""
    bags, tree = check.bags, check.tree

    def starts(count: int) -> tuple[Array, Array]:
        trees = draws().integers(tree.n_trees, size=count)
        return trees, np.array([draws().choice(bags[t].rows) for t in trees])

    return chosen_nodes(tree, check.cost, check.facts.n_rows, starts, check.columns, most_nodes, MOST_VALUES)


def replay_claim(check: TreeCheck, chosen: Chosen, n_nodes: int, most_columns: int | None = None) -> Claim:
    """Claim that none of the nodes looked at again is wrong, and say what that proves about all of them."""
    faults = [fault for v in chosen.nodes.tolist() if (fault := check.replay(v, most_columns))]
    proves = "all that could be something else"
    if not chosen.are_all:
        share = most_wrong(chosen.n_ways)
        proves = (
            f"at most {share:.2g} of the rows pass a wrong one at 99 % confidence"
            if chosen.n_ways
            else "in the column of its split, and no more at the fit"
        )
    statement = f"wrong nodes of {len(chosen.nodes)} replayed, of {n_nodes}: {proves}"
    remedy = f"{REFIT} First fault: {faults[0]}." if faults else REFIT
    return Claim("splits", statement, float(len(faults)), 0.0, remedy)


def fit_claims(check: TreeCheck, n_nodes: int, n_features: int) -> tuple[Claim, ...]:
    """Return what a fit claims at once: the structure of all trees, and a small split replayed."""
    structure = structure_claim(check.tree, n_features, check.tree.n_trees)
    small = np.flatnonzero(~check.tree.is_leaf & (check.tree.n_node_samples <= FEW_ROWS))
    nodes = small[drawn(len(small), AT_FIT)] if len(small) else np.array([0])
    return structure, replay_claim(check, Chosen(nodes, 0, False), n_nodes, most_columns=1)
