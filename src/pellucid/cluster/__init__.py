"""Clustering: rows that belong together."""

from pellucid.cluster.kmeans import KMeans
from pellucid.core.public_names import name_finder

__all__ = ["KMeans"]

__getattr__ = name_finder(__name__)
