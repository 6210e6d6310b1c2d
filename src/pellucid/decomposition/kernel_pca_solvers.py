r"""Kernel PCA: the leading eigenvectors of the centered products.

.. math:: \bar K = HKH,\qquad H = I - \tfrac1n 11',\qquad \bar K v = \lambda v .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.arrays import is_foreign
from pellucid.core.fit import Fit
from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.choice import kernel_from
from pellucid.kernels.formulas import Linear
from pellucid.kernels.functions import check_products, check_symmetric
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.product_blocks import cut
from pellucid.solvers.leading_eigenvectors import dense_times, eigenpairs_at_once, leading_eigenpairs, signed
from pellucid.solvers.penalized_system import solve_penalized

GOAL = 1e-12
"""Residuals that are asked for, in parts of the largest eigenvalue."""

LARGE = 500
"""Rows from which a few eigenvectors are found without all the others."""

FEW = 0.1
"""Part of the rows up to which components are few."""

NEGATIVE, SMALL = 1e-5, 1e-12
"""Parts of the largest eigenvalue: more below 0 is refused, less above 0 is 0; as in scikit-learn for float64."""

BLOCK_ROWS = 128


@dataclass(frozen=True)
class CenteredProducts:
    """The products of the rows, centered in the space of the kernel, and the means that were taken away.

    The matrix may be a tensor; the means are here.
    """

    matrix: Array
    means: Array
    is_positive: bool = False
    """Whether the kernel is an inner product, so that eigenvalues below 0 are rounding."""

    @classmethod
    def of(cls, kernel: Kernel, X: SparseOrDense) -> CenteredProducts:
        """Return the centered products of the rows, or of given products, which must be symmetric once centered."""
        centered = centered_rows(kernel, X)
        if centered is not None:
            matrix, means = kernel(centered), linear_means(kernel, X)
            check_products(means)
            check_products(matrix)
            return cls(matrix, means, is_positive=True)
        matrix = kernel(X)
        check_products(matrix)
        means = matrix.mean(axis=0)
        shift, own = means - means.mean(), matrix.mean(axis=1) if kernel.is_given else means

        def center(rows: slice) -> None:
            matrix[rows] -= own[rows, None]
            matrix[rows] -= shift

        run_blocks(center, cut(len(matrix), BLOCK_ROWS if len(matrix) >= LARGE else LARGE))
        return cls(check_symmetric(matrix) if kernel.is_given else matrix, means, is_positive=kernel.positive)


def find_components(products: CenteredProducts, parameters: Any, seed: int) -> Fit:
    """Return eigenvalues in falling order and eigenvectors, of length 1 and with a largest entry above 0."""
    n = len(products.matrix)
    k = n if parameters.n_components is None else min(n, parameters.n_components)
    is_iterative = parameters.eigen_solver in ("arpack", "randomized") or n >= LARGE
    if parameters.eigen_solver != "dense" and is_iterative and k <= FEW * n:
        goal = max(GOAL, float(parameters.tol))
        found = leading_eigenpairs(
            dense_times(products.matrix),
            n,
            k,
            goal=goal,
            seed=seed,
            most_steps=parameters.max_iter,
            beside=products.matrix if is_foreign(products.matrix) else None,
        )
    else:
        found = eigenpairs_at_once(products.matrix, k)
    values = without_noise(found.values, is_positive=products.is_positive)
    vectors = signed(found.vectors)
    if parameters.remove_zero_eig or parameters.n_components is None:
        vectors, values = vectors[:, values > 0.0], values[values > 0.0]
    attributes = {
        "eigenvalues_": values,
        "eigenvectors_": np.ascontiguousarray(vectors),
        "kernel_means_": products.means,
    }
    return Fit(attributes, found.trace, reached=False)


def without_noise(values: Array, *, is_positive: bool = False) -> Array:
    """Return eigenvalues without what rounding made of zeros; refuse a matrix with large negative ones."""
    largest, smallest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if smallest < 0.0 and -smallest > NEGATIVE * largest:
        if largest <= 0.0 and -smallest < np.finfo(float).tiny / np.finfo(float).eps:
            return np.zeros_like(values)
        if is_positive:
            raise ValueError(
                f"X must be nearer to 0 for this kernel: rounding of its products has made an eigenvalue {smallest:g} "
                f"where the largest is {largest:g}, got rows too far from their mean. Subtract the mean of each column."
            )
        raise ValueError(
            f"There are significant negative eigenvalues, {smallest:g} where the largest is {largest:g}: the kernel is "
            "no inner product on these rows. Ask for fewer components or use another kernel."
        )
    return np.where(values > SMALL * largest, values, 0.0)


def learn_inverse(kernel: Kernel, projected: Array, X: Array, alpha: float) -> Array:
    """Return dual coefficients of the kernel ridge regression of the rows on their projections."""
    K = kernel(projected)
    return solve_penalized(K, alpha, np.asarray(X, dtype=np.float64), overwrite=True)


def components_kernel(parameters: Any, gamma: float) -> Kernel:
    """Return the kernel that the parameters mean."""
    return kernel_from(
        parameters.kernel,
        gamma=gamma,
        degree=parameters.degree,
        coef0=parameters.coef0,
        params=parameters.kernel_params,
    )


def centered_rows(kernel: Kernel, X: SparseOrDense) -> Array | None:
    """Return the rows about their mean where their products are the centered ones: dense rows of a linear kernel.

    So an offset of the rows costs no digits. None for other kernels, whose mean is no row, and for sparse rows.
    """
    if not isinstance(kernel, Linear) or sparse.issparse(X):
        return None
    rows = np.asarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float64)
    rows -= rows.mean(axis=0)  # what rounding left of an offset
    return rows


def linear_means(kernel: Kernel, X: Array) -> Array:
    """Return the mean product of each row with all of them: that with the mean row."""
    return kernel(X, X.mean(axis=0, dtype=np.float64)[None])[:, 0]


def centered_times(kernel: Kernel, X: SparseOrDense, others: Any, coef: Array, means: Array) -> Array:
    """Return the centered products of new rows with the training rows, times ``coef``.

    The product of x and row i becomes k - (mean over i of k) - means_i + mean of the means.
    """
    if centered_rows(kernel, others) is not None and not sparse.issparse(X):
        mean = others.mean(axis=0, dtype=np.float64)
        return kernel.times(X - mean, others - mean, coef)
    total = coef.sum(axis=0)
    with_mean = np.column_stack([coef, np.full(len(coef), 1.0 / len(coef))])
    found = kernel.times(X, others, with_mean)
    own_mean = found[:, -1:]
    return np.asarray(found[:, :-1] - own_mean * total - means @ coef + means.mean() * total)
