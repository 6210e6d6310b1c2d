"""Discriminant analysis: Gaussian classes with one covariance or one each."""

from pellucid.discriminant_analysis.linear_discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.discriminant_analysis.quadratic_discriminant_analysis import QuadraticDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
