"""Trees: rules learned one split at a time."""

from pellucid.core.public_names import name_finder
from pellucid.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]

__getattr__ = name_finder(__name__)
