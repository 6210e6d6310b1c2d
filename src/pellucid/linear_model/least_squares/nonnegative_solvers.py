"""Least squares and ridge with coefficients of at least 0."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from pellucid.core.types import Array
from pellucid.numerics.design import Design
from pellucid.numerics.normal_factor import triangular_factor


def solve_nonnegative(design: Design, b: Array, alpha: Array) -> Array:
    r"""Minimize :math:`\|b - Aw\|^2 + \alpha\|w\|^2` over :math:`w \ge 0`, one column of ``b`` per entry of ``alpha``.

    The data are first reduced to their triangular factor, so that the active-set method works on p rows, not on n.
    """
    p = design.shape[1]
    triangle, q = triangular_factor(design, b)
    w = np.empty((p, b.shape[1]))
    for k, value in enumerate(alpha):
        stacked = np.vstack([triangle, np.sqrt(value) * np.eye(p)]) if value > 0 else triangle
        w[:, k] = nnls(stacked, np.concatenate([q[:, k], np.zeros(len(stacked) - len(q))]))[0]
    return w
