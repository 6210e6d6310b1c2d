"""Trees: rules learned one split at a time."""

from pellucid.core.public_names import name_finder
from pellucid.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree.id3_classifier import ID3Classifier
from pellucid.tree.optimal_tree_classifier import OptimalTreeClassifier
from pellucid.tree.optimal_tree_gap import greedy_gap
from pellucid.tree.rules_in_words import explain_path, rules
from pellucid.tree.shapley import ShapleyValues, shapley_values

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ID3Classifier",
    "OptimalTreeClassifier",
    "ShapleyValues",
    "explain_path",
    "greedy_gap",
    "rules",
    "shapley_values",
]

__getattr__ = name_finder(__name__)
