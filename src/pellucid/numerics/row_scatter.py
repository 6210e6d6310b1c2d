"""Mean and scatter of rows whose columns stand in one array or in two."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.numerics.design import make_design
from pellucid.proofs.rounding import EPSILON


def row_scatter(X: Array, targets: Array | None = None, weight: Array | None = None) -> tuple[Array, Array]:
    r"""Return the mean of the rows and :math:`\sum w (x - \bar x)(x - \bar x)'`; targets count as further columns."""
    design = make_design(X, fit_intercept=True, sample_weight=weight)
    if targets is None:
        scatter = design.gram()
        return design.mean, scatter
    b, target_mean = design.center(targets)
    own, cross = design.normal_equations(b)
    return np.concatenate([design.mean, target_mean]), np.block([[own, cross], [cross.T, b.T @ b]])


def without_constants(scatter: Array, mean: Array, mass: float) -> Array:
    """Return the scatter with 0 where a column is constant up to the rounding of its mean."""
    lost = mass * (4 * EPSILON * np.abs(mean)) ** 2
    is_constant = np.diagonal(scatter) <= lost
    return np.where(is_constant | is_constant[:, None], 0.0, scatter)
