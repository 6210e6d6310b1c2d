"""Decompositions: few directions that hold most of the data."""

from pellucid.core.public_names import name_finder
from pellucid.decomposition.alternating.alternating_least_squares import AlternatingLeastSquares
from pellucid.decomposition.ica.fast_ica import FastICA
from pellucid.decomposition.ica.fast_ica_functions import fastica
from pellucid.decomposition.ica.match_sources import match_sources
from pellucid.decomposition.ica.spacings import multi_information
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.decomposition.nmf.nmf import NMF
from pellucid.decomposition.nmf.nmf_functions import non_negative_factorization

__all__ = [
    "NMF",
    "AlternatingLeastSquares",
    "FastICA",
    "KernelPCA",
    "fastica",
    "match_sources",
    "multi_information",
    "non_negative_factorization",
]

__getattr__ = name_finder(__name__)
