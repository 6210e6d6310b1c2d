"""Discriminant analysis: Gaussian classes with one covariance or one each."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.discriminant_analysis.linear_discriminant_analysis import LinearDiscriminantAnalysis
    from pellucid.discriminant_analysis.quadratic_discriminant_analysis import QuadraticDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]

__getattr__ = name_finder(__name__)
