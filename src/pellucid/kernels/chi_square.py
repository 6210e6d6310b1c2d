"""Kernels of histograms: rows without negative entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array
from pellucid.kernels.kernel import Kernel, keep


@dataclass(frozen=True)
class AdditiveChi2(Kernel):
    r""":math:`-\sum_j (x_j - z_j)^2 / (x_j + z_j)`, no inner product: its diagonal is 0."""

    positive = False

    def tile(self, X: Any, Z: Any) -> Array:
        """Return minus the distances."""
        from sklearn.metrics.pairwise import additive_chi2_kernel

        if sparse.issparse(X) or sparse.issparse(Z):
            raise TypeError("X must be dense for a chi-square kernel, got a sparse matrix. Use X.toarray().")
        lowest = min(X.min(initial=0.0), Z.min(initial=0.0))
        if lowest < 0.0:
            raise ValueError(f"X must have no entry below 0 for a chi-square kernel, got {lowest:g}.")
        return np.asarray(additive_chi2_kernel(X, Z), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return zeros."""
        return np.zeros(np.shape(X)[0])


@dataclass(frozen=True)
class Chi2(Kernel):
    r""":math:`\exp(-\gamma\sum_j (x_j - z_j)^2 / (x_j + z_j))`."""

    gamma: float = 1.0

    positive = True

    def __post_init__(self) -> None:
        check_nonnegative(gamma=self.gamma)
        keep(self, gamma=float(self.gamma))

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the exponential of minus the distances."""
        exponents = AdditiveChi2().tile(X, Z)
        exponents *= self.gamma
        return np.exp(exponents, out=exponents)

    def diagonal(self, X: Any) -> Array:
        """Return ones."""
        return np.ones(np.shape(X)[0])
