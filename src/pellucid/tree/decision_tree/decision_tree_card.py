"""Method cards of the decision trees."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.kinds.plain import OneOf, Whole
from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.decision_tree.growth_rules import CLASS_CRITERIA, NUMBER_CRITERIA
from pellucid.tree.decision_tree.tree_data import rules_for_blocks
from pellucid.tree.tree_kinds import GROWN, GROWTH, LABELED, SEVERAL_CLASS_WEIGHTS

SHARED: dict[str, Any] = {
    "topics": ("TRE-2",),
    "input": rules_for_blocks,
    "tests": ("test_decision_tree",),
}
FITTED = {**GROWN, "max_features_": Whole(low=1), "seed_": Whole(low=0)}
SPLITTER = OneOf(("best", "random"))

MEANING = "each question was the best at its place; another tree as a whole may still fit better"

CARDS = (
    MethodCard(
        DecisionTreeClassifier,
        onnx="pellucid.tree.trees_in_onnx:classifier",
        **SHARED,
        workings="pellucid.tree.decision_tree.cart_workings:classifier_workings",
        parameters={
            "criterion": OneOf(CLASS_CRITERIA),
            "splitter": SPLITTER,
            **GROWTH,
            "class_weight": SEVERAL_CLASS_WEIGHTS,
        },
        attributes={**FITTED, **LABELED},
        variants=(
            {"criterion": "entropy", "max_leaf_nodes": 5},
            {"splitter": "random", "max_features": 2, "min_samples_leaf": 2},
            {"criterion": "gain_ratio", "ccp_alpha": 0.02, "class_weight": "balanced"},
        ),
        meaning=MEANING,
        take_for="rules that a person can read and follow; for the least error take a forest or boosting",
        references=("Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, Wadsworth 1984",),
    ),
    MethodCard(
        DecisionTreeRegressor,
        onnx="pellucid.tree.trees_in_onnx:regressor",
        **SHARED,
        workings="pellucid.tree.decision_tree.cart_workings:regressor_workings",
        parameters={"criterion": OneOf(NUMBER_CRITERIA), "splitter": SPLITTER, **GROWTH},
        attributes=FITTED,
        variants=(
            {"criterion": "absolute_error", "max_depth": 3},
            {"max_features": 2, "monotonic_cst": [1, 0, 0, 0]},
        ),
        meaning=MEANING,
        take_for="rules that a person can read and follow; for the least error take a forest or boosting",
        references=("Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, Wadsworth 1984",),
    ),
)
