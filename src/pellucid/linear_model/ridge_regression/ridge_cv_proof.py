"""The proof that no other penalty predicts left-out rows better than the chosen one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import svd

from pellucid.core.certificate import Claim
from pellucid.core.types import Array, Data

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""


def penalty_claim(own: Array, best: Array) -> Claim:
    """Return the claim that the mean squared left-out errors ``own`` are no larger than the ``best``."""
    excess = np.max((own - best) / np.where(best > 0, best, 1.0))
    return Claim(
        "penalty",
        "left-out error of alpha_ above the least of all alphas, relative",
        float(max(excess, 0.0)),
        TIE,
        "Refit: alpha_ is not the best of alphas on these data.",
    )


def prove_penalty_choice(
    X: Data, y: Array, chosen: Array, alphas: Array, *, fit_intercept: bool, weight: Array | None
) -> Claim:
    """Return the claim about ``chosen`` (one penalty, or one per target), from a singular value decomposition."""
    y = np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1)
    weight = np.ones(len(y)) if weight is None else weight
    root = np.sqrt(weight)[:, None]
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    share = weight / weight.sum() if fit_intercept else np.zeros(len(y))
    if fit_intercept:
        dense, y = dense - weight @ dense / weight.sum(), y - weight @ y / weight.sum()
    left, s, _ = svd(root * dense, full_matrices=False, check_finite=False)
    left, s = left[:, s > 1e-13 * s.max(initial=0.0)], s[s > 1e-13 * s.max(initial=0.0)]
    b = root * y
    tried = np.concatenate([alphas, chosen])
    errors = np.array([_mean_squared_left_out(left, s, b, share, alpha) for alpha in tried])  # (a, t)
    if len(chosen) == 1:
        errors = errors.mean(axis=1, keepdims=True)
    best = errors[: len(alphas)].min(axis=0)
    own = np.array([errors[len(alphas) + k, k if len(chosen) > 1 else 0] for k in range(len(chosen))])
    return penalty_claim(own, best)


def _mean_squared_left_out(left: Array, s: Array, b: Array, share: Array, alpha: float) -> Array:
    kept = s**2 / (s**2 + alpha)
    residual = b - left @ (kept[:, None] * (left.T @ b))
    # 1 - leverage = alpha times what the penalty holds back, plus what lies outside the columns and the intercept;
    # written as a sum of such parts it stays accurate when the fit passes through every row.
    held_back = np.einsum("ij,j,ij->i", left, 1.0 - kept, left)
    outside = np.maximum(1.0 - np.einsum("ij,ij->i", left, left) - share, 0.0)
    return np.mean((residual / (held_back + outside)[:, None]) ** 2, axis=0)
