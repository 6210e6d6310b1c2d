"""From what a user writes for ``kernel=`` and ``gamma=`` to a kernel, and rules for given products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.input_rules import InputRules
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.kernels.formulas import RBF, AdditiveChi2, Chi2, Cosine, Laplacian, Linear, Polynomial, Sigmoid
from pellucid.kernels.functions import (
    GivenKernel,
    MatrixFunction,
    RowFunction,
    check_symmetric,
    check_symmetric_entries,
)
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData

BY_NAME: dict[str, Callable[[float, float, float], Kernel]] = {
    "linear": lambda _gamma, _degree, _coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree, coef0, gamma),
    "rbf": lambda gamma, _degree, _coef0: RBF(gamma),
    "sigmoid": lambda gamma, _degree, coef0: Sigmoid(gamma, coef0),
    "laplacian": lambda gamma, _degree, _coef0: Laplacian(gamma),
    "precomputed": lambda _gamma, _degree, _coef0: GivenKernel(),
    "polynomial": lambda gamma, degree, coef0: Polynomial(degree, coef0, gamma),
    "cosine": lambda _gamma, _degree, _coef0: Cosine(),
    "chi2": lambda gamma, _degree, _coef0: Chi2(gamma),
    "additive_chi2": lambda _gamma, _degree, _coef0: AdditiveChi2(),
}
"""The names of scikit-learn -> what makes the kernel of gamma, degree and coef0."""

PROCESS_KERNELS = "sklearn.gaussian_process.kernels"
"""Where scikit-learn has the kernels of Gaussian processes, which are functions of matrices wherever they are given."""

KERNEL_NAMES = ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")
"""The names that every kernel machine takes."""


def kernel_from(
    kernel: str | Kernel | Callable[..., Any],
    *,
    gamma: float = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
    of_matrices: bool = False,
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """Return the kernel of this name in scikit-learn, 'precomputed' among them, or of this function.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name; a kernel, which stays as it is and has its own parameters; or a function of two rows that returns
        a number.
    gamma, degree, coef0 : float, default=1.0, 3, 0.0
        Factor, power and constant of the named kernels that have them.
    of_matrices : bool, default=False
        Whether a function takes two matrices and returns the products of their rows, as the kernels of scikit-learn's
        Gaussian processes always do.
    params : mapping of names to values, default=None
        Keywords for a function of two rows.

    Examples
    --------
    >>> kernel_from("rbf", gamma=0.5)
    RBF(gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        of_matrices = of_matrices or any(one.__module__ == PROCESS_KERNELS for one in type(kernel).__mro__)
        return MatrixFunction(kernel) if of_matrices else RowFunction(kernel, tuple((params or {}).items()))
    if kernel not in BY_NAME:
        raise ValueError(f"kernel must be one of {tuple(BY_NAME)}, a kernel object or a function, got {kernel!r}.")
    return BY_NAME[kernel](gamma, degree, coef0)


def pairwise_kernel(parameters: Any, n_features: int) -> Kernel:
    """Return the kernel that ``kernel``, ``gamma``, ``degree``, ``coef0`` and ``kernel_params`` mean.

    As for scikit-learn's ``pairwise_kernels``: a ``gamma`` of None is one over the number of columns, 1 for 'chi2'.
    """
    gamma = parameters.gamma
    if gamma is None:
        gamma = 1.0 if isinstance(parameters.kernel, str) and parameters.kernel == "chi2" else 1.0 / n_features
    return kernel_from(
        parameters.kernel,
        gamma=gamma,
        degree=parameters.degree,
        coef0=parameters.coef0,
        params=parameters.kernel_params,
    )


def is_given(kernel: Any) -> bool:
    """Return whether a parameter ``kernel`` says that ``X`` holds products instead of rows."""
    return kernel.is_given if isinstance(kernel, Kernel) else isinstance(kernel, str) and kernel == "precomputed"


def gamma_from(gamma: Any, X: SparseOrDense, weight: Array | None = None) -> float:
    """Return the number that a parameter ``gamma`` means for given rows.

    Parameters
    ----------
    gamma : {'scale', 'auto'}, float or None
        'auto' and None are one over the number of columns; 'scale' is that over the variance of all entries, or 1 if
        they are all equal; a number is itself.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    weight : array of shape (n_samples,), default=None
        How often each row counts for 'scale'; None is once.
    """
    if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
        return 1.0 / X.shape[1]
    if isinstance(gamma, str) and gamma == "scale":
        return scale_gamma(X, np.ones(X.shape[0]) if weight is None else weight)
    return float(gamma)


def scale_gamma(X: SparseOrDense, weight: Array) -> float:
    """Return one over the number of columns times the variance of all entries; 1 if that is no number."""
    columns = X.shape[1]
    total = float(weight.sum()) * columns
    mean = float((weight @ X).sum()) / total
    if hasattr(X, "tocsr"):
        variance = float(np.sum(weight @ X.multiply(X))) / total - mean**2
    else:
        variance = float((weight @ (X - mean) ** 2).sum()) / total
    return 1.0 / (columns * variance) if columns * variance >= TINY else 1.0


@dataclass(frozen=True)
class ProductRules(InputRules):
    """Rules for rows, or for the products of all rows with each other: those are square and symmetric.

    A row of weight 0 is gone, but not its column: ``data.kept`` numbers the columns of the rows that are left.
    """

    products: bool = False
    symmetric: bool = True
    """Whether given products must be; False where only what is left after centering must be."""

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data."""
        data = super().check(estimator, X, *args, **options)
        if not self.products:
            return data
        rows, columns = data.given[0].shape
        if rows != columns:
            raise ValueError(
                "X must be square if it holds the products of the rows (precomputed kernel matrix must be a square "
                f"matrix), got shape {(rows, columns)}."
            )
        if not self.symmetric:
            return data
        if sparse.issparse(data.given[0]):
            check_symmetric_entries(data.given[0])
            return data
        whole = check_symmetric(data.given[0])
        return data if whole is data.given[0] else replace(data, X=whole if data.kept is None else whole[data.kept])
