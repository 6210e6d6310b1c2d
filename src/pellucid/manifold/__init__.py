"""Manifolds: maps of the rows in few dimensions that keep distances or neighbors."""

from pellucid.core.public_names import name_finder
from pellucid.manifold.classical_mds.classical_mds import ClassicalMDS
from pellucid.manifold.embedding_quality import EmbeddingQuality, embedding_quality
from pellucid.manifold.isomap.isomap import Isomap

__all__ = ["ClassicalMDS", "EmbeddingQuality", "Isomap", "embedding_quality"]

__getattr__ = name_finder(__name__)
