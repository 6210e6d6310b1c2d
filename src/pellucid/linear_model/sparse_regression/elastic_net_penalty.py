"""The penalty of the elastic net, the gap to reach, and what a fit says of its answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error


@dataclass(frozen=True)
class ElasticNetPenalty:
    r""":math:`l_1 \|w\|_1 + \frac{l_2}{2} \|w\|_2^2`, with :math:`w \ge 0` if positive."""

    l1: float
    l2: float
    positive: bool = False

    @classmethod
    def of(cls, alpha: float, l1_ratio: float, total_weight: float, *, positive: bool) -> ElasticNetPenalty:
        """Return the penalty of scikit-learn's parametrization, times the total weight of the samples."""
        return cls(alpha * l1_ratio * total_weight, alpha * (1.0 - l1_ratio) * total_weight, positive)

    def at(self, w: Array) -> float:
        """Return the penalty of ``w``."""
        used = w[np.flatnonzero(w)]
        return self.l1 * float(np.abs(used).sum()) + 0.5 * self.l2 * float(used @ used)

    def slopes(self, correlations: Array) -> Array:
        """Return what ``l1`` is compared with: a coordinate at 0 stays there if its slope is at most ``l1``."""
        return correlations if self.positive else np.abs(correlations)


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
