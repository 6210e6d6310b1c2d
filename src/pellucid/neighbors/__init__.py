"""Neighbors: predictions from the nearest training rows."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.neighbors.k_neighbors_classifier import KNeighborsClassifier
    from pellucid.neighbors.k_neighbors_regressor import KNeighborsRegressor
    from pellucid.neighbors.metric import Similarity
    from pellucid.neighbors.nearest_centroid import NearestCentroid

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor", "NearestCentroid", "Similarity"]

__getattr__ = name_finder(__name__)
