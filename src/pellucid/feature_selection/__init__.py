"""Feature selection: which columns to keep."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.feature_selection.filters.mrmr import MRMR
    from pellucid.feature_selection.filters.select_top import SelectTop
    from pellucid.feature_selection.search.floating_selector import FloatingSelector
    from pellucid.feature_selection.search.sequential_feature_selector import SequentialFeatureSelector

__all__ = ["MRMR", "FloatingSelector", "SelectTop", "SequentialFeatureSelector"]

__getattr__ = name_finder(__name__)
