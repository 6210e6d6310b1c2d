r"""Dual coefficients of kernel ridge regression: :math:`(K + \alpha S^{-1})\,a = y` with the weights of the rows in S.

With :math:`a = S^{1/2} d` the matrix is symmetric: :math:`(S^{1/2} K S^{1/2} + \alpha I)\,d = S^{1/2} y`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsymm

from pellucid.core.fit import Fit
from pellucid.core.threads import shared_blas
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.kernels.functions import check_products
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.penalized_system import solve_penalized


def solve_kernel_ridge(kernel: Kernel, data: TrainingData, alpha: Array) -> Fit:
    """Return the dual coefficients for each target, and the penalized sum of squared errors as the objective."""
    y = np.asarray(data.y, dtype=np.float64)
    targets = y.reshape(len(y), -1)
    root = None if data.weight is None else np.sqrt(data.weight)
    K = weighted_products(kernel, data, root)
    b = targets if root is None else root[:, None] * targets
    penalties = np.broadcast_to(alpha, targets.shape[1])
    dual = np.empty_like(b)
    distinct = np.unique(penalties)
    for penalty in distinct:
        chosen = penalties == penalty
        dual[:, chosen] = solve_penalized(K, float(penalty), b[:, chosen], overwrite=bool(penalty == distinct[-1]))
    dual = dual if root is None else root[:, None] * dual
    trace = Trace()
    trace.add(iteration=1, objective=float(np.sum(penalties * np.sum(dual * targets, axis=0))))
    dual = data.spread(dual.T).T.reshape((data.n_given, *y.shape[1:]))
    return Fit({"dual_coef_": dual}, trace, reached=False)  # the products may have lost all digits


def weighted_products(kernel: Kernel, data: TrainingData, root: Array | None) -> Array:
    """Return the lower half of the products of the rows that count, each times the roots of the two weights."""
    n = data.X.shape[0]
    if kernel.is_given:
        columns = np.arange(data.X.shape[1]) if data.kept is None else data.kept
        K = kernel(data.X, columns)
    else:
        K = kernel.lower(data.X, np.empty((n, n)))
    check_products(np.diagonal(K) if kernel.positive else np.tril(K))
    if root is not None:
        K *= root[:, None]
        K *= root
    return K


# All penalties from one eigendecomposition, and the errors of left-out rows in closed form.
#
# With :math:`S^{1/2}KS^{1/2} = Q\Lambda Q'` the coefficients are :math:`d = Q(\Lambda + \alpha)^{-1}Q'S^{1/2}y`, and
# with :math:`C = K + \alpha S^{-1}` the fit to all rows but i misses :math:`y_i` by :math:`\delta_i = a_i /
# (C^{-1})_{ii}`. A row of weight s stands there s times, and one of them is left out: of the others the fit knows
#
# .. math:: e_i = \delta_i\,\frac{\alpha}{\alpha + v_i\,\sigma_i},\qquad v_i = \max(s_i - 1, 0),\qquad \sigma_i = 1 /
# (C^{-1})_{ii} - \alpha / s_i .


REFINEMENTS = 2
"""Times that what is left of the equations is solved again: the eigenvectors alone may leave ten times the rounding."""


@dataclass(frozen=True)
class Directions:
    """Eigenvectors of the weighted products, and what the targets are along them."""

    products: Array  # (n, n), lower half
    values: Array  # (n,)
    vectors: Array  # (n, n)
    root: Array  # (n, 1), roots of the weights
    b: Array  # (n, targets), targets times the roots
    is_positive: bool  # whether the kernel is an inner product, so that eigenvalues below 0 are rounding

    @classmethod
    def of(cls, kernel: Kernel, data: TrainingData) -> Directions:
        """Return the directions of the training data; eigenvalues below 0 are those of a kernel that is no product."""
        y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
        root = np.sqrt(data.weights)
        K = weighted_products(kernel, data, None if data.weight is None else root)
        with shared_blas(float(len(K)) ** 3 / 8):  # half of it are products of vectors, which gain little
            values, vectors = eigh(K, lower=True, driver="evd", check_finite=False)
        return cls(K, values, vectors, root[:, None], root[:, None] * y, kernel.positive)

    @cached_property
    def along(self) -> Array:
        """The targets along the eigenvectors."""
        return np.asarray(self.vectors.T @ self.b)

    @cached_property
    def squares(self) -> Array:
        """The squared entries of the eigenvectors."""
        return np.square(self.vectors)

    def check(self, alpha: float) -> None:
        """Refuse a penalty that does not outweigh a negative eigenvalue."""
        if self.values[0] + alpha <= 0.0:
            reason = (
                f"for rows of this size, whose products are rounded by so much, got {alpha:g}. Bring X nearer to 0 and "
                "to size 1."
                if self.is_positive
                else f"for this kernel, which is no inner product, got {alpha:g}."
            )
            raise ValueError(f"alphas must be above {-self.values[0]:g} {reason}")

    def left_out_errors(self, alpha: float) -> Array:
        """Return what the fit to all other rows misses of each target, of shape (n, targets)."""
        inverse = 1.0 / (self.values + alpha)
        dual = self.vectors @ (inverse[:, None] * self.along)
        diagonal = (self.squares @ inverse)[:, None]
        weight = np.square(self.root)
        unknown = (1.0 / diagonal - alpha) / weight
        known = np.maximum(weight - 1.0, 0.0) * unknown
        return np.asarray(dual / (self.root * diagonal) * (alpha / (alpha + known)))

    def dual(self, alpha: float) -> Array:
        """Return the dual coefficients, of shape (n, targets)."""
        inverse = 1.0 / (self.values + alpha)[:, None]
        found, rest = np.zeros_like(self.b), self.b
        for _ in range(1 + REFINEMENTS):
            found = found + self.vectors @ (inverse * (self.vectors.T @ rest))
            rest = self.b - dsymm(1.0, self.products.T, found, lower=0) - alpha * found
        return np.asarray(self.root * found)


def mean_squares(errors: Array, weight: Array) -> float:
    """Return the weighted mean of squared errors, over rows and targets."""
    return float(np.mean(np.average(np.square(errors), axis=0, weights=weight)))
