"""Method cards of pruned trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.tree.decision_tree.decision_tree_card import CARDS as GROWN
from pellucid.tree.pruning.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor
from pellucid.tree.pruning.pruned_tree_proof import prove_pruned_tree

SHARED: dict[str, Any] = {"topics": ("TRE-3",), "prove": prove_pruned_tree, "tests": ("test_pruning",), "variants": ()}

CARDS = tuple(
    replace(card, estimator=pruned, **SHARED)
    for card, pruned in zip(GROWN, (PrunedTreeClassifier, PrunedTreeRegressor), strict=True)
)
