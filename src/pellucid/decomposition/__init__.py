"""Decompositions: few directions that hold most of the data."""

from pellucid.core.public_names import name_finder
from pellucid.decomposition.kernel_pca import KernelPCA

__all__ = ["KernelPCA"]

__getattr__ = name_finder(__name__)
