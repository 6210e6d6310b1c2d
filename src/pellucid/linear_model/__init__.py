"""Linear models for regression, and classification by regression."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.linear_model.bridge_regression import BridgeRegression
    from pellucid.linear_model.least_angle.lars import Lars, LassoLars, lars_path
    from pellucid.linear_model.least_squares.basis_expansion import BasisExpansion
    from pellucid.linear_model.least_squares.least_squares_descent import least_squares_gd, least_squares_sgd
    from pellucid.linear_model.least_squares.linear_regression import LinearRegression
    from pellucid.linear_model.logistic.logistic_descent import logistic_descent
    from pellucid.linear_model.logistic.logistic_regression import LogisticRegression
    from pellucid.linear_model.regression_discriminant import RegressionDiscriminant
    from pellucid.linear_model.ridge.ridge import Ridge
    from pellucid.linear_model.ridge.ridge_classifier import RidgeClassifier
    from pellucid.linear_model.ridge.ridge_cv import RidgeCV
    from pellucid.linear_model.ridge.ridge_error import ridge_error_split, shrinkage_factors
    from pellucid.linear_model.sgd.kernel_perceptron import KernelPerceptron
    from pellucid.linear_model.sgd.perceptron import Perceptron
    from pellucid.linear_model.sgd.sgd_classifier import SGDClassifier
    from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet, Lasso
    from pellucid.linear_model.sparse_regression.elastic_net_cv import ElasticNetCV, LassoCV
    from pellucid.linear_model.sparse_regression.enet_path import enet_path, lasso_path

__all__ = [
    "BasisExpansion",
    "BridgeRegression",
    "ElasticNet",
    "ElasticNetCV",
    "KernelPerceptron",
    "Lars",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LinearRegression",
    "LogisticRegression",
    "Perceptron",
    "RegressionDiscriminant",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "SGDClassifier",
    "enet_path",
    "lars_path",
    "lasso_path",
    "least_squares_gd",
    "least_squares_sgd",
    "logistic_descent",
    "ridge_error_split",
    "shrinkage_factors",
]

__getattr__ = name_finder(__name__)
