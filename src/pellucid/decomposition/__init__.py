"""Decompositions: few directions that hold most of the data."""

from pellucid.core.public_names import name_finder
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.decomposition.pca.pca import PCA
from pellucid.decomposition.pca.pca_per_class import pca_per_class
from pellucid.decomposition.svd.svd import SVD
from pellucid.decomposition.truncated_svd.truncated_svd import TruncatedSVD

__all__ = ["PCA", "SVD", "KernelPCA", "TruncatedSVD", "pca_per_class"]

__getattr__ = name_finder(__name__)
