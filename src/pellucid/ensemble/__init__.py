"""Ensembles: many models, one answer."""

from pellucid.core.public_names import name_finder
from pellucid.ensemble.random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]

__getattr__ = name_finder(__name__)
