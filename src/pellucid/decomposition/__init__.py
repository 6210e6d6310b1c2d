"""Decompositions: few directions that hold most of the data."""

from pellucid.core.public_names import name_finder
from pellucid.decomposition.factor_analysis.factor_analysis import FactorAnalysis
from pellucid.decomposition.kernel_pca import KernelPCA

__all__ = ["FactorAnalysis", "KernelPCA"]

__getattr__ = name_finder(__name__)
