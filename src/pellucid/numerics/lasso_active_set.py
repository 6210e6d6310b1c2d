r"""The lasso on few columns, solved exactly from their triangular factor: for columns too parallel for descent.

.. math:: \min_v\ \tfrac12\|Rv - t\|^2 + \|v\|_1

On a set :math:`S` of columns with signs :math:`s` the minimum solves :math:`R_S'R_Sv = R_S't - s`. If a coefficient
would change its sign on the way there, the way ends where the first one becomes 0, and that column leaves; otherwise
the column whose correlation is most above 1 joins. The objective falls with every step, so no set comes twice.
Nothing is squared: :math:`R_S` is factored once more, not :math:`R_S'R_S`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

DEPENDENT = 1e-11
"""Part of a column's length that the columns in use must leave unexplained for it to join them."""


def lasso_active_set(R: Array, t: Array, start: Array, *, tolerance: float, max_steps: int | None = None) -> Array:
    """Return the coefficients, from ``start`` on, once no correlation exceeds 1 by more than the tolerance.

    Examples
    --------
    >>> lasso_active_set(np.eye(2), np.array([3.0, 0.5]), np.zeros(2), tolerance=1e-12)
    array([2., 0.])
    """
    v = start.copy()
    signs, refused = np.sign(v), np.zeros(len(v), dtype=bool)
    for _ in range(10 * len(v) if max_steps is None else max_steps):
        support = np.flatnonzero(signs)
        target = _minimum(R[:, support], t, signs[support])
        crossing = target * signs[support] <= 0.0
        if crossing.any():
            before = v[support]
            parts = np.where(crossing, before / np.where(crossing, before - target, 1.0), np.inf)
            first = int(np.argmin(parts))
            v[support] = before + parts[first] * (target - before)
            leaving = support[first]
            v[leaving], signs[leaving] = 0.0, 0.0
            refused[:] = False
            if parts[first] == 0.0:  # it has just joined, and rounding sends it back
                refused[leaving] = True
            continue
        v[support] = target
        correlations = R.T @ (t - R @ v)
        excess = np.where((signs == 0.0) & ~refused, np.abs(correlations) - 1.0, -np.inf)
        joining = int(np.argmax(excess))
        if excess[joining] <= tolerance:
            return v
        if _is_dependent(R, support, joining):
            refused[joining] = True
        else:
            signs[joining] = np.sign(correlations[joining])
    return v


def _minimum(columns: Array, t: Array, signs: Array) -> Array:
    """Return the coefficients of least objective if none changes its sign."""
    if columns.shape[1] == 0:
        return np.zeros(0)
    q, triangle = qr(columns, mode="economic", check_finite=False)
    return np.asarray(solve_triangular(triangle, q.T @ t - solve_triangular(triangle, signs, trans=1)))


def _is_dependent(R: Array, support: Array, joining: int) -> bool:
    column = R[:, joining]
    if len(support) == 0:
        return not column.any()
    q = qr(R[:, support], mode="economic", check_finite=False)[0]
    left = column - q @ (q.T @ column)
    left -= q @ (q.T @ left)
    return float(np.linalg.norm(left)) <= max(DEPENDENT, len(R) * EPSILON) * float(np.linalg.norm(column))
