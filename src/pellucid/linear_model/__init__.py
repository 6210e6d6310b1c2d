"""Linear models for regression, and classification by regression."""

from pellucid.linear_model.linear_regression import LinearRegression
from pellucid.linear_model.ridge import Ridge
from pellucid.linear_model.ridge_classifier import RidgeClassifier
from pellucid.linear_model.ridge_cv import RidgeCV

__all__ = ["LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier"]
