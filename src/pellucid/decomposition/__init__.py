"""Decompositions: few directions that hold most of the data."""

from pellucid.core.public_names import name_finder
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.decomposition.pca.pca import PCA
from pellucid.decomposition.truncated_svd.truncated_svd import TruncatedSVD

__all__ = ["PCA", "KernelPCA", "TruncatedSVD"]

__getattr__ = name_finder(__name__)
