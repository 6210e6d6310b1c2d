"""Decompositions: few directions that hold most of the data."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.decomposition.alternating.alternating_least_squares import AlternatingLeastSquares
    from pellucid.decomposition.factor_analysis.factor_analysis import FactorAnalysis
    from pellucid.decomposition.feature_embedding.feature_embedding import FeatureEmbedding
    from pellucid.decomposition.ica.fast_ica import FastICA, fastica
    from pellucid.decomposition.ica.match_sources import match_sources
    from pellucid.decomposition.ica.spacings import multi_information
    from pellucid.decomposition.kernel_pca import KernelPCA
    from pellucid.decomposition.nmf.nmf import NMF, non_negative_factorization
    from pellucid.decomposition.pca.pca import PCA, pca_per_class
    from pellucid.decomposition.svd.svd import SVD
    from pellucid.decomposition.svd.truncated_svd import TruncatedSVD

__all__ = [
    "NMF",
    "PCA",
    "SVD",
    "AlternatingLeastSquares",
    "FactorAnalysis",
    "FastICA",
    "FeatureEmbedding",
    "KernelPCA",
    "TruncatedSVD",
    "fastica",
    "match_sources",
    "multi_information",
    "non_negative_factorization",
    "pca_per_class",
]

__getattr__ = name_finder(__name__)
