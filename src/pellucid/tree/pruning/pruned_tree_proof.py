"""Proof of a pruned tree: all that is claimed of a grown one, except that its leaves had to be leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate
from pellucid.tree.decision_tree.decision_tree_proof import (
    MOST_REPLAYED,
    nodes_to_replay,
    record_claim,
    replay_claim,
    structure_claim,
)
from pellucid.tree.decision_tree.growth_rules import growth_rules
from pellucid.tree.decision_tree.tree_check import Bag, TreeCheck
from pellucid.tree.decision_tree.tree_data import TreeData

REASON = "Branches may have been cut: which leaves there are is not proved, the splits that are left are."


def prove_pruned_tree(fitted: Any, parameters: Any, data: TreeData) -> Certificate:
    """Return the certificate of a tree that was grown on these data and may have lost branches."""
    n_features = data.X.shape[1]
    claims = [record_claim(fitted, parameters, data), structure_claim(fitted.trees_, n_features, 1)]
    if not all(claim.holds for claim in claims):
        return Certificate("replayed", tuple(claims))
    rules = growth_rules(parameters, data.X.shape[0], n_features, float(data.weights.sum()), data.is_category)
    bag = Bag(np.arange(data.X.shape[0]), data.weights, int(fitted.seed_), rules.min_weight)
    check = TreeCheck.of(fitted.trees_, data, [bag], rules)
    claims += check.claims()
    is_leaf = fitted.trees_.is_leaf
    chosen = nodes_to_replay(check, MOST_REPLAYED)
    inner = chosen.nodes[~is_leaf[chosen.nodes]]
    if len(inner):
        claims.append(replay_claim(check, chosen._replace(nodes=inner), int((~is_leaf).sum())))
    return Certificate("replayed", tuple(claims), REASON)
