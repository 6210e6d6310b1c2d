r"""Proof of kernel PCA: the vectors are eigenvectors of the centered products, orthonormal, and none larger was missed.

Residuals :math:`\|\bar Kv - \lambda v\|` put an eigenvalue within that distance of each :math:`\lambda` (Weyl). That no
larger one was missed is a statement about the rest :math:`B = \bar K - V\Lambda V'`, whose largest eigenvalue must not
be above the smallest one found, :math:`\lambda_k`. Of three bounds the best counts:

- all eigenvalues of an inner product are at least 0, so none is above their sum, :math:`\mathrm{tr}\,B`;
- up to ``FACTORED`` rows ``verify`` factors :math:`\lambda_k(1 + t)I - B`: a Cholesky factor exists only if none is
  above;
- otherwise Lanczos from a random vector finds, in q steps, all but a part e of the largest eigenvalue of a matrix
  without negative ones, with a chance of failure of at most :math:`1.648\sqrt n\,\exp(-\sqrt e\,(2q - 1))` (Kuczynski
  and Wozniakowski, 1992); e is what leaves 1 % for that. The vector comes from a fixed seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal, lapack

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.random_state import some_rows
from pellucid.core.rounding import EPSILON, TINY, sum_error
from pellucid.core.sampled_proof import MISSED
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array
from pellucid.kernels.choice import gamma_from, kernel_from
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.ridge_equations_proof import equation_claims, rows_that_differ

RESIDUAL = 1e-11
"""Residuals accepted, in parts of the largest eigenvalue, where no ``tol`` allows more."""

FACTORED = 2000
"""Rows up to which ``verify`` factors the rest of the matrix."""

PROBE_STEPS = 20
PROBE_STEPS_AT_FIT = 8
ROWS_AT_FIT = 64


def prove_kernel_pca(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows."""
    return prove_components(fitted, parameters, data)


def prove_components(fitted: Any, parameters: Any, data: TrainingData, *, centered: Array | None = None) -> Certificate:
    """Return the certificate; at a fit the ``centered`` products are there already, and less is looked at."""
    values, vectors = fitted.eigenvalues_, fitted.eigenvectors_
    n, is_fit = data.X.shape[0], centered is not None
    gamma = gamma_from(parameters.gamma, data.X)
    claims = [
        Claim(
            "training rows",
            "rows of X_fit_ that are not those of the data",
            rows_that_differ(fitted.X_fit_, data.X),
            0.0,
        ),
        Claim("gamma", "distance of gamma_ from what the parameters mean", abs(fitted.gamma_ - gamma), 0.0),
    ]
    shape = _shape_fault(fitted, parameters, data)
    if shape:
        return Certificate("exact", (*claims, Claim("shape", shape, 1.0, 0.0)))
    kernel = components_kernel(parameters, gamma)
    if centered is None:
        centered, means = _centered(kernel, data.X)
        rows = np.arange(n)
    else:
        rows = some_rows(n, ROWS_AT_FIT)
        means = _some_means(kernel, data.X, rows)
    noise = _noise(centered, kernel.diagonal(data.X), float(parameters.tol))
    claims += [
        _means_claim(fitted.kernel_means_, means, rows, kernel.diagonal(data.X)),
        *_vector_claims(centered, values, vectors, parameters, noise),
        _missed_claim(kernel, centered, values, vectors, parameters, noise, is_fit=is_fit),
    ]
    if parameters.fit_inverse_transform:
        claims += _inverse_claims(fitted, kernel, parameters, data, rows)
    return Certificate("exact", tuple(claims))


def components_kernel(parameters: Any, gamma: float) -> Kernel:
    """Return the kernel that the parameters mean."""
    return kernel_from(
        parameters.kernel,
        gamma=gamma,
        degree=parameters.degree,
        coef0=parameters.coef0,
        params=parameters.kernel_params,
    )


def centered_times(kernel: Kernel, X: Any, others: Any, coef: Array, means: Array) -> Array:
    """Return the centered products of new rows with the training rows, times ``coef``.

    The product of x and row i becomes k - (mean over i of k) - means_i + mean of the means.
    """
    total = coef.sum(axis=0)
    with_mean = np.column_stack([coef, np.full(len(coef), 1.0 / len(coef))])
    found = kernel.times(X, others, with_mean)
    own_mean = found[:, -1:]
    return np.asarray(found[:, :-1] - own_mean * total - means @ coef + means.mean() * total)


def _others(kernel: Kernel, X: Any) -> Any:
    return np.arange(X.shape[1]) if kernel.is_given else X


def _some_means(kernel: Kernel, X: Any, rows: Array) -> Array:
    """Return the mean product of all rows with each of some."""
    if kernel.is_given:  # not symmetric, perhaps
        return np.asarray(kernel(X, rows).mean(axis=0))
    return np.asarray(kernel(X[rows], X).mean(axis=1))


def _centered(kernel: Kernel, X: Any) -> tuple[Array, Array]:
    products = kernel(X, _others(kernel, X))
    means = products.mean(axis=0)
    centered = products - means - products.mean(axis=1)[:, None] + means.mean()
    return (centered + centered.T) / 2.0, means


def _shape_fault(fitted: Any, parameters: Any, data: TrainingData) -> str:
    """Return what is wrong with the shapes of the attributes, if anything is."""
    n, k = data.X.shape[0], len(fitted.eigenvalues_)
    wanted = n if parameters.n_components is None else min(n, parameters.n_components)
    may_be_fewer = parameters.n_components is None or parameters.remove_zero_eig
    if k > wanted or (k < wanted and not may_be_fewer):
        return f"{k} components instead of {wanted}"
    if fitted.eigenvectors_.shape != (n, k) or fitted.kernel_means_.shape != (n,):
        return "eigenvectors_ or kernel_means_ have not one row per training row"
    if parameters.fit_inverse_transform and (
        fitted.X_transformed_fit_.shape != (n, k) or fitted.dual_coef_.shape != data.X.shape
    ):
        return "X_transformed_fit_ or dual_coef_ have not one row per training row"
    return ""


def _means_claim(stored: Array, means: Array, rows: Array, diagonal: Array) -> Claim:
    size = max(float(np.abs(diagonal).max(initial=0.0)), float(np.abs(means).max(initial=0.0)), TINY)
    return Claim(
        "means",
        "largest distance of kernel_means_ from the mean product of a row, in parts of the largest product",
        float(np.max(np.abs(stored[rows] - means), initial=0.0)) / size,
        RESIDUAL,
    )


def least_norm(centered: Array) -> float:
    """Return what the largest eigenvalue is at least, in size: the root of the mean square, or the largest diagonal."""
    largest = float(np.abs(np.diagonal(centered)).max(initial=0.0))
    with np.errstate(over="ignore"):
        squares = float(np.einsum("ij,ij->", centered, centered))
    return max(largest, float(np.sqrt(squares / len(centered))) if np.isfinite(squares) else 0.0, TINY)


def _noise(centered: Array, diagonal: Array, tol: float) -> float:
    """Return the part of the largest eigenvalue by which rounding moves eigenvalues; an offset of the rows adds to it.

    Each centered product has lost some rounding errors of the products as they were; a matrix of such errors has a norm
    of about the root of n times their size.
    """
    lost = EPSILON * float(np.abs(diagonal).max(initial=0.0)) * np.sqrt(len(centered))
    return float(max(RESIDUAL, 8 * sum_error(len(centered)), 4 * tol) + 16 * lost / least_norm(centered))


def _vector_claims(centered: Array, values: Array, vectors: Array, parameters: Any, noise: float) -> list[Claim]:
    """Return claims about order and signs, residuals and orthogonality."""
    level = max(float(np.abs(values).max(initial=0.0)), least_norm(centered))
    with np.errstate(over="ignore", invalid="ignore"):
        rest = centered @ vectors - vectors * values
        residual = float(np.max(np.sqrt(np.sum(rest**2, axis=0)), initial=0.0)) / level
        product = vectors.T @ vectors - np.eye(len(values))
    size = np.abs(vectors)
    largest = size.max(axis=0, initial=0.0)
    lowest = np.where(size >= (1.0 - 1e-9) * largest, vectors, np.inf)
    first = lowest[np.argmax(np.isfinite(lowest), axis=0), range(len(values))] if len(values) else np.ones(0)
    disorder = int(np.sum(np.diff(values) > 0)) + int(np.sum(values < 0)) + int(np.sum(first <= 0))
    if parameters.remove_zero_eig or parameters.n_components is None:
        disorder += int(np.sum(values <= 0))
    return [
        Claim(
            "eigenvectors",
            "longest residual of an eigenvector, in parts of the largest eigenvalue",
            residual,
            noise,
            "Raise max_iter, or lower tol.",
        ),
        Claim(
            "orthogonality",
            "largest product of two eigenvectors, or distance of one from length 1",
            float(np.max(np.abs(product), initial=0.0)),
            max(1e-9, sum_error(len(centered))),
        ),
        Claim("order", "eigenvalues out of order or below 0, and vectors of the other sign", float(disorder), 0.0),
    ]


def _missed_claim(
    kernel: Kernel, centered: Array, values: Array, vectors: Array, parameters: Any, noise: float, *, is_fit: bool
) -> Claim:
    """Return the claim that no eigenvalue above the smallest one found is left."""
    n, k = vectors.shape
    level = max(float(values.max(initial=0.0)), least_norm(centered))
    left = float(np.trace(centered) - values.sum())
    wanted_all = parameters.n_components is None or (parameters.remove_zero_eig and k < min(n, parameters.n_components))
    smallest = (0.0 if wanted_all else float(values[-1])) if k else 0.0
    if k == n:
        return Claim("missed", "all eigenvalues were found", 0.0, 0.0)
    floor = smallest + noise * level * (n if wanted_all else 1)
    statement = "largest eigenvalue that may have been missed, in parts of the smallest one found"
    if kernel.positive and left <= floor:
        return Claim("missed", f"{statement}, from the trace", max(left, 0.0) / floor, 1.0)
    if not is_fit and n <= FACTORED:
        excess = _excess_by_factor(centered, values, vectors, floor)
        return Claim("missed", f"{statement}, from a Cholesky factor of the rest", excess, 1.0)
    steps = min(n - k, PROBE_STEPS_AT_FIT if is_fit else PROBE_STEPS)
    part = min(0.9, (np.log(1.648 * np.sqrt(n) / MISSED) / (2 * steps - 1)) ** 2) if steps < n - k else 0.0
    shift = 0.0 if kernel.positive else float(np.linalg.norm(centered))
    found = _probe(centered, values, vectors, steps, shift)
    return Claim(
        "missed",
        f"largest eigenvalue of the rest found by {steps} steps from a random vector, in parts of the smallest one "
        f"found: at 99 % confidence none is above {1.0 / (1.0 - part):.3g} times that"
        + ("" if kernel.positive else ", both counted from minus the norm of the matrix"),
        max(found - shift, 0.0) / floor,
        1.0,
        "Raise max_iter or use eigen_solver='dense'.",
    )


def _excess_by_factor(centered: Array, values: Array, vectors: Array, floor: float) -> float:
    """Return 1 if floor I - B has a Cholesky factor, and infinity otherwise."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest = (vectors * values) @ vectors.T - centered
    rest.flat[:: len(rest) + 1] += floor
    if not np.isfinite(rest).all():
        return float("inf")
    return float("inf") if lapack.dpotrf(rest, lower=True, clean=False, overwrite_a=True)[1] else 1.0


def _probe(centered: Array, values: Array, vectors: Array, steps: int, shift: float) -> float:
    """Return the largest eigenvalue of B + shift I that Lanczos sees from a random vector."""
    v = np.random.default_rng(len(centered)).standard_normal(len(centered))
    basis, diagonal, beside = [v / np.linalg.norm(v)], [], []
    for _ in range(steps):
        v = basis[-1]
        image = centered @ v - vectors @ (values * (vectors.T @ v)) + shift * v
        diagonal.append(float(v @ image))
        for _ in range(2):
            Q = np.column_stack(basis)
            image = image - Q @ (Q.T @ image)
        length = float(np.linalg.norm(image))
        if not np.isfinite(length):
            return float("inf")
        if length <= TINY or len(basis) == steps:
            break
        beside.append(length)
        basis.append(image / length)
    return float(eigh_tridiagonal(np.array(diagonal), np.array(beside[: len(diagonal) - 1]), eigvals_only=True)[-1])


def _inverse_claims(fitted: Any, kernel: Kernel, parameters: Any, data: TrainingData, rows: Array) -> list[Claim]:
    """Return claims about the ridge regression of the rows on their projections."""
    projected = fitted.eigenvectors_ * np.sqrt(np.maximum(fitted.eigenvalues_, 0.0))
    apart = float(np.max(np.abs(fitted.X_transformed_fit_ - projected), initial=0.0))
    size = max(float(np.abs(projected).max(initial=0.0)), TINY)
    rows_on_projections = TrainingData(projected, data.X, given=(projected, data.X, None))
    return [
        Claim(
            "projections",
            "distance of X_transformed_fit_ from the projections, in parts of the largest",
            apart / size,
            RESIDUAL,
        ),
        *equation_claims(kernel, parameters.alpha, rows_on_projections, fitted.dual_coef_, rows),
    ]
