"""Multipliers for a candidate that comes without them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq, qr
from scipy.optimize import nnls

from pellucid.core.types import Array
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem


def estimate_multipliers(problem: ConstrainedProblem, x: Array) -> tuple[Array, Array]:
    r"""Return multipliers that bring the candidate as close to the KKT conditions as it can be.

    .. math:: \min_{\lambda \ge 0,\ \nu}\ r^2\|\nabla f + J_c'\lambda + J_a'\nu\|^2 + \sum_i (\lambda_i c_i)^2,
        \qquad r = \max(1, \|x\|_\infty)

    Nonnegative least squares: inequalities that are not active cannot help much, because their multipliers cost.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> program = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])
    >>> lam, nu = estimate_multipliers(program, np.array([0.5, 0.5]))
    >>> lam.round(12)
    array([1.])
    """
    reach = max(1.0, float(np.abs(x).max()))
    J_a, J_c, c = problem.a_jacobian(x), problem.c_jacobian(x), problem.c(x)
    target = np.concatenate([-reach * problem.gradient(x), np.zeros(len(c))])
    columns = np.vstack([reach * J_c.T, np.diag(c)])  # one per lambda
    free = np.vstack([reach * J_a.T, np.zeros((len(c), len(J_a)))])  # one per nu
    lam = _nonnegative(*(_without(free, part) for part in (columns, target))) if len(c) else np.zeros(0)
    nu = lstsq(free, target - columns @ lam)[0] if len(J_a) else np.zeros(0)
    return lam, nu


def _without(free: Array, part: Array) -> Array:
    """Return what is left of the columns of ``part`` outside the span of ``free``: its coefficients can be anything."""
    if free.shape[1] == 0:
        return part
    Q, R, _ = qr(free, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    Q = Q[:, diagonal > 1e-12 * diagonal.max(initial=0.0)]
    return part - Q @ (Q.T @ part)


def _nonnegative(columns: Array, target: Array) -> Array:
    norms = np.linalg.norm(columns, axis=0)
    norms[norms == 0] = 1.0  # such a column fits nothing, and gets 0
    solution: Array = nnls(columns / norms, target)[0]
    return solution / norms
