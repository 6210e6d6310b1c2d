"""Proof that cross-validation chose the values it reports."""

from __future__ import annotations

import numpy as np

from pellucid.core.certificate import Claim
from pellucid.core.types import Array


def selection_claim(mse_path: Array, alphas: Array, alpha: float, l1_ratios: list[float], l1_ratio: float) -> Claim:
    """Return the claim that the values chosen have the smallest mean of the reported errors."""
    n_ratios, grids = len(l1_ratios), np.atleast_2d(alphas)
    grids = np.broadcast_to(grids, (n_ratios, grids.shape[1]))
    errors = np.asarray(mse_path, dtype=np.float64).reshape(n_ratios, grids.shape[1], -1).mean(axis=-1)
    chosen = (grids == alpha) & (np.asarray(l1_ratios)[:, None] == l1_ratio)
    excess = float(errors[chosen].min(initial=np.inf)) - float(errors.min())
    return Claim("selection", "mean held-out error of the values chosen, above the smallest on the grid", excess, 0.0)
