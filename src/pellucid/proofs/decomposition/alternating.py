r"""Proof of alternating least squares: every row solves its equations, and one more step for the columns gains little.

With :math:`e = zb - x` at the known entries, the factor of a row solves its ridge regression exactly where
:math:`\sum_j e_{ij}b_j + \alpha z_i = 0`, up to the rounding of the numbers that are summed. The components are not the
best for these rows, only nearly: the ridge regression of a column with the gradient :math:`g` and the matrix
:math:`A = \sum_i z_iz_i' + \beta I` gains :math:`\tfrac12 g'A^{-1}g`, exactly. Summed over the columns, in parts of
half the squares of the data, the root of that is at most ``tol``. Of many columns some are looked at, drawn at random.
Factors that are turned together are as good; by rule the components are at right angles, the longest first, and the
first of the largest entries of each is above 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.blocks import OneBlock
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.matrices.eigenpairs import wrong_signs
from pellucid.proofs.rounding import TINY, rounding_unit, sum_error
from pellucid.proofs.sampling import drawn, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

COLUMNS = 500
"""Columns whose gain is computed."""

COLUMNS_AT_FIT = 100

ENTRIES_AT_ONCE = 1 << 16

ROWS_AT_ONCE = 1 << 11

RESIDUAL = 1e-7
"""The least residual that is asked for, whatever ``tol`` says: a solver that looks at differences of objectives sees
the root of their rounding."""


def prove_alternating(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data; a fit looks at fewer columns."""
    if not hasattr(fitted, "weights_"):  # of a fit to rows in blocks
        return prove_alternating_in_passes(fitted, parameters, OneBlock.of(data))
    Z, B = (np.asarray(factor, dtype=np.float64) for factor in (fitted.weights_, fitted.components_))
    n, d = data.X.shape
    q = parameters.n_components
    also = {"components_": np.isfinite(np.sum(Z) + np.sum(B))}
    if wrong := misshapen("stationary", fitted, also, weights_=(n, q), components_=(q, d)):
        return wrong
    known = _known_entries(data.X)
    alphas = _penalties(parameters)
    rest = product_entries(known, Z, B) - known.data
    error = sparse.csr_array((rest, known.indices, known.indptr), shape=known.shape)
    half = 0.5 * float(known.data @ known.data)
    value = 0.5 * float(rest @ rest) + 0.5 * alphas[0] * float(np.vdot(Z, Z)) + 0.5 * alphas[1] * float(np.vdot(B, B))
    return Certificate(
        "stationary",
        (
            _objective_claim(fitted.objective_, value, half, known.nnz),
            _rows_claim(known, error, Z, B, alphas[0], data.X.dtype),
            _columns_claim(error, Z, B, alphas[1], half, parameters, data.X.dtype),
            _axes_claim(B, data.X.dtype),
        ),
    )


def _objective_claim(stored: float, value: float, half: float, n_known: int) -> Claim:
    statement = "distance of objective_ from its recomputed value, in parts of half the squares of the data"
    return Claim("objective", statement, abs(stored - value) / max(half, value, TINY), sum_error(n_known))


def _axes_claim(B: Array, dtype: Any) -> Claim:
    """Return the claim that the components are those that the rule chooses of all that are as good."""
    products = B @ B.T
    squares = np.diagonal(products)
    off = np.abs(products - np.diag(squares)).max(initial=0.0) + np.max(np.diff(squares), initial=0.0)
    mirrored = wrong_signs(B[np.any(B != 0.0, axis=1)].T, 1e-9 + rounding_unit(dtype))
    statement = "products of two components, and rises of length, in parts of the longest; and those of the other sign"
    longest = max(float(squares.max(initial=0.0)), TINY)
    return Claim("axes", statement, float(off) / longest + mirrored, sum_error(B.shape[1]) + rounding_unit(dtype))


def _penalties(parameters: Seen) -> tuple[float, float]:
    """Return the penalties of the rows and of the components."""
    alpha = float(parameters.alpha)
    return alpha, alpha if parameters.alpha_components is None else float(parameters.alpha_components)


def _rows_claim(known: Any, error: Any, Z: Array, B: Array, alpha: float, dtype: Any) -> Claim:
    """Return the claim that every row solves its equations, in parts of the numbers that they are sums of."""
    gradient = error @ B.T + alpha * Z
    summed = np.abs(known.data) + product_entries(known, np.abs(Z), np.abs(B))
    sizes = sparse.csr_array((summed, known.indices, known.indptr), shape=known.shape)
    terms = np.sum(sizes @ np.abs(B.T) + alpha * np.abs(Z), axis=1)
    off = np.max(np.abs(gradient).max(axis=1) / np.maximum(terms, TINY), initial=0.0)
    most = int(np.diff(known.indptr).max(initial=0))
    statement = "largest residual of the equations of a row, in parts of the numbers that are summed"
    return Claim("rows", statement, float(off), max(sum_error(most * len(B)), rounding_unit(dtype)))


def _columns_claim(error: Any, Z: Array, B: Array, alpha: float, half: float, parameters: Seen, dtype: Any) -> Claim:
    columns = drawn(B.shape[1], COLUMNS_AT_FIT if is_fitting() else COLUMNS)
    some = sparse.csr_array(error[:, columns].T)
    gradients = some @ Z + alpha * B[:, columns].T
    gain = 0.0
    for j in range(len(columns)):
        own = Z[some.indices[some.indptr[j] : some.indptr[j + 1]]]
        gram = own.T @ own + alpha * np.eye(len(B))
        gain += 0.5 * float(gradients[j] @ np.linalg.lstsq(gram, gradients[j], rcond=None)[0])
    return _gain_claim(gain, half, parameters, dtype, len(columns), B.shape[1])


def _gain_claim(gain: float, half: float, parameters: Seen, dtype: Any, n_looked_at: int, d: int) -> Claim:
    gain *= d / n_looked_at
    part = "" if n_looked_at == d else f", estimated from {n_looked_at:,} of {d:,} columns"
    slack = 1.0 if not part else 1.5  # the sum over some of them may be more than their share
    floor = max(RESIDUAL, rounding_unit(dtype) if np.dtype(dtype) != np.float64 else 0.0)
    return Claim(
        "columns",
        f"root of what the best components for these rows would gain, in parts of half the squares of the data{part}",
        math.sqrt(max(gain, 0.0) / max(half, TINY)) if math.isfinite(gain) else math.inf,
        slack * max(float(parameters.tol), floor),
        f"Raise max_iter above {parameters.max_iter}, or alpha.",
    )


def _known_entries(X: SparseOrDense) -> Any:
    """Return the entries that are known, as CSR in float64: those that are stored, or that are not NaN."""
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    rows, columns = np.nonzero(~np.isnan(X))
    return sparse.coo_array((X[rows, columns].astype(np.float64), (rows, columns)), shape=X.shape).tocsr()


def product_entries(X: SparseOrDense, W: Array, H: Array) -> Array:
    """Return the entries of ``WH`` where a CSR matrix has one, a block of them at a time."""
    entries, found = X.tocoo(), np.empty(X.nnz)
    for start in range(0, X.nnz, ENTRIES_AT_ONCE):
        some = slice(start, start + ENTRIES_AT_ONCE)
        found[some] = np.sum(W[entries.row[some]] * H.T[entries.col[some]], axis=1)
    return found


# Rows in blocks: no factors of rows are stored, so that a pass finds the best ones for the stored components.


def prove_alternating_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate of components alone, with the best factors of the rows: those that ``transform`` says."""
    B, (q, d) = np.asarray(fitted.components_, dtype=np.float64), (parameters.n_components, blocks.n_features)
    also = {"components_": np.isfinite(np.sum(B))}
    if wrong := misshapen("stationary", fitted, also, components_=(q, d)):
        return wrong
    alphas = _penalties(parameters)
    half, n_known, value, grams, slopes = blocks.reduce(factors_of_block, added_factors, B, alphas[0])
    value += 0.5 * alphas[1] * float(np.vdot(B, B))
    slopes, grams = slopes + alphas[1] * B.T, grams + alphas[1] * np.eye(q)
    steps = (np.linalg.lstsq(gram, slope, rcond=None)[0] for gram, slope in zip(grams, slopes, strict=True))
    gain = sum(0.5 * float(slope @ step) for slope, step in zip(slopes, steps, strict=True))
    claims = (
        _objective_claim(fitted.objective_, value, half, int(n_known)),
        _gain_claim(gain, half, parameters, np.float64, d, d),
        _axes_claim(B, np.float64),
    )
    return Certificate("stationary", claims)


def factors_of_block(block: Any, B: Array, alpha: float) -> tuple[Any, ...]:
    """Return half the squares of the known entries, their number, the objective of their best factors, and columns.

    Of each column these are the matrix of its equations and the slope, both without the penalty of the components.
    """
    X, q = _with_gaps(block.X), len(B)
    pairs = (B[:, None, :] * B[None, :, :]).reshape(q * q, -1)
    half, value, n_known = 0.0, 0.0, 0
    grams, slopes = np.zeros((X.shape[1], q * q)), np.zeros((X.shape[1], q))
    for start in range(0, len(X), ROWS_AT_ONCE):
        x = X[start : start + ROWS_AT_ONCE].astype(np.float64)
        there = ~np.isnan(x)
        x, known = np.where(there, x, 0.0), there.astype(np.float64)
        own = (known @ pairs.T).reshape(-1, q, q) + alpha * np.eye(q)
        right = (x @ B.T)[:, :, None]
        Z = (np.linalg.solve(own, right) if alpha > 0.0 else np.linalg.pinv(own, hermitian=True) @ right)[:, :, 0]
        rest = np.where(there, Z @ B - x, 0.0)
        half, n_known = half + 0.5 * float(np.sum(x**2)), n_known + int(there.sum())
        value += 0.5 * float(np.sum(rest**2)) + 0.5 * alpha * float(np.sum(Z**2))
        grams += known.T @ np.einsum("iq,ir->iqr", Z, Z).reshape(len(Z), -1)
        slopes += rest.T @ Z
    return half, n_known, value, grams.reshape(-1, q, q), slopes


def added_factors(found: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sums over several blocks."""
    return tuple(np.sum(parts, axis=0) for parts in zip(*found, strict=True))


def _with_gaps(X: SparseOrDense) -> Array:
    """Return rows with NaN where nothing is known."""
    if not sparse.issparse(X):
        return np.asarray(X)
    known, full = sparse.coo_array(X), np.full(X.shape, np.nan)
    full[known.row, known.col] = known.data
    return full


PROVES = {"AlternatingLeastSquares": prove_alternating}
PROVES_BLOCKS = {"AlternatingLeastSquares": prove_alternating_in_passes}
