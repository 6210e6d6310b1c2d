"""Solving with a positive definite matrix whose columns may have very different scales."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pellucid.core.threads import shared_blas
from pellucid.core.types import Array

DAMPING = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)
"""What is added to the unit diagonal, the least that works: rounding may have eaten the smallest eigenvalues."""


def scaled_cholesky(H: Array) -> Callable[[Array], Array]:
    """Return what solves ``H d = g``; raise LinAlgError if ``H`` is far from positive definite.

    Examples
    --------
    >>> scaled_cholesky(np.diag([4.0, 1e20]))(np.array([2.0, 1e20]))
    array([0.5, 1. ])
    """
    scale = 1.0 / np.sqrt(np.diagonal(H))
    unit = H * np.outer(scale, scale)
    for damping in DAMPING:
        np.fill_diagonal(unit, 1.0 + damping)
        try:
            with shared_blas():
                factor = cho_factor(unit, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return lambda g: np.asarray(scale * cho_solve(factor, scale * g, check_finite=False))
    raise np.linalg.LinAlgError("The matrix is not positive definite.")
