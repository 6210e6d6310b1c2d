"""A kernel with its parameters, evaluated in blocks: the products of rows in the space that the kernel stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from pellucid.core.types import Array

KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")
BLOCK = 1 << 21
"""Products computed in one go."""


@dataclass(frozen=True)
class KernelFunction:
    r"""``kernel`` is a name of scikit-learn's, 'precomputed', or a function of two rows; ``constant`` is added to all.

    A constant of 1 stands for an intercept: it is one more feature that is 1 in every row.
    """

    kernel: str | Callable[..., float]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    constant: float = 0.0

    def between(self, A: Any, B: Any) -> Array:
        """Return the products of the rows of two matrices; of given products, ``A``, the columns ``B``."""
        if self.kernel == "precomputed":
            return np.asarray(A[:, B], dtype=np.float64) + self.constant
        if callable(self.kernel):
            return np.asarray(pairwise_kernels(A, B, metric=self.kernel), dtype=np.float64) + self.constant
        how = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        products = pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **how)
        return np.asarray(products, dtype=np.float64) + self.constant

    def times(self, A: Any, B: Any, coef: Array) -> Array:
        """Return the products of the rows times ``coef`` of shape (n_rows of ``B``, ...), never all at once."""
        if coef.shape[0] == 0:
            return np.zeros((A.shape[0], *coef.shape[1:]))
        height = max(1, BLOCK // coef.shape[0])
        parts = [self.between(A[i : i + height], B) @ coef for i in range(0, A.shape[0], height)]
        return np.concatenate(parts)

    def squares(self, X: Any) -> Array:
        """Return the product of each row with itself."""
        if self.kernel == "precomputed":
            return np.asarray(X.diagonal(), dtype=np.float64) + self.constant
        height = 1 if callable(self.kernel) else 64
        blocks = [X[i : i + height] for i in range(0, X.shape[0], height)]
        return np.concatenate([self.between(block, block).diagonal() for block in blocks])


def scale_gamma(X: Any, weight: Array) -> float:
    """Return one over the number of columns times the variance of all entries; 1 if they are all the same."""
    columns = X.shape[1]
    total = float(weight.sum()) * columns
    mean = float(np.sum(weight @ X)) / total
    if hasattr(X, "tocsr"):
        variance = float(np.sum(weight @ X.multiply(X))) / total - mean**2
    else:
        variance = float(np.sum(weight @ (X - mean) ** 2)) / total
    return 1.0 / (columns * variance) if variance > 0.0 else 1.0
