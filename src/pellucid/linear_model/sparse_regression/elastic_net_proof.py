r"""Proof of an elastic net: the duality gap and the mean residual, recomputed from raw data in float64.

For weights :math:`s_i` with sum :math:`n`, the centered residual gives the dual point; weak duality bounds how far the
objective

.. math:: \frac{1}{2n} \sum_i s_i (y_i - x_i^\top w - w_0)^2 + \alpha\rho\|w\|_1 + \frac{\alpha(1 - \rho)}{2}\|w\|_2^2

is above its minimum over :math:`w` and :math:`w_0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.types import Array

ROUNDING = 64 * np.finfo(np.float64).eps
"""Relative error that sums of rounded numbers may have."""

REPRODUCED = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
"""How closely the reported gap must be found again, as a part of the variance of the target, by dtype of the model."""

ROWS_AT_ONCE = 4096

LARGEST_DENSE = 1 << 24
"""Most entries of a sparse matrix that is made dense to project on its columns, which only ``alpha=0`` needs."""


@dataclass(frozen=True)
class FittedElasticNet:
    """What the proof may see of one target of a fitted model."""

    coef: Array
    intercept: float
    dual_gap: float
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    positive: bool
    tol: float


def prove_elastic_net(X: Array, y: Array, weight: Array, model: FittedElasticNet) -> Certificate:
    """Return the certificate of one target; ``weight`` has mean 1."""
    w = model.coef.astype(np.float64)
    n = len(y)
    mean = np.asarray(weight @ X).ravel() / n if model.fit_intercept else np.zeros(X.shape[1])
    y_mean = float(weight @ y) / n if model.fit_intercept else 0.0
    residual = y - y_mean - _product(X, mean, w)
    drift = y_mean - float(mean @ w) - model.intercept  # the mean residual, not yet rounded by large values of X
    residual -= float(weight @ residual) / n if model.fit_intercept else 0.0
    gap = _gap(X, mean, residual, weight, w, model) + 0.5 * drift**2
    mean_sq_target = float(weight @ (y - y_mean) ** 2) / n
    mean_sq_raw = float(weight @ y**2) / n
    scale = np.sqrt(mean_sq_raw) + float(np.abs(mean) @ np.abs(w)) + abs(model.intercept)
    return elastic_net_certificate(
        gap=gap,
        bound=gap_bound(model.tol, mean_sq_target, mean_sq_raw),
        discrepancy=abs(gap - model.dual_gap),
        reproduced=REPRODUCED[model.coef.dtype] * mean_sq_target + gap_bound(0.0, mean_sq_target, mean_sq_raw),
        drift=abs(drift),
        drift_bound=intercept_bound(model.intercept, scale, model.coef.dtype) if model.fit_intercept else 0.0,
    )


def elastic_net_certificate(
    *, gap: float, bound: float, discrepancy: float, reproduced: float, drift: float, drift_bound: float
) -> Certificate:
    """Return the certificate with these numbers; a model that breaks ``positive`` has an infinite gap."""
    remedy = "Raise max_iter or tol, or standardize X."
    return Certificate(
        "optimal",
        (
            Claim("duality gap", "the objective is at most this far above its minimum", gap, bound, remedy),
            Claim(
                "reported gap",
                "dual_gap_ differs by this from the gap of coef_ and intercept_",
                discrepancy,
                reproduced,
            ),
            Claim("intercept", "size of the mean residual, 0 up to rounding", drift, drift_bound),
        ),
    )


def gap_bound(tol: float, mean_sq_target: float, mean_sq_raw: float) -> float:
    """Return the gap to reach: ``tol`` times the variance of the target, plus what rounding the target may cause."""
    rounding = ROUNDING * np.sqrt(mean_sq_raw)
    return float(tol * mean_sq_target + rounding * (rounding + np.sqrt(mean_sq_target)))


def intercept_bound(intercept: float, scale: float, dtype: np.dtype) -> float:
    """Return how far from 0 the mean residual may be: the intercept is stored in ``dtype``, sums are in float64."""
    return float(np.finfo(dtype).eps * abs(intercept) + ROUNDING * scale)


def _gap(X: Array, mean: Array, residual: Array, weight: Array, w: Array, model: FittedElasticNet) -> float:
    n = len(residual)
    if model.positive and np.any(w < 0.0):
        return np.inf
    l1, l2 = model.alpha * model.l1_ratio, model.alpha * (1.0 - model.l1_ratio)
    weighted = weight * residual / n
    correlations = _transposed_product(X, mean, weighted)
    if l1 == l2 == 0.0 and not model.positive:
        return _projection_gap(X, mean, residual, weight)
    half_square = 0.5 * float(weighted @ residual)
    primal_less_fit = l1 * np.abs(w).sum() + 0.5 * l2 * float(w @ w)
    gaps = []
    # First dual point: the residual of the problem with rows sqrt(l2) I appended, shrunk into the feasible box.
    slopes = correlations - l2 * w
    steepest = max(0.0, float((slopes if model.positive else np.abs(slopes)).max()))
    shrink = 1.0 if steepest <= l1 else l1 / steepest
    ridge = 0.5 * l2 * float(w @ w)
    gaps.append((1.0 - shrink) ** 2 * (half_square + ridge) + l1 * np.abs(w).sum() - shrink * float(w @ slopes))
    # Second: the residual itself, where the conjugate of the penalty is a squared excess.
    if l2 > 0.0:
        excess = np.maximum((correlations if model.positive else np.abs(correlations)) - l1, 0.0)
        gaps.append(primal_less_fit + float(excess @ excess) / (2.0 * l2) - float(w @ correlations))
    return max(0.0, float(min(gaps)))


def _projection_gap(X: Any, mean: Array, residual: Array, weight: Array) -> float:
    """Without a penalty the objective is above its minimum by the part of the residual that the columns explain."""
    is_sparse = sparse.issparse(X)
    if is_sparse and X.shape[0] * X.shape[1] > LARGEST_DENSE:
        return np.inf
    A = ((X.toarray() if is_sparse else X) - mean) * np.sqrt(weight)[:, None]
    explained = A @ lstsq(A, np.sqrt(weight) * residual)[0]
    return 0.5 * float(explained @ explained) / len(residual)


def _product(X: Array, mean: Array, w: Array) -> Array:
    """Return ``(X - 1 mean') w``; centered before multiplying, so that large means cost no digits."""
    support = np.flatnonzero(w)
    if sparse.issparse(X):
        return X @ w - mean @ w
    return np.concatenate([(X[rows][:, support] - mean[support]) @ w[support] for rows in _row_blocks(len(X))])


def _transposed_product(X: Array, mean: Array, r: Array) -> Array:
    """Return ``(X - 1 mean')' r``."""
    if sparse.issparse(X):
        return X.T @ r - mean * r.sum()
    return np.sum([(X[rows] - mean).T @ r[rows] for rows in _row_blocks(len(X))], axis=0)


def _row_blocks(n: int) -> list[slice]:
    return [slice(start, min(start + ROWS_AT_ONCE, n)) for start in range(0, n, ROWS_AT_ONCE)]
