"""Trees: rules learned one split at a time."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.tree.decision_tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
    from pellucid.tree.explaining.rules_in_words import explain_path, rules
    from pellucid.tree.explaining.shapley import ShapleyValues, shapley_values
    from pellucid.tree.id3.id3_classifier import ID3Classifier
    from pellucid.tree.optimal_tree.optimal_tree_classifier import OptimalTreeClassifier, greedy_gap
    from pellucid.tree.pruning.pruned_tree import (
        PrunedTreeClassifier,
        PrunedTreeRegressor,
        prune_pessimistic,
        prune_reduced_error,
    )
    from pellucid.tree.pruning.pruning_cross_validation import prune_by_cross_validation

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ID3Classifier",
    "OptimalTreeClassifier",
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "ShapleyValues",
    "explain_path",
    "greedy_gap",
    "prune_by_cross_validation",
    "prune_pessimistic",
    "prune_reduced_error",
    "rules",
    "shapley_values",
]

__getattr__ = name_finder(__name__)
