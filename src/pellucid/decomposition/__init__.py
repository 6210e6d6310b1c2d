"""Decompositions: few directions that hold most of the data."""

from pellucid.core.public_names import name_finder
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.decomposition.nmf.nmf import NMF
from pellucid.decomposition.nmf.nmf_functions import non_negative_factorization

__all__ = ["NMF", "KernelPCA", "non_negative_factorization"]

__getattr__ = name_finder(__name__)
