"""Manifolds: maps of the rows in few dimensions that keep distances or neighbors."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.manifold.classical_mds.classical_mds import ClassicalMDS
    from pellucid.manifold.isomap.isomap import Isomap
    from pellucid.manifold.locally_linear.locally_linear_embedding import (
        LocallyLinearEmbedding,
        locally_linear_embedding,
    )
    from pellucid.manifold.map_quality import EmbeddingQuality, embedding_quality
    from pellucid.manifold.mds.mds import MDS, smacof
    from pellucid.manifold.sammon.sammon_mapping import SammonMapping
    from pellucid.manifold.spectral.spectral_embedding import SpectralEmbedding, spectral_embedding
    from pellucid.manifold.tsne.tsne import TSNE

__all__ = [
    "MDS",
    "TSNE",
    "ClassicalMDS",
    "EmbeddingQuality",
    "Isomap",
    "LocallyLinearEmbedding",
    "SammonMapping",
    "SpectralEmbedding",
    "embedding_quality",
    "locally_linear_embedding",
    "smacof",
    "spectral_embedding",
]

__getattr__ = name_finder(__name__)
