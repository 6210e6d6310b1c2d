"""Clustering: rows that belong together."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.cluster.agglomerative.agglomerative_clustering import AgglomerativeClustering
    from pellucid.cluster.choosing.choose_clusters import choose_clusters
    from pellucid.cluster.diana.diana import Diana
    from pellucid.cluster.exhaustive import exhaustive_clustering
    from pellucid.cluster.kmeans.kmeans import KMeans, k_means, kmeans_plusplus
    from pellucid.cluster.kmeans.minibatch_kmeans import MiniBatchKMeans
    from pellucid.cluster.kmedians import KMedians
    from pellucid.cluster.kmedoids.kmedoids import KMedoids
    from pellucid.cluster.silhouette import silhouette_samples, silhouette_score
    from pellucid.cluster.soft_kmeans import SoftKMeans
    from pellucid.cluster.spectral.spectral_clustering import SpectralClustering, spectral_clustering

__all__ = [
    "AgglomerativeClustering",
    "Diana",
    "KMeans",
    "KMedians",
    "KMedoids",
    "MiniBatchKMeans",
    "SoftKMeans",
    "SpectralClustering",
    "choose_clusters",
    "exhaustive_clustering",
    "k_means",
    "kmeans_plusplus",
    "silhouette_samples",
    "silhouette_score",
    "spectral_clustering",
]

__getattr__ = name_finder(__name__)
