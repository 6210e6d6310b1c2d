"""What data a kernel machine takes: rows, products of all rows, or whatever a function of the user's understands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples, check_consistent_length

from pellucid.core.types import Array, Data
from pellucid.kernels.choice import ProductRules, gamma_from, is_given, kernel_from
from pellucid.kernels.functions import check_products, check_symmetric
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class MachineRules(ProductRules):
    """Rules for rows, for products, or for data that only a function can read; the last become products.

    Of products, rows and columns of weight 0 are both gone, so that they are square.
    """

    function: Any = None

    def check(
        self,
        estimator: Any,
        X: Data,
        y: Data = None,
        sample_weight: Data | None = None,
        *,
        reset: bool = True,
        classes: Array | None = None,
    ) -> TrainingData:
        """Return the training data."""
        is_function = self.function is not None
        if is_function:
            check_consistent_length(X, y)
            X = check_symmetric(function_products(self.function, X, X))
        elif self.products and sparse.issparse(X):
            raise TypeError("X must be dense, got a sparse matrix: Sparse precomputed kernels are not supported.")
        data = super().check(estimator, X, y, sample_weight, reset=reset, classes=classes)
        if is_function:  # the columns are rows of the user's data, not features
            vars(estimator).pop("n_features_in_", None)
        return data if data.kept is None or not self.products else replace(data, X=data.X[:, data.kept])


def function_products(function: Any, X: Data, others: Data) -> Array:
    """Return what a function says of whole data sets, checked; it may take data that are no arrays."""
    found = function(X, others)
    products = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64, order="C")
    wanted = (_num_samples(X), _num_samples(others))
    if products.shape != wanted:
        raise ValueError(
            f"kernel must return a matrix of shape {wanted} for {wanted[0]} and {wanted[1]} rows, got shape "
            f"{products.shape}."
        )
    check_products(products)
    return products


def matrix_function(kernel: Any) -> Any:
    """Return the kernel if it is a plain function of two matrices, None for names and kernel objects."""
    return kernel if callable(kernel) and not isinstance(kernel, Kernel) else None


def has_products(kernel: Any) -> bool:
    """Return whether the training data are products in the end, given or from a function."""
    return matrix_function(kernel) is not None or is_given(kernel)


def machine_kernel(parameters: Any, gamma: float) -> Kernel:
    """Return the kernel of the parameters; a function of matrices has been applied when the machine sees its data."""
    kernel = parameters.kernel if matrix_function(parameters.kernel) is None else "precomputed"
    return kernel_from(kernel, gamma=gamma, degree=parameters.degree, coef0=float(parameters.coef0))


def machine_gamma(parameters: Any, data: TrainingData) -> float:
    """Return the factor that ``gamma`` means for these data; 0 where the kernel is not one of scikit-learn's names."""
    if has_products(parameters.kernel) or not isinstance(parameters.kernel, str):
        return 0.0
    return gamma_from(parameters.gamma, data.X, data.weights)
