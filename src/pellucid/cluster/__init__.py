"""Clustering: rows that belong together."""

from pellucid.cluster.kmeans import KMeans

__all__ = ["KMeans"]
