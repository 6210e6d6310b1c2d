"""Method cards of pruned trees."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.plain import Nothing, Optional, Real
from pellucid.core.kinds.usual import FLAG
from pellucid.tree.decision_tree.decision_tree_card import CARDS as GROWN
from pellucid.tree.decision_tree.tree_data import rules_for_trees
from pellucid.tree.pruning.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor
from pellucid.tree.tree_kinds import Trees

CUT: dict[str, Any] = {
    "grown_": Optional(Trees()),
    "node_errors_": Optional(Numbers((None,), ("float64",))),
    "confidence_": Optional(Nothing() | Real()),
    "pruned_before_": Optional(FLAG),
}
"""What a tree keeps of its pruning, and lacks if it was only grown."""
SHARED: dict[str, Any] = {"topics": ("TRE-3",), "tests": ("test_pruning",)}


def _as_grown(card: MethodCard) -> dict[str, Any]:
    return {"parameters": card.parameters, "attributes": {**card.attributes, **CUT}, "input": rules_for_trees}


CARDS = (
    MethodCard(
        PrunedTreeClassifier,
        onnx="pellucid.tree.trees_in_onnx:classifier",
        **SHARED,
        **_as_grown(GROWN[0]),
        workings="pellucid.tree.decision_tree.cart_workings:classifier_workings",
        take_for="a tree that has grown too large for what its rows tell",
        references=(
            (
                "Mingers, An empirical comparison of pruning methods for decision tree induction, Machine "
                "Learning 4 (1989)"
            ),
        ),
    ),
    MethodCard(
        PrunedTreeRegressor,
        onnx="pellucid.tree.trees_in_onnx:regressor",
        **SHARED,
        **_as_grown(GROWN[1]),
        workings="pellucid.tree.decision_tree.cart_workings:regressor_workings",
        take_for="a tree that has grown too large for what its rows tell",
        references=(
            (
                "Mingers, An empirical comparison of pruning methods for decision tree induction, Machine "
                "Learning 4 (1989)"
            ),
        ),
    ),
)
