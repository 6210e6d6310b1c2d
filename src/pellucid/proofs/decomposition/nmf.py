r"""Proof of a nonnegative factorization: what another step could gain, and what no matrix of this rank can beat.

All is computed again from the data and both stored factors, in float64.

- *Coordinate descent* ends where single entries gain little. The best step of an entry with gradient :math:`g` and
  curvature :math:`a` gains what ``_gains`` says, exactly. Summed over all entries of both factors, in parts
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
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh, lstsq

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.blocks import OneBlock
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.decomposition.alternating import product_entries
from pellucid.proofs.on_device import factors_of_rows, products_of_rows
from pellucid.proofs.rounding import TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

MOST_SIDE = 1500
"""Rows or columns, whichever are fewer, up to which all singular values are computed."""

SIDE_AT_FIT = 128

BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}

SMALLEST = float(np.finfo(np.float32).eps)
"""What an entry of the product is at least where it is divided by, as in scikit-learn."""

ORDINARY = 2.0**100
"""Data whose largest entry is between this and its inverse are taken as they are."""

ENTRIES_AT_ONCE = 1 << 18

RESIDUAL = 1e-9
"""The least residual that is asked for, whatever ``tol`` says."""


def prove_nmf(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data; a fit does less of it."""
    if not hasattr(fitted, "weights_"):  # of a fit to rows in blocks
        return prove_nmf_in_passes(fitted, parameters, OneBlock.of(data))
    if hasattr(fitted.weights_, "cpu"):
        return _prove_there(fitted, parameters, data)
    W, H = (np.asarray(factor, dtype=np.float64) for factor in (fitted.weights_, fitted.components_))
    wrong = _wrong_entries(W, H, fitted.n_components_, parameters, data.X.shape)
    factors = Claim("factors", "entries below 0, and sizes that do not fit together", wrong, 0.0)
    if wrong:
        return Certificate("stationary", (factors,))
    problem = DivergenceProblem(data.X, parameters)
    W, H = W / problem.root, H / problem.root
    squared = 2.0 * problem.divergence(W, H)
    stored = fitted.reconstruction_err_ / problem.root**problem.beta
    claims = [factors, _error_claim(stored, squared, problem.size, problem.beta, data.X.shape)]
    if parameters.solver == "cd":
        claims.append(_coordinates_claim(problem, W, H, parameters, data.X.dtype))
    else:
        claims.append(_step_claim(problem, W, H, parameters, data.X.dtype))
    if (
        problem.beta == 2.0
        and not problem.has_missing
        and min(data.X.shape) <= (SIDE_AT_FIT if is_fitting() else MOST_SIDE)
    ):
        X = problem.X.astype(np.float64)
        gram = X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T
        claims.append(_rank_claim(dense(gram), squared, len(H)))
    return Certificate("stationary", tuple(claims))


def _prove_there(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the same of weights on a device beside rows without missing entries: sums over rows are made there."""
    X, W, H = data.X, fitted.weights_, np.asarray(fitted.components_, dtype=np.float64)
    n, d = X.shape
    wrong = math.inf if W.shape != (n, fitted.n_components_) else float((~(W >= 0.0)).sum())
    wrong += _wrong_components(H, fitted.n_components_, parameters, d)
    factors = Claim("factors", "entries below 0, and sizes that do not fit together", wrong, 0.0)
    if wrong:
        return Certificate("stationary", (factors,))
    root = _unit_of(float(X.max()))
    on_weights, on_components = _penalties(parameters, (n, d), root, 2.0)
    products, crossed, squared, gains, size = factors_of_rows(X, W, H / root, root, on_weights)
    gains += _gains(H / root, products, crossed, on_components)
    claims = [
        factors,
        _error_claim(fitted.reconstruction_err_ / root**2, squared, size, 2.0, (n, d)),
        _gains_claim(gains, size, parameters, data.dtype),
    ]
    if min(n, d) <= SIDE_AT_FIT:
        claims.append(_rank_claim(products_of_rows(X if d <= n else X.T) / root**2 / root**2, squared, len(H)))
    return Certificate("stationary", tuple(claims))


class DivergenceProblem:
    r"""The data divided by ``root`` squared, a power of 4, so that nothing overflows, and the penalties in these units.

    With factors divided by ``root`` the objective is :math:`r^{2\beta}` times as large for the given data, and a
    penalty on the power p of a factor :math:`r^{p - 2\beta}` times as large for these.
    """

    def __init__(self, X: SparseOrDense, parameters: Seen) -> None:
        loss = parameters.beta_loss
        self.beta = BETAS[loss] if isinstance(loss, str) else float(loss)
        values = X.data if sparse.issparse(X) else X
        self.root = _unit_of(float(np.nanmax(values, initial=0.0)))
        self.X = X if self.root == 1.0 else X * X.dtype.type(1.0 / self.root) * X.dtype.type(1.0 / self.root)
        self.has_missing = bool(np.isnan(np.sum(values)))
        self.on_weights, self.on_components = _penalties(parameters, X.shape, self.root, self.beta)
        parts = (block for _, block in _blocks(self.X))
        self.size = float(sum(np.sum(part[part > 0.0] ** self.beta) for part in parts))

    def divergence(self, W: Array, H: Array) -> float:
        """Return the divergence of the data from the product, entry by entry; of sparse data from sums over zeros."""
        if sparse.issparse(self.X) and self.beta in (1.0, 2.0):
            x, product = self.X.data.astype(np.float64), product_entries(self.X, W, H)
            if self.beta == 2.0:  # (x - r)^2 at the entries, and r^2 elsewhere
                elsewhere = float(np.sum((W.T @ W) * (H @ H.T))) - float(product @ product)
                return 0.5 * (float(np.sum((x - product) ** 2)) + max(elsewhere, 0.0))
            total = float(W.sum(axis=0) @ H.sum(axis=1))
            return float(np.sum(x[x > 0.0] * np.log(x / np.maximum(product, SMALLEST))[x > 0.0] - x[x > 0.0])) + total
        return sum(_divergence(block, W[rows] @ H, self.beta) for rows, block in _blocks(self.X))

    def objective(self, W: Array, H: Array) -> float:
        """Return the divergence and the penalties."""
        penalties = zip((W, H), (self.on_weights, self.on_components), strict=True)
        return self.divergence(W, H) + sum(l1 * np.sum(F) + 0.5 * l2 * np.sum(F**2) for F, (l1, l2) in penalties)


def _unit_of(largest: float) -> float:
    """Return the root of the power of 4 by which data with this largest entry are divided."""
    is_ordinary = not 0.0 < largest < np.inf or 1.0 / ORDINARY < largest < ORDINARY
    return 1.0 if is_ordinary else float(2.0 ** round(math.log2(largest) / 2.0))


Penalty = tuple[float, float]
"""Factors of absolute values and of halved squares."""


def _penalties(parameters: Seen, shape: tuple[int, int], root: float, beta: float) -> tuple[Penalty, Penalty]:
    """Return the penalties on the weights and on the components, in units of ``root``."""
    mix, alpha = float(parameters.l1_ratio), float(parameters.alpha_W)
    on_components = alpha if isinstance(parameters.alpha_H, str) else float(parameters.alpha_H)
    with np.errstate(over="ignore", under="ignore"):
        one, two = (float(np.float64(root) ** (power - 2.0 * beta)) for power in (1.0, 2.0))
    first, second = (
        (a * mix and a * mix * one, a * (1.0 - mix) and a * (1.0 - mix) * two)
        for a in (shape[1] * alpha, shape[0] * on_components)
    )
    return first, second


def _divergence(x: Array, r: Array, beta: float) -> float:
    """Return the sum over the entries that are known: NaN do not count, and 0 log 0 is 0."""
    x, r = x[~np.isnan(x)], r[~np.isnan(x)]
    if beta == 2.0:
        return 0.5 * float(np.sum((x - r) ** 2))
    at_zeros, r = r[x == 0.0], np.maximum(r, SMALLEST)[x > 0.0]  # at zeros of the data the product may be 0
    x = x[x > 0.0]
    if beta == 1.0:
        return float(np.sum(x * np.log(x / r) - x + r) + np.sum(at_zeros))
    if beta == 0.0:
        return float(np.sum(x / r - np.log(x / r) - 1.0))
    there = np.sum(x**beta + (beta - 1.0) * r**beta - beta * x * r ** (beta - 1.0))
    return float(there + (beta - 1.0) * np.sum(at_zeros**beta)) / (beta * (beta - 1.0))


def _gains(factor: Array, gram: Array, products: Array, penalties: tuple[float, float]) -> float:
    r"""Return what the best step of each single entry would gain, summed over all entries.

    An entry with the gradient g and the curvature a moves to :math:`\max(f - g/a, 0)`, which gains
    :math:`gs - as^2/2` for the step s; with no curvature, to 0 where the gradient is above 0.
    """
    curvature = np.broadcast_to(np.diagonal(gram)[:, None] + penalties[1], factor.shape)
    gradient = gram @ factor - products + penalties[0] + penalties[1] * factor
    free = gradient / np.where(curvature > 0.0, curvature, 1.0)
    step = np.where(curvature > 0.0, np.minimum(factor, free), np.where(gradient > 0.0, factor, 0.0))
    return float(np.sum(gradient * step - 0.5 * curvature * step**2))


def _least_residual(dtype: Any) -> float:
    """Return what rounding of the stored factors leaves of a residual."""
    return max(RESIDUAL, rounding_unit(dtype) if np.dtype(dtype) != np.float64 else 0.0)


def _wrong_entries(W: Array, H: Array, q: int, parameters: Seen, shape: tuple[int, int]) -> float:
    n, d = shape
    if W.shape != (n, q):
        return math.inf
    return float(np.sum(~(W >= 0.0))) + _wrong_components(H, q, parameters, d)


def _wrong_components(H: Array, q: int, parameters: Seen, d: int) -> float:
    asked = parameters.n_components
    is_other = (asked is None and q != d) or (not isinstance(asked, str) and asked is not None and q != asked)
    return math.inf if H.shape != (q, d) or is_other else float(np.sum(~(H >= 0.0)))


def _error_claim(stored: float, squared: float, size: float, beta: float, shape: tuple[int, int]) -> Claim:
    """Return the claim that the stored error is that of the stored factors; squares, since a root forgets near 0."""
    spread = 1.0 if beta in (0.0, 1.0, 2.0) else 1.0 + 1.0 / abs(beta * (beta - 1.0))
    size = max(size, squared, TINY)
    n, d = shape
    statement = "distance of the squared reconstruction_err_ from its recomputed value, in parts of the data's size"
    off = abs(stored * abs(stored) - max(squared, 0.0))
    return Claim("error", statement, off / size, sum_error(n * d) * spread)


def _coordinates_claim(problem: DivergenceProblem, W: Array, H: Array, parameters: Seen, dtype: Any) -> Claim:
    gains = _gains(W.T, H @ H.T, _products(problem.X, W, H).T, problem.on_weights)
    gains += _gains(H, W.T @ W, _products(problem.X.T, H.T, W.T).T, problem.on_components)
    return _gains_claim(gains, problem.size, parameters, dtype)


def _gains_claim(gains: float, size: float, parameters: Seen, dtype: Any) -> Claim:
    return Claim("stationary",
                 "root of what the best steps of single entries gain, in parts of half the squared norm of the data",
                 float(np.sqrt(np.maximum(gains, 0.0) / max(0.5 * size, TINY))),
                 max(float(parameters.tol), _least_residual(dtype)), _remedy(parameters))  # fmt: skip


def _products(X: SparseOrDense, W: Array, H: Array) -> Array:
    """Return the data times the components; what is missing is as in the product."""
    if sparse.issparse(X):
        return np.asarray(X.astype(np.float64) @ H.T)
    return np.concatenate([np.where(np.isnan(x), W[rows] @ H, x) @ H.T for rows, x in _blocks(X)])


def _blocks(X: SparseOrDense) -> Iterator[tuple[slice, Array]]:
    """Yield the rows in dense blocks of float64."""
    n, d = X.shape
    height = max(1, ENTRIES_AT_ONCE // d)
    for start in range(0, n, height):
        rows = slice(start, min(n, start + height))
        yield rows, dense(X[rows]).astype(np.float64, copy=False)


def _step_claim(problem: DivergenceProblem, W: Array, H: Array, parameters: Seen, dtype: Any) -> Claim:
    before, turned = problem.objective(W, H), problem.X.T.tocsr() if sparse.issparse(problem.X) else problem.X.T
    W = _stepped(W, *_quotient(problem.X, W, H, problem.beta), problem.on_weights, problem.beta)
    H = _stepped(H.T, *_quotient(turned, H.T, W.T, problem.beta), problem.on_components, problem.beta).T
    after = problem.objective(W, H)
    decrease = math.sqrt(2.0 * max(before, 0.0)) - math.sqrt(2.0 * max(after, 0.0))
    return Claim(
        "stationary",
        "decrease of the error by one more multiplicative step, in parts of the root of twice the data's size",
        float(np.maximum(decrease, 0.0)) / max(math.sqrt(2.0 * problem.size), TINY),
        max(float(parameters.tol), _least_residual(dtype)),
        _remedy(parameters),
    )


def _quotient(X: SparseOrDense, W: Array, H: Array, beta: float) -> tuple[Array, Array]:
    """Return by what the weights are multiplied and divided; for the components all is transposed."""
    if beta == 1.0 and sparse.issparse(X):
        ratios = X.data / np.maximum(product_entries(X, W, H), SMALLEST)
        above = sparse.csr_array((ratios, X.indices, X.indptr), shape=X.shape) @ H.T
        return np.asarray(above), np.broadcast_to(H.sum(axis=1), W.shape)
    above, below = np.empty(W.shape), np.empty(W.shape)
    for rows, x in _blocks(X):
        product = np.maximum(W[rows] @ H, SMALLEST) if beta < 2.0 else W[rows] @ H
        known = np.where(np.isnan(x), product, x)
        above[rows], below[rows] = (known * product ** (beta - 2.0)) @ H.T, product ** (beta - 1.0) @ H.T
    return above, below


def _stepped(factor: Array, above: Array, below: Array, penalties: tuple[float, float], beta: float) -> Array:
    below = below + penalties[0] + penalties[1] * factor
    power = 1.0 / (2.0 - beta) if beta < 1.0 else 1.0 / (beta - 1.0) if beta > 2.0 else 1.0
    return np.asarray(factor * (above / np.where(below > 0.0, below, 1.0)) ** power)


def _rank_claim(gram: Array, squared: float, q: int) -> Claim:
    """Return the claim that no matrix of the same rank has a larger error, which says how near ours is to the best.

    ``gram`` has the products of the columns of the data, or of their rows.
    """
    values = eigvalsh(gram, check_finite=False)
    noise = sum_error(len(values)) * float(values[-1]) * len(values)
    least = max(float(values[: max(len(values) - q, 0)].sum()) - noise, 0.0)
    return Claim(
        "rank",
        "least error of any matrix of this rank, negative entries allowed, in parts of this one: 1 is the best",
        math.sqrt(least / squared) if least > 0.0 and squared > 0.0 else 0.0 if least == 0.0 else math.inf,
        1.0 + 1e-9,
    )


def _remedy(parameters: Seen) -> str:
    return f"Maximum number of iterations {parameters.max_iter} reached. Increase it to improve convergence."


# Rows in blocks: no weights are stored, so that a pass finds the best ones for the stored components.


def prove_nmf_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate of components alone, with the best weights for them: those that ``transform`` says."""
    H, d = np.asarray(fitted.components_, dtype=np.float64), blocks.n_features
    wrong = _wrong_components(H, fitted.n_components_, parameters, d) if parameters.solver == "cd" else math.inf
    factors = Claim("factors", "entries below 0, and sizes that do not fit together", wrong, 0.0)
    if wrong:
        return Certificate("stationary", (factors,))
    n, largest, gram = blocks.reduce(size_of_block, join_sizes, d <= MOST_SIDE)
    root = _unit_of(largest)
    H, gram = H / root, gram / root**2 / root**2
    on_weights, on_components = _penalties(parameters, (n, d), root, 2.0)
    products, crossed, squared, gains = blocks.reduce(weights_of_block, added_parts, H, root, on_weights)
    gains += _gains(H, products, crossed, on_components)
    size = float(np.trace(gram)) if gram.ndim == 2 else float(gram.sum())
    claims = [
        factors,
        _error_claim(fitted.reconstruction_err_ / root**2, squared, size, 2.0, (n, d)),
        _gains_claim(gains, size, parameters, np.float64),
    ]
    if gram.ndim == 2:
        claims.append(_rank_claim(gram, squared, len(H)))
    return Certificate("stationary", tuple(claims))


def size_of_block(block: Any, has_products: bool) -> tuple[int, float, Array]:
    """Return the rows of a block, the largest entry, and the products of its columns, or their squares alone."""
    X = dense(block.X).astype(np.float64)
    return len(X), float(X.max()), X.T @ X if has_products else np.sum(X**2, axis=0)


def join_sizes(found: Sequence[tuple[int, float, Array]]) -> tuple[int, float, Array]:
    """Return the same of several blocks."""
    return (
        sum(n for n, _, _ in found),
        max(most for _, most, _ in found),
        np.sum([gram for _, _, gram in found], axis=0),
    )


def weights_of_block(block: Any, H: Array, root: float, penalties: Penalty) -> tuple[Array, Array, float, float]:
    """Return, of the best weights, ``W'W`` and ``W'X``, the squared error, and what their entries could gain."""
    X = dense(block.X).astype(np.float64) / root / root
    gram, right = H @ H.T, H @ X.T
    W = best_nonnegative(gram + penalties[1] * np.eye(len(H)), right - penalties[0])
    return W @ W.T, W @ X, float(np.sum((X - W.T @ H) ** 2)), _gains(W, gram, right, penalties)


def added_parts(found: Sequence[tuple[Array, Array, float, float]]) -> tuple[Array, Array, float, float]:
    """Return the sums over several blocks."""
    products, crossed, squared, gains = (np.sum(parts, axis=0) for parts in zip(*found, strict=True))
    return products, crossed, float(squared), float(gains)


PATIENCE = 3
"""Exchanges of all wrong entries in a row that leave no fewer of them, before they are exchanged one by one."""


def best_nonnegative(A: Array, B: Array) -> Array:
    r"""Return the minimizer of :math:`\tfrac12w'Aw - b'w` over :math:`w \ge 0` for each column b.

    Block principal pivoting (Kim and Park): entries are free or 0, those of the wrong sign change sides.
    """
    q, m = B.shape
    is_free, W = np.zeros((q, m), dtype=bool), np.zeros((q, m))
    slope, fewest, patience = -B, np.full(m, q + 1), np.full(m, PATIENCE)
    unit = 1e-13 * np.abs(B).max(axis=0, initial=0.0)
    for _ in range(10 * q + 20):
        is_wrong = np.where(is_free, W < 0.0, slope < -unit)
        count = is_wrong.sum(axis=0)
        left = np.flatnonzero(count)
        if not len(left):
            break
        is_fewer = count < fewest
        patience = np.where(is_fewer, PATIENCE, patience - 1)
        fewest = np.minimum(fewest, count)
        last = q - 1 - np.argmax(is_wrong[::-1], axis=0)
        change = np.where(patience >= 0, is_wrong, (np.arange(q)[:, None] == last) & is_wrong)
        is_free ^= change
        W[:, left] = _solved(A, B[:, left], is_free[:, left])
        slope[:, left] = A @ W[:, left] - B[:, left]
    return np.maximum(W, 0.0)


def _solved(A: Array, B: Array, is_free: Array) -> Array:
    """Return the columns whose free entries solve their equations; columns with the same ones free go together."""
    W = np.zeros_like(B)
    patterns, which = np.unique(is_free, axis=1, return_inverse=True)
    for k, pattern in enumerate(patterns.T):
        own = np.flatnonzero(which.reshape(-1) == k)
        if pattern.any():
            W[np.ix_(pattern, own)] = lstsq(A[np.ix_(pattern, pattern)], B[np.ix_(pattern, own)])[0]
    return W


PROVES = {"NMF": prove_nmf}
PROVES_BLOCKS = {"NMF": prove_nmf_in_passes}
