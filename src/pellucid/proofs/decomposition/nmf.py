r"""Proof of a nonnegative factorization: what another step could gain, and what no matrix of this rank can beat.

All is computed again from the data and both stored factors, in float64.

- *Coordinate descent* ends where single entries gain little. The best step of an entry with gradient :math:`g` and
  curvature :math:`a` gains what ``coordinate_gains`` says, exactly. Summed over all entries of both factors, in parts
  of :math:`\|X\|^2/2`, the root of that is at most ``tol``. Where entries are missing the curvature is that of complete
  data, which is no less, so that the gain is one that is sure.
- *Multiplicative steps* end where ten of them lower the error by little; one more, taken here, lowers it by at most
  ``tol`` of :math:`\sqrt{2\sum x^\beta}`.
- Singular values :math:`\sigma` bound the squared error of every matrix of rank q from below by
  :math:`\sum_{k > q}\sigma_k^2` (Eckart and Young).

The stored error pins both factors: it is that of the stored numbers, up to the rounding of a sum over all entries.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh

from pellucid.decomposition.nmf.nmf_problem import (
    SMALLEST,
    NmfProblem,
    Penalties,
    coordinate_gains,
    filled,
)
from pellucid.decomposition.product_entries import product_entries
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import TINY, rounding_unit, sum_error
from pellucid.proofs.training_data import TrainingData

MOST_SIDE = 1500
"""Rows or columns, whichever are fewer, up to which all singular values are computed."""

RESIDUAL = 1e-9
"""The least residual that is asked for, whatever ``tol`` says."""


def prove_nmf(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    return prove_factors(fitted, parameters, data)


def prove_factors(fitted: Any, parameters: Any, data: TrainingData, *, most_side: int = MOST_SIDE) -> Certificate:
    """Return the certificate; a fit computes singular values of small data only."""
    W, H = (np.asarray(factor, dtype=np.float64) for factor in (fitted.weights_, fitted.components_))
    wrong = _wrong_entries(W, H, fitted.n_components_, parameters, data.X.shape)
    factors = Claim("factors", "entries below 0, and sizes that do not fit together", wrong, 0.0)
    if wrong:
        return Certificate("stationary", (factors,))
    problem = NmfProblem.of(data.X, parameters)
    W, H = W / problem.root, H / problem.root
    squared = 2.0 * problem.divergence(W, H)
    claims = [factors, _error_claim(problem, fitted.reconstruction_err_ / problem.unit_of_error, squared)]
    if parameters.solver == "cd":
        claims.append(_coordinates_claim(problem, W, H, parameters, data.X.dtype))
    else:
        claims.append(_step_claim(problem, W, H, parameters, data.X.dtype))
    if problem.beta == 2.0 and not problem.has_missing and min(data.X.shape) <= most_side:
        claims.append(_rank_claim(problem, squared, len(H)))
    return Certificate("stationary", tuple(claims))


def least_residual(dtype: Any) -> float:
    """Return what rounding of the stored factors leaves of a residual."""
    return max(RESIDUAL, rounding_unit(dtype) if np.dtype(dtype) != np.float64 else 0.0)


def _wrong_entries(W: Array, H: Array, q: int, parameters: Any, shape: tuple[int, int]) -> float:
    n, d = shape
    asked = parameters.n_components
    is_other = (asked is None and q != d) or (not isinstance(asked, str) and asked is not None and q != asked)
    if W.shape != (n, q) or H.shape != (q, d) or is_other:
        return math.inf
    return float(np.sum(~(W >= 0.0)) + np.sum(~(H >= 0.0)))


def _error_claim(problem: NmfProblem, stored: float, squared: float) -> Claim:
    """Return the claim that the stored error is that of the stored factors; squares, since a root forgets near 0."""
    beta = problem.beta
    spread = 1.0 if beta in (0.0, 1.0, 2.0) else 1.0 + 1.0 / abs(beta * (beta - 1.0))
    size = max(problem.size, squared, TINY)
    n, d = problem.X.shape
    statement = "distance of the squared reconstruction_err_ from its recomputed value, in parts of the data's size"
    off = abs(stored * abs(stored) - max(squared, 0.0))
    return Claim("error", statement, off / size, sum_error(n * d) * spread)


def _coordinates_claim(problem: NmfProblem, W: Array, H: Array, parameters: Any, dtype: Any) -> Claim:
    products = np.zeros(W.shape), np.zeros(H.shape)
    if sparse.issparse(problem.X):
        X = problem.X.astype(np.float64)
        products = np.asarray(X @ H.T), np.asarray((X.T @ W).T)
    else:
        for rows, block in problem.blocks():
            known = filled(block, W[rows] @ H) if problem.has_missing else block
            products[0][rows] = known @ H.T
            products[1][...] += W[rows].T @ known
    gains = coordinate_gains(W.T, H @ H.T, products[0].T, problem.on_weights)
    gains += coordinate_gains(H, W.T @ W, products[1], problem.on_components)
    return Claim(
        "stationary",
        "root of what the best steps of single entries gain, in parts of half the squared norm of the data",
        float(np.sqrt(np.maximum(gains, 0.0) / max(0.5 * problem.size, TINY))),
        max(float(parameters.tol), least_residual(dtype)),
        _remedy(parameters),
    )


def _step_claim(problem: NmfProblem, W: Array, H: Array, parameters: Any, dtype: Any) -> Claim:
    before = problem.objective(W, H)
    W = _stepped(W, *_quotient_for_weights(problem, W, H), problem.on_weights, problem.beta)
    H = _stepped(H, *_quotient_for_components(problem, W, H), problem.on_components, problem.beta)
    after = problem.objective(W, H)
    decrease = math.sqrt(2.0 * max(before, 0.0)) - math.sqrt(2.0 * max(after, 0.0))
    return Claim(
        "stationary",
        "decrease of the error by one more multiplicative step, in parts of the root of twice the data's size",
        float(np.maximum(decrease, 0.0)) / max(math.sqrt(2.0 * problem.size), TINY),
        max(float(parameters.tol), least_residual(dtype)),
        _remedy(parameters),
    )


def _quotient_for_weights(problem: NmfProblem, W: Array, H: Array) -> tuple[Array, Array]:
    if problem.beta == 1.0 and sparse.issparse(problem.X):
        return np.asarray(_sparse_ratios(problem.X, W, H) @ H.T), np.broadcast_to(H.sum(axis=1), W.shape)
    above, below = np.empty(W.shape), np.empty(W.shape)
    for rows, block in problem.blocks():
        numerator, denominator = _powers(block, W[rows] @ H, problem.beta)
        above[rows], below[rows] = numerator @ H.T, denominator @ H.T
    return above, below


def _quotient_for_components(problem: NmfProblem, W: Array, H: Array) -> tuple[Array, Array]:
    if problem.beta == 1.0 and sparse.issparse(problem.X):
        ratios = _sparse_ratios(problem.X, W, H)
        return np.asarray((ratios.T @ W).T), np.broadcast_to(W.sum(axis=0)[:, None], H.shape)
    above, below = np.zeros(H.shape), np.zeros(H.shape)
    for rows, block in problem.blocks():
        numerator, denominator = _powers(block, W[rows] @ H, problem.beta)
        above += W[rows].T @ numerator
        below += W[rows].T @ denominator
    return above, below


def _sparse_ratios(X: Any, W: Array, H: Array) -> Any:
    values = X.data / np.maximum(product_entries(X, W, H), SMALLEST)
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)


def _powers(x: Array, product: Array, beta: float) -> tuple[Array, Array]:
    product = np.maximum(product, SMALLEST) if beta < 2.0 else product
    known = np.where(np.isnan(x), product, x)
    return known * product ** (beta - 2.0), product ** (beta - 1.0)


def _stepped(factor: Array, above: Array, below: Array, penalties: Penalties, beta: float) -> Array:
    below = below + penalties.l1 + penalties.l2 * factor
    power = 1.0 / (2.0 - beta) if beta < 1.0 else 1.0 / (beta - 1.0) if beta > 2.0 else 1.0
    return np.asarray(factor * (above / np.where(below > 0.0, below, 1.0)) ** power)


def _rank_claim(problem: NmfProblem, squared: float, q: int) -> Claim:
    """Return the claim that no matrix of the same rank has a larger error, which says how near ours is to the best."""
    X = problem.X.astype(np.float64)
    gram = X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    values = eigvalsh(gram, check_finite=False)
    noise = sum_error(len(values)) * float(values[-1]) * len(values)
    least = max(float(values[: max(len(values) - q, 0)].sum()) - noise, 0.0)
    return Claim(
        "rank",
        "least error of any matrix of this rank, negative entries allowed, in parts of this one: 1 is the best",
        math.sqrt(least / squared) if least > 0.0 and squared > 0.0 else 0.0 if least == 0.0 else math.inf,
        1.0 + 1e-9,
    )


def _remedy(parameters: Any) -> str:
    return f"Maximum number of iterations {parameters.max_iter} reached. Increase it to improve convergence."
