"""What a fit says of its elastic net, as the solver measured it."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error

ROUNDING = sum_error(0)
"""Relative error that sums of rounded numbers may have."""

SMALLEST_ALPHA = float(np.finfo(np.float64).resolution)
"""Where an automatic grid ends if no column has anything to do with the target."""


def elastic_net_certificate(*, gap: float, bound: float, drift: float, drift_bound: float) -> Certificate:
    """Return the certificate with these numbers; a model that breaks ``positive`` has an infinite gap."""
    remedy = "Raise max_iter or tol, or standardize X."
    return Certificate(
        "optimal",
        (
            Claim("duality gap", "the objective is at most this far above its minimum", gap, bound, remedy),
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


def selection_claim(mse_path: Array, alphas: Array, alpha: float, l1_ratios: list[float], l1_ratio: float) -> Claim:
    """Return the claim that the values chosen have the smallest mean of the reported errors."""
    n_ratios, grids = len(l1_ratios), np.atleast_2d(alphas)
    grids = np.broadcast_to(grids, (n_ratios, grids.shape[1]))
    errors = np.asarray(mse_path, dtype=np.float64).reshape(n_ratios, grids.shape[1], -1).mean(axis=-1)
    chosen = (grids == alpha) & (np.asarray(l1_ratios)[:, None] == l1_ratio)
    excess = float(errors[chosen].min(initial=np.inf)) - float(errors.min())
    return Claim("selection", "mean held-out error of the values chosen, above the smallest on the grid", excess, 0.0)
