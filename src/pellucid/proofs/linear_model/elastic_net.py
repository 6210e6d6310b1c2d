r"""Proof of an elastic net: the duality gap and the mean residual, recomputed from raw data in float64.

For weights :math:`s_i` with sum :math:`n`, the centered residual gives the dual point; weak duality bounds how far the
objective

.. math:: \frac{1}{2n} \sum_i s_i (y_i - x_i^\top w - w_0)^2 + \alpha\rho\|w\|_1 + \frac{\alpha(1 - \rho)}{2}\|w\|_2^2

is above its minimum over :math:`w` and :math:`w_0`.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim, worst_of
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.rows import centered_times, relative_weights, transposed_centered_times
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROUNDING = sum_error(0)
"""Relative error that sums of rounded numbers may have."""

SMALLEST_ALPHA = float(np.finfo(np.float64).resolution)
"""Where an automatic grid ends if no column has anything to do with the target."""

REPRODUCED = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
"""How closely the reported gap must be found again, as a part of the variance of the target, by dtype of the model."""

LARGEST_DENSE = 1 << 24
"""Most entries of a sparse matrix that is made dense to project on its columns, which only ``alpha=0`` needs."""


def prove_elastic_net(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the worst target."""
    return _prove_lines(fitted, parameters, data, parameters.alpha, getattr(parameters, "l1_ratio", 1.0))


def prove_elastic_net_cv(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the final fit, and that its penalty is the best of the grid that the data imply.

    The held-out errors themselves are not computed again.
    """
    l1_ratio = getattr(fitted, "l1_ratio_", 1.0)
    ratios = [float(ratio) for ratio in np.atleast_1d(getattr(parameters, "l1_ratio", 1.0))]
    final = _prove_lines(fitted, parameters, data, fitted.alpha_, l1_ratio)
    return final.with_claims(
        _grid_claim(fitted, parameters, data, ratios),
        _selection_claim(fitted.mse_path_, fitted.alphas_, fitted.alpha_, ratios, l1_ratio),
    )


def _selection_claim(mse_path: Array, alphas: Array, alpha: float, l1_ratios: list[float], l1_ratio: float) -> Claim:
    """Return the claim that the values chosen have the smallest mean of the reported errors."""
    n_ratios, grids = len(l1_ratios), np.atleast_2d(alphas)
    grids = np.broadcast_to(grids, (n_ratios, grids.shape[1]))
    errors = np.asarray(mse_path, dtype=np.float64).reshape(n_ratios, grids.shape[1], -1).mean(axis=-1)
    chosen = (grids == alpha) & (np.asarray(l1_ratios)[:, None] == l1_ratio)
    excess = float(errors[chosen].min(initial=np.inf)) - float(errors.min())
    return Claim("selection", "mean held-out error of the values chosen, above the smallest on the grid", excess, 0.0)


def _grid_claim(fitted: Seen, parameters: Seen, data: TrainingData, l1_ratios: list[float]) -> Claim:
    """Return the claim that the penalties tried are the given ones, or fall from where all coefficients are 0."""
    stored = np.atleast_2d(np.asarray(fitted.alphas_, dtype=np.float64))
    if isinstance(parameters.alphas, Integral):
        tops = np.array([_largest_alpha(parameters, data, ratio) for ratio in l1_ratios])
        falling = tops[: len(stored), None] * np.geomspace(1.0, parameters.eps, int(parameters.alphas))
        right = np.where(tops[: len(stored), None] > SMALLEST_ALPHA, falling, SMALLEST_ALPHA)
    else:
        right = np.sort(np.asarray(parameters.alphas, dtype=np.float64).ravel())[::-1][None]
    distance = np.inf
    if right.shape == stored.shape:
        distance = float(np.max(np.abs(stored - right) / np.maximum(np.abs(right), SMALLEST_ALPHA)))
    return Claim("grid", "relative distance of alphas_ from what data and parameters imply", distance, 1e-9)


def _largest_alpha(parameters: Seen, data: TrainingData, l1_ratio: float) -> float:
    weight = relative_weights(data.weights)
    mean, y_mean = _means(data.X, data.y, weight, parameters.fit_intercept)
    slopes = transposed_centered_times(
        data.X, mean, weight * (np.asarray(data.y, dtype=np.float64) - y_mean) / len(weight)
    )
    steepest = float((slopes if parameters.positive else np.abs(slopes)).max(initial=0.0))
    return max(steepest / l1_ratio, SMALLEST_ALPHA) if l1_ratio > 0.0 else math.nan  # then alphas must be given


def _prove_lines(fitted: Seen, parameters: Seen, data: TrainingData, alpha: float, l1_ratio: float) -> Certificate:
    weight = relative_weights(data.weights)
    X, Y = data.X.astype(np.float64, copy=False), data.y.astype(np.float64, copy=False).reshape(len(data.y), -1)
    coefs, intercepts = np.atleast_2d(fitted.coef_).astype(np.float64), np.broadcast_to(fitted.intercept_, Y.shape[1])
    lines = zip(Y.T, coefs, intercepts, np.atleast_1d(fitted.dual_gap_), strict=True)
    l1, l2 = alpha * l1_ratio, alpha * (1.0 - l1_ratio)
    return worst_of([_prove_line(X, y, weight, w, b, gap, l1, l2, parameters, data.dtype) for y, w, b, gap in lines])


def _prove_line(
    X: SparseOrDense, y: Array, weight: Array, w: Array, intercept: float, reported: float, l1: float, l2: float,
    parameters: Seen, dtype: Any,
) -> Certificate:  # fmt: skip
    """Return the certificate of one target; ``weight`` has mean 1."""
    n = len(y)
    mean, y_mean = _means(X, y, weight, parameters.fit_intercept)
    residual = y - y_mean - centered_times(X, mean, w)
    drift = y_mean - float(mean @ w) - intercept  # the mean residual, not yet rounded by large values of X
    residual -= float(weight @ residual) / n if parameters.fit_intercept else 0.0
    mean_sq_target = float(weight @ (y - y_mean) ** 2) / n
    mean_sq_raw = float(weight @ y**2) / n
    gap, rounding = _gap(X, mean, residual, weight, w, l1, l2, parameters), _gap_bound(0.0, mean_sq_target, mean_sq_raw)
    # No objective is below its dual value: a gap below 0 by more than rounding is an error of one of them.
    gap = np.inf if gap < -rounding else max(gap, 0.0) + 0.5 * drift**2
    scale = np.sqrt(mean_sq_raw) + float(np.abs(mean) @ np.abs(w)) + abs(intercept)
    # the intercept is stored in the dtype of the model, sums are in float64
    drift_bound = float(np.finfo(dtype).eps * abs(intercept) + ROUNDING * scale) if parameters.fit_intercept else 0.0
    bound, remedy = _gap_bound(parameters.tol, mean_sq_target, mean_sq_raw), "Raise max_iter or tol, or standardize X."
    said, reproduced = "dual_gap_ differs by this from the gap of coef_ and intercept_", REPRODUCED[dtype]
    claims = (
        Claim("duality gap", "the objective is at most this far above its minimum", gap, bound, remedy),
        Claim("intercept", "size of the mean residual, 0 up to rounding", abs(drift), drift_bound),
        Claim("reported gap", said, abs(gap - float(reported)), reproduced * mean_sq_target + rounding),
    )
    return Certificate("optimal", claims)


def _means(X: SparseOrDense, y: Array, weight: Array, fit_intercept: bool) -> tuple[Array, float]:
    """Return what rows and target are centered by: 0 without an intercept."""
    if not fit_intercept:
        return np.zeros(X.shape[1]), 0.0
    return np.asarray(weight @ X).ravel() / len(y), float(weight @ y) / len(y)


def _gap_bound(tol: float, mean_sq_target: float, mean_sq_raw: float) -> float:
    """Return the gap to reach: ``tol`` times the variance of the target, plus what rounding the target may cause."""
    rounding = ROUNDING * np.sqrt(mean_sq_raw)
    return float(tol * mean_sq_target + rounding * (rounding + np.sqrt(mean_sq_target)))


def _gap(
    X: SparseOrDense, mean: Array, residual: Array, weight: Array, w: Array, l1: float, l2: float, parameters: Seen
) -> float:
    positive = parameters.positive
    if positive and np.any(w < 0.0):
        return np.inf
    if l1 == l2 == 0.0 and not positive:
        return _projection_gap(X, mean, residual, weight)
    weighted = weight * residual / len(residual)
    correlations = transposed_centered_times(X, mean, weighted)
    half_square, ridge = 0.5 * float(weighted @ residual), 0.5 * l2 * float(w @ w)
    # First dual point: the residual of the problem with rows sqrt(l2) I appended, shrunk into the feasible box.
    slopes = correlations - l2 * w
    steepest = max(0.0, float((slopes if positive else np.abs(slopes)).max()))
    shrink = 1.0 if steepest <= l1 else l1 / steepest
    gaps = [(1.0 - shrink) ** 2 * (half_square + ridge) + l1 * np.abs(w).sum() - shrink * float(w @ slopes)]
    # Second: the residual itself, where the conjugate of the penalty is a squared excess.
    if l2 > 0.0:
        excess = np.maximum((correlations if positive else np.abs(correlations)) - l1, 0.0)
        penalty = l1 * np.abs(w).sum() + ridge
        gaps.append(penalty + float(excess @ excess) / (2.0 * l2) - float(w @ correlations))
    return float(min(gaps))


def _projection_gap(X: SparseOrDense, mean: Array, residual: Array, weight: Array) -> float:
    """Without a penalty the objective is above its minimum by the part of the residual that the columns explain."""
    if sparse.issparse(X) and X.shape[0] * X.shape[1] > LARGEST_DENSE:
        return np.inf
    A = (dense(X) - mean) * np.sqrt(weight)[:, None]
    explained = A @ lstsq(A, np.sqrt(weight) * residual)[0]
    return 0.5 * float(explained @ explained) / len(residual)


PROVES = {
    "ElasticNet": prove_elastic_net,
    "Lasso": prove_elastic_net,
    "ElasticNetCV": prove_elastic_net_cv,
    "LassoCV": prove_elastic_net_cv,
}
