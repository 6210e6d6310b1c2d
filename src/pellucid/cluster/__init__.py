"""Clustering: rows that belong together."""

from pellucid.cluster.agglomerative.agglomerative_clustering import AgglomerativeClustering
from pellucid.cluster.diana.diana import Diana
from pellucid.cluster.kmeans import KMeans
from pellucid.cluster.kmedoids.kmedoids import KMedoids
from pellucid.core.public_names import name_finder

__all__ = ["AgglomerativeClustering", "Diana", "KMeans", "KMedoids"]

__getattr__ = name_finder(__name__)
