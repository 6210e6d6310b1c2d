r"""Proof of kernel PCA: the vectors are eigenvectors of the centered products, orthonormal, and none larger was missed.

Residuals :math:`\|\bar Kv - \lambda v\|` put an eigenvalue within that distance of each :math:`\lambda` (Weyl). How it
is shown that no larger one was missed is told in ``eigenpairs``.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.matrices import ProofKernel, gamma_value, kernel_diagonal, kernel_matrix, resolved_kernel
from pellucid.proofs.kernels.matrices_on_device import centered_there
from pellucid.proofs.kernels.ridge_equations import equation_claims, rows_claim
from pellucid.proofs.matrices.eigenpairs import SymmetricMatrix, leading_claims, turned_claim, wrong_signs
from pellucid.proofs.on_device import rows_here
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

RESIDUAL = 1e-11
"""Residuals accepted, in parts of the largest eigenvalue, where no ``tol`` allows more."""

ROWS_AT_FIT = 64


def prove_kernel_pca(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with the products computed again from the rows; a fit does less with them."""
    values, vectors = fitted.eigenvalues_, fitted.eigenvectors_
    X, n = rows_here(data.X), data.X.shape[0]
    gamma = gamma_value(parameters.gamma, X)
    claims = [
        rows_claim(fitted.X_fit_, X),
        Claim("gamma", "distance of gamma_ from what the parameters mean", abs(fitted.gamma_ - gamma), 0.0),
    ]
    k, wanted = len(values), min(n, parameters.n_components or n)
    may_be_fewer = parameters.n_components is None or parameters.remove_zero_eig
    inverse = {"X_transformed_fit_": (n, k), "dual_coef_": data.X.shape} if parameters.fit_inverse_transform else {}
    also = {"eigenvalues_": k == wanted or (k < wanted and may_be_fewer)}
    if wrong := misshapen("exact", fitted, also, eigenvectors_=(n, k), kernel_means_=(n,), **inverse):
        return wrong
    options = {name: getattr(parameters, name) for name in ("degree", "coef0")}
    kernel = resolved_kernel(parameters.kernel, gamma=gamma, **options, params=parameters.kernel_params)
    matrix, means, diagonal = _centered(kernel, X) if X is data.X else centered_there(kernel, data.X)
    rows = drawn(n, ROWS_AT_FIT if is_fitting() else n)
    noise = _noise(matrix, diagonal, float(parameters.tol))
    level = max(largest(values), matrix.least_norm)
    disorder = int(np.sum(np.diff(values) > 0) + np.sum(values <= 0 if may_be_fewer else values < 0))
    rounding = 4 * (noise - RESIDUAL) + 8 * sum_error(n)
    claims += [
        _means_claim(fitted.kernel_means_, means, kernel_diagonal(kernel, X)),
        *leading_claims(
            matrix, values, vectors, level=level, noise=noise, disorder=disorder + wrong_signs(vectors),
            wants_all=parameters.n_components is None or k < wanted, is_positive=kernel.positive,
            remedy="Raise max_iter, or lower tol.",
        ),
        turned_claim(vectors.T @ matrix.times(vectors), values, level=level, rounding=rounding),
    ]  # fmt: skip
    if parameters.fit_inverse_transform:
        claims += _inverse_claims(fitted, kernel, parameters, data, rows)
    return graded("exact", claims)


def _centered(kernel: ProofKernel, X: SparseOrDense) -> tuple[SymmetricMatrix, Array, Array]:
    """Return the products about their mean, the mean product of each row, and the products that rounding is part of.

    Dense rows of a linear kernel are taken about their mean first, so that an offset of them costs no digits.
    """
    if kernel.name == "linear" and not sparse.issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        rows = X - mean
        rows = rows - rows.mean(axis=0)  # a mean far from 0 is rounded, which eigenvectors would show
        return SymmetricMatrix(rows @ rows.T), X @ mean, np.sum(rows**2, axis=1)
    products = kernel_matrix(kernel, X)
    means = products.mean(axis=0)
    centered = products - means - products.mean(axis=1)[:, None] + means.mean()
    return SymmetricMatrix((centered + centered.T) / 2.0), means, kernel_diagonal(kernel, X)


def _means_claim(stored: Array, means: Array, diagonal: Array) -> Claim:
    size = max(largest(diagonal), largest(means), TINY)
    return Claim("means",
                 "largest distance of kernel_means_ from the mean product of a row, in parts of the largest product",
                 largest(stored - means) / size, RESIDUAL)  # fmt: skip


def _noise(centered: SymmetricMatrix, diagonal: Array, tol: float) -> float:
    """Return the part of the largest eigenvalue by which rounding moves eigenvalues; an offset of the rows adds to it.

    Each centered product has lost some rounding errors of the products as they were; a matrix of such errors has a norm
    of about the root of n times their size.
    """
    n = len(centered.matrix)
    lost = EPSILON * largest(diagonal) * np.sqrt(n)
    return float(RESIDUAL + max(8 * sum_error(n), 4 * tol) + 16 * lost / centered.least_norm)


def _inverse_claims(
    fitted: Seen, kernel: ProofKernel, parameters: Seen, data: TrainingData, rows: Array
) -> list[Claim]:
    """Return claims about the ridge regression of the rows on their projections."""
    projected = fitted.eigenvectors_ * np.sqrt(np.maximum(fitted.eigenvalues_, 0.0))
    apart = largest(fitted.X_transformed_fit_ - projected)
    size = max(largest(projected), TINY)
    rows_on_projections = TrainingData(projected, data.X, given=(projected, data.X, None))
    return [
        Claim("projections", "distance of X_transformed_fit_ from the projections, in parts of the largest",
              apart / size, RESIDUAL),
        *equation_claims(kernel, parameters.alpha, rows_on_projections, fitted.dual_coef_, rows),
    ]  # fmt: skip


PROVES = {"KernelPCA": prove_kernel_pca}
