"""What a fit says of its line: how far the solver left the normal equations, the intercept and the best fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, rounding_unit

MANY_FEATURES = 16
"""Of more features the rounding adds up, as the root of their number."""

DIGITS_LOST = 1e-3
"""Relative error of the coefficients above which fewer than three digits can be trusted."""

LARGEST_FACTORED = 2000
"""Above this many features a dense factor of a sparse problem would not fit."""

DEFAULT_TOL = 1e-6
"""The tolerance of LinearRegression that cuts nothing off."""


@dataclass(frozen=True)
class LineEvidence:
    """The measured numbers behind a certificate; each is relative and 0 for the exact answer."""

    normal_equations: float
    fitted_values: float | None = None
    coefficients: float | None = None
    intercept: float = 0.0
    least_norm: float | None = None
    training_error: float | None = None
    dropped: str = ""
    """Which directions of the columns were taken for rounding, and what they would change."""


def least_squares_certificate(
    evidence: LineEvidence, *, n_features: int, dtype: np.dtype, tol: float = 0.0
) -> Certificate:
    """Return the claims for the evidence. ``tol`` is the tolerance of an iterative solver, 0 for a direct one."""
    rounding = rounding_unit(dtype) * max(1.0, np.sqrt(n_features / MANY_FEATURES))
    bound = max(rounding, tol)
    remedy = "Check the data for extreme values." if tol == 0.0 else "Raise max_iter, or use solver='auto'."
    claims = [
        Claim(
            "normal equations",
            "largest |a_j'r - alpha w_j|, relative to |a_j| times the size of the fit",
            evidence.normal_equations,
            bound,
            remedy,
        ),
        Claim("intercept", "mean residual, relative to the size of its terms", evidence.intercept, rounding, remedy),
    ]
    if evidence.fitted_values is not None:
        statement = "distance of the fitted values from the best ones, relative to the size of the fit"
        claims.append(Claim("fitted values", statement, evidence.fitted_values, bound, remedy))
    if evidence.coefficients is not None:
        claims.append(
            Claim(
                "coefficients",
                "relative change of coef_ when the last bit of the data changes",
                evidence.coefficients,
                DIGITS_LOST,
                "Fewer than three digits of coef_ are certain: drop nearly collinear columns or use Ridge.",
            )
        )
    if evidence.training_error is not None:
        statement = "distance of the fitted values from the best ones, relative to the spread of y"
        value, cure = evidence.training_error, "Rounding of these columns outweighs y: drop nearly collinear ones."
        claims.append(Claim("training error", statement, value, max(DIGITS_LOST, bound), cure))
    if evidence.least_norm is not None:
        statement = "part of coef_ that does not change the fit, relative to coef_"
        claims.append(Claim("least norm", statement, evidence.least_norm, 1e-6, "Drop linearly dependent columns."))
    return Certificate("exact" if tol == 0.0 else "stationary", tuple(claims), evidence.dropped)


def size_of_fit(norms: Array, w: Array, b_norm: Array) -> Array:
    """Return ``|b| + sum_j |a_j| |w_j|`` per target: what rounding errors of the fit are relative to."""
    return np.asarray(b_norm + norms @ np.abs(w))


def gradient_evidence(gradient: Array, norms: Array, size: Array, alpha: Array, w: Array) -> float:
    """Return the largest ``|g_j| / (|a_j| size + alpha |w_j|)`` over features and targets."""
    scale = norms[:, None] * size + alpha * np.abs(w)
    return float((np.abs(gradient) / np.where(scale > 0, scale, 1.0)).max(initial=0.0))


def coefficient_error(condition: float, r_norm: Array, size: Array) -> float:
    """Return ``eps (k + k^2 |r| / size)``: to first order, how far ``w`` moves when the data change by ``eps``."""
    leverage = np.where(size > 0, r_norm / np.where(size > 0, size, 1.0), 0.0).max(initial=0.0)
    return float(EPSILON * (condition + condition**2 * leverage))


def intercept_evidence(intercept: Array, w: Array, mean: Array, y_mean: Array, spread: Array) -> float:
    """Return ``|intercept - (y_mean - mean w)|`` relative to the terms of that sum and the spread of ``y``."""
    scale = np.abs(y_mean) + np.abs(mean) @ np.abs(w) + spread
    gap = np.abs(intercept - (y_mean - mean @ w))
    return float(np.where(gap > 0, gap / np.where(scale > 0, scale, 1.0), 0.0).max(initial=0.0))


def nonnegative_gradient(gradient: Array, w: Array) -> Array:
    """Return what the gradient leaves to gain under ``w >= 0``: nothing where it points below a zero ``w_j``."""
    gain = np.where(w == 0, np.maximum(gradient, 0.0), gradient)
    return np.where(w < 0, np.inf, gain)


def dropped_sentence(n_dropped: int, n_features: int) -> str:
    """Return what to say of a fit of less than full rank."""
    return (
        f"{n_dropped} of {n_features} directions of the columns are taken for rounding: of all answers that fit as "
        "well, coef_ is the shortest."
    )


def is_too_large(X: Data) -> bool:
    """Return whether sparse data are too large for a dense factor."""
    return sparse.issparse(X) and min(X.shape) > LARGEST_FACTORED
