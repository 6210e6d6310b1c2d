"""From the parameters of a machine to its kernel."""

from __future__ import annotations

from typing import Any

from pellucid.kernels.choice import gamma_from, is_given, kernel_from
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData


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
