"""Ensembles: many models, one answer."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.ensemble.ada_boost.ada_boost_classifier import AdaBoostClassifier
    from pellucid.ensemble.bagging.bagging import BaggingClassifier, BaggingRegressor
    from pellucid.ensemble.blend.blend import BlendClassifier, BlendRegressor
    from pellucid.ensemble.hist_gradient_boosting.hist_gradient_boosting import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )
    from pellucid.ensemble.random_forest.random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendClassifier",
    "BlendRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]

__getattr__ = name_finder(__name__)
