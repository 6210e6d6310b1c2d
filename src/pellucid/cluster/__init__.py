"""Clustering: rows that belong together."""

from pellucid.cluster.kmeans import KMeans
from pellucid.cluster.silhouette import silhouette_samples, silhouette_score
from pellucid.core.public_names import name_finder

__all__ = ["KMeans", "silhouette_samples", "silhouette_score"]

__getattr__ = name_finder(__name__)
