"""Feature selection: which columns to keep."""

from pellucid.core.public_names import name_finder
from pellucid.feature_selection.filters.mrmr import MRMR
from pellucid.feature_selection.filters.select_top import SelectTop
from pellucid.feature_selection.search.floating_selector import FloatingSelector
from pellucid.feature_selection.search.sequential_feature_selector import SequentialFeatureSelector

__all__ = ["MRMR", "FloatingSelector", "SelectTop", "SequentialFeatureSelector"]

__getattr__ = name_finder(__name__)
