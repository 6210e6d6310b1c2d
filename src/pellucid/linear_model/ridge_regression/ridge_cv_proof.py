"""The proof that no other penalty predicts left-out rows better than the chosen one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import svd

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import sum_error
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_squares.least_squares_proof import prove_line

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""


def penalty_claim(own: Array, best: Array) -> Claim:
    """Return the claim that the mean squared left-out errors ``own`` are no larger than the ``best``."""
    excess = np.max((own - best) / np.where(best > 0, best, 1.0))
    return Claim(
        "penalty",
        "left-out error of alpha_ above the least of all alphas, relative",
        float(np.maximum(excess, 0.0)),
        TIE,
        "Refit: alpha_ is not the best of alphas on these data.",
    )


def prove_ridge_cv(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the final fit and, where rows are left out one by one, of the choice of its penalty."""
    certificate = prove_line(fitted, data, alpha=fitted.alpha_, parameters=parameters, tol=0.0)
    if parameters.cv is not None or parameters.scoring is not None:
        return certificate
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    choice = prove_penalty_choice(
        data.X,
        data.y,
        np.atleast_1d(fitted.alpha_),
        alphas,
        fit_intercept=parameters.fit_intercept,
        weight=data.weight,
    )
    return certificate.with_claims(choice)


def prove_penalty_choice(
    X: Data, y: Array, chosen: Array, alphas: Array, *, fit_intercept: bool, weight: Array | None
) -> Claim:
    """Return the claim about ``chosen`` (one penalty, or one per target), from a singular value decomposition.

    Errors are known to rounding, which tiny penalties magnify: compared are the least that the error of ``chosen`` can
    be and the largest that others can.
    """
    y = np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1)
    weight = np.ones(len(y)) if weight is None else weight
    root = np.sqrt(weight)[:, None]
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if fit_intercept:
        dense, y = dense - weight @ dense / weight.sum(), y - weight @ y / weight.sum()
    share = weight / weight.sum() if fit_intercept else np.zeros(len(y))
    left, s, is_whole = _directions(root * dense, root if fit_intercept else None)
    tried = np.concatenate([alphas, chosen])
    b = root * y
    ranges = np.array([_mean_squared_left_out(left, s, is_whole, b, share, alpha) for alpha in tried])  # (a, 2, t)
    if len(chosen) == 1:
        ranges = ranges.mean(axis=2, keepdims=True)
    best = ranges[: len(alphas), 1].min(axis=0)
    own = np.array([ranges[len(alphas) + k, 0, k if len(chosen) > 1 else 0] for k in range(len(chosen))])
    return penalty_claim(own, np.where(best < np.inf, best, own))  # of what no rounding bounds, nothing is claimed


def _directions(A: Array, root: Array | None) -> tuple[Array, Array, bool]:
    """Return left singular vectors, the values, and whether there are no other directions of the rows.

    Centered columns are at a right angle to the root weights, and that direction is left out: it is made the longest.
    """
    if root is None:
        left, s, _ = svd(A, full_matrices=False, check_finite=False)
        return left, s, left.shape[1] == len(A)
    largest = np.abs(A).max(initial=0.0)
    longest = 2.0 * largest * np.linalg.norm(A / largest) if largest > 0.0 else 1.0
    left, s, _ = svd(np.hstack([A, longest * root / np.linalg.norm(root)]), full_matrices=False, check_finite=False)
    return left[:, 1:], s[1:], left.shape[1] == len(A)


def _mean_squared_left_out(
    left: Array, s: Array, is_whole: bool, b: Array, share: Array, alpha: float
) -> tuple[Array, Array]:
    r"""Return the least and the largest that rounding allows for the mean square of the left-out errors, per target.

    The error of row i is :math:`\sum_ju_{ij}c_ju_j'b/\sum_ju_{ij}^2c_j`, where :math:`c_j = \alpha/(s_j^2+\alpha)`
    for the columns and 1 outside them. Both sums stay accurate when the fit passes through every row; the
    :math:`u_{ij}` are known to rounding only.
    """
    unit, along = sum_error(len(b)), left.T @ b
    lengths = np.hypot(s, np.sqrt(alpha))
    c = (np.min(lengths, initial=np.inf if is_whole else np.sqrt(alpha)) / lengths) ** 2  # a common factor divides out
    error, part = left @ (c[:, None] * along), left**2 @ c  # (n, t), (n,)
    error_unit = unit * np.linalg.norm(c[:, None] * along, axis=0)
    part_unit = 2.0 * unit * np.sqrt(left**2 @ c**2) + unit**2 * c.sum()
    if not is_whole:
        error = error + (b - left @ along)
        part = part + np.maximum(1.0 - np.sum(left**2, axis=1) - share, 0.0)
        error_unit, part_unit = error_unit + unit * np.linalg.norm(b, axis=0), part_unit + unit
    least = np.maximum(np.abs(error) - error_unit, 0.0) / (part + part_unit)[:, None]
    known = np.where(part > part_unit, part - part_unit, 0.0)[:, None]
    most = np.where(known > 0.0, (np.abs(error) + error_unit) / np.where(known > 0.0, known, 1.0), np.inf)
    return np.mean(least**2, axis=0), np.mean(most**2, axis=0)
