r"""Proof of a least angle path: equal correlations at every breakpoint, recomputed from raw data in float64.

At a breakpoint with coefficients :math:`w` and value :math:`\alpha`, the correlations :math:`c = A^\top(b - Aw)` must
be :math:`|c_j| = n\alpha` where :math:`w_j \ne 0` and :math:`|c_j| \le n\alpha` elsewhere. For the lasso also
:math:`\operatorname{sign} c_j = \operatorname{sign} w_j`: these are its optimality conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_of
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.training_data import TrainingData

EQUAL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""How equal correlations must be, relative to the largest one possible, by dtype of the model."""

ROUNDING = sum_error(0)
"""Relative error that sums of rounded numbers may have."""

BREAKPOINTS_AT_ONCE = 64


@dataclass(frozen=True)
class LarsTarget:
    """One target of a fitted model, and what it should be; the path may be its last point alone."""

    coef: Array
    intercept: float
    alphas: Array
    coef_path: Array
    fit_intercept: bool
    lasso: bool
    positive: bool
    wanted_alpha: float | None
    jitter: float
    dtype: Any


def target_of(fitted: Any, parameters: Any, k: int, dtype: Any) -> LarsTarget:
    """Return target ``k`` of the fitted attributes; a penalty among the parameters makes it a lasso."""
    one = fitted.coef_.ndim == 1
    coef = fitted.coef_ if one else fitted.coef_[k]
    path = coef[:, None]
    if parameters.fit_path:
        path = fitted.coef_path_ if one else fitted.coef_path_[k]
    alpha = getattr(parameters, "alpha", None)
    return LarsTarget(
        coef=coef,
        intercept=float(fitted.intercept_ if np.ndim(fitted.intercept_) == 0 else fitted.intercept_[k]),
        alphas=np.asarray(fitted.alphas_ if one else fitted.alphas_[k]),
        coef_path=path,
        fit_intercept=parameters.fit_intercept,
        lasso=alpha is not None,
        positive=getattr(parameters, "positive", False),
        wanted_alpha=None if alpha is None else float(alpha),
        jitter=float(parameters.jitter or 0.0),
        dtype=dtype,
    )


def prove_lars(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the worst target."""
    X, Y = data.X.astype(np.float64, copy=False), data.y.astype(np.float64, copy=False).reshape(len(data.y), -1)
    mean = X.mean(axis=0) if parameters.fit_intercept else np.zeros(X.shape[1])
    A, certificates = X - mean, []
    column_norm = float(np.sqrt((A**2).sum(axis=0).max()))
    for k, y in enumerate(Y.T):
        y_mean = float(y.mean()) if parameters.fit_intercept else 0.0
        target, b = target_of(fitted, parameters, k, data.X.dtype), y - y_mean
        certificate = lars_certificate(target, _imbalance(A, b, target), column_norm, b, mean, y_mean)
        if parameters.fit_path:
            active = fitted.active_ if Y.shape[1] == 1 else fitted.active_[k]
            certificate = certificate.with_claims(active_claim(active, target, A, b))
        certificates.append(certificate)
    return worst_of(certificates)


def lars_certificate(
    model: LarsTarget, imbalance: float, column_norm: float, b: Array, mean: Array, y_mean: float
) -> Certificate:
    """Return the claims, given the largest deviation from equal correlations and the largest norm of a column."""
    size, equal = column_norm * float(np.linalg.norm(b)), EQUAL[model.dtype]
    noise = model.jitter * np.sqrt(len(b)) * column_norm
    claims = [
        Claim(
            "equal correlations",
            "largest deviation from equal correlations at a breakpoint, relative to |X| |y|",
            imbalance / size if size > 0.0 else 0.0,
            equal + (noise / size if size > 0.0 else 0.0),
            "Standardize X, or drop nearly collinear columns.",
        ),
        Claim(
            "end of path",
            "difference between coef_ and the last breakpoint",
            float(np.abs(model.coef_path[:, -1] - model.coef).max()),
            0.0,
        ),
        _intercept_claim(model, b, mean, y_mean),
    ]
    if model.wanted_alpha is not None:
        shortfall = float(model.alphas[-1]) - model.wanted_alpha
        statement = "how far the path stopped above alpha"
        claims.append(Claim("penalty reached", statement, shortfall, equal * model.wanted_alpha, "Raise max_iter."))
    return Certificate("exact", tuple(claims))


def active_claim(active: list[int], model: LarsTarget, A: Array, b: Array) -> Claim:
    """Return the claim that ``active_`` has the features in use at the end, each once, in the order they joined."""
    listed, path = np.asarray(active, dtype=int), model.coef_path.astype(np.float64)
    wrong = len(listed) - len(np.unique(listed)) + int(np.sum((listed < 0) | (listed >= len(path))))
    if wrong == 0:
        used = np.flatnonzero(path[:, -1])
        wrong += len(np.setdiff1d(used, listed))
        joined = np.array([np.flatnonzero(path[j] == 0.0).max(initial=-1) for j in listed])  # for good
        wrong += int(np.sum(np.diff(joined) < 0))
        # one that has just joined still has a coefficient of 0, and as large a correlation as the others
        idle = np.setdiff1d(listed, used)
        correlations = np.abs(A.T @ (b - A @ path[:, -1]))
        size = float(np.linalg.norm(A, axis=0).max(initial=0.0) * np.linalg.norm(b))
        wrong += int(np.sum(correlations[idle] < correlations.max(initial=0.0) - 100 * EQUAL[model.dtype] * size))
    return Claim("active", "features missing in active_, there without reason, or out of order", float(wrong), 0.0)


def _intercept_claim(model: LarsTarget, b: Array, mean: Array, y_mean: float) -> Claim:
    w = model.coef.astype(np.float64)
    drift = abs(y_mean - float(mean @ w) - model.intercept)
    scale = float(np.sqrt(np.mean(b**2))) + abs(y_mean) + float(np.abs(mean) @ np.abs(w)) + abs(model.intercept)
    bound = float(np.finfo(model.dtype).eps) * abs(model.intercept) + ROUNDING * scale + model.jitter
    statement = "size of the mean residual, 0 up to rounding"
    return Claim("intercept", statement, drift, bound if model.fit_intercept else 0.0)


def _imbalance(A: Array, b: Array, model: LarsTarget) -> float:
    """Return the largest violation of equal correlations over all breakpoints."""
    worst, coefs = 0.0, model.coef_path.astype(np.float64)
    for start in range(0, coefs.shape[1], BREAKPOINTS_AT_ONCE):
        w = coefs[:, start : start + BREAKPOINTS_AT_ONCE]
        level = len(b) * model.alphas[start : start + BREAKPOINTS_AT_ONCE].astype(np.float64)
        c = A.T @ (b[:, None] - A @ w)
        outside = (c if model.positive else np.abs(c)) - level
        inside = np.abs(c - level * np.sign(w)) if model.lasso else np.abs(np.abs(c) - level)
        worst = float(np.max([worst, outside.max(), np.where(w != 0.0, inside, 0.0).max()]))
        if model.positive and np.any(w < 0.0):
            return np.inf
    return worst


PROVES = {"Lars": prove_lars, "LassoLars": prove_lars}
