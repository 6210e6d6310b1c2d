"""kkt_certificate: how closely a candidate of a constrained problem satisfies the KKT conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import lstsq, qr
from scipy.optimize import nnls

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem, check_candidate, check_multipliers
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.optimize.kkt import prove_kkt

ESTIMATED = "The multipliers were estimated from x by nonnegative least squares."


def kkt_certificate(
    problem: ConstrainedProblem, x: Data, lam: Data | None = None, nu: Data | None = None, *, tol: float = 1e-6
) -> Certificate:
    r"""Return how closely a candidate satisfies the KKT conditions and, if the problem is convex, its duality gap.

    .. math:: \nabla f + J_c'\lambda + J_a'\nu = 0,\quad a = 0,\ c \le 0,\quad \lambda \ge 0,\quad \lambda_i c_i = 0

    Violations are measured as the move of :math:`x` that would repair them, whatever the size of :math:`x`. The other
    residuals are relative, but to no less than 1: stationarity to the largest force, complementarity and gap to the
    size of :math:`f` and what it varies over :math:`r = \max(1, \|x\|)`. For a convex problem

    .. math:: f(x) - f(y) \le -\lambda'c(x) - \nu'a(x) + \|\nabla L\|^2/2\mu

    for every feasible :math:`y` if :math:`f` is :math:`\mu`-strongly convex; and if not, with :math:`r\|\nabla L\|` as
    the last term, for those within the distance :math:`r`.

    Parameters
    ----------
    problem : ConstrainedProblem
        The objective and its constraints.
    x : array of shape (n,)
        The candidate, from any solver.
    lam, nu : arrays, default=None
        Multipliers of the inequalities and the equalities, in the Lagrangian :math:`f + \lambda'c + \nu'a`; if one is
        missing both are estimated.
    tol : float, default=1e-6
        Bound on every residual.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> program = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])  # x^2 + y^2 with x + y >= 1
    >>> kkt_certificate(program, [0.5, 0.5], lam=[1.0]).grade
    'optimal'
    >>> kkt_certificate(program, [1.0, 0.0], lam=[1.0])["stationarity"].value  # (2, 0) - (1, 1), over 2
    0.5
    """
    check_positive(tol=tol)
    x = check_candidate(problem, x)
    lam = np.zeros(0) if lam is None and not problem.inequalities else lam
    nu = np.zeros(0) if nu is None and not problem.equalities else nu
    estimated = lam is None or nu is None
    with np.errstate(all="ignore"):  # a wild candidate may overflow
        if estimated:
            lam, nu = _multipliers_of(problem, x)
        lam, nu = check_multipliers("lam", lam, problem.c(x).size), check_multipliers("nu", nu, problem.a(x).size)
    found = prove_kkt(problem, x, lam, nu, tol=tol)
    return replace(found, reason=ESTIMATED) if estimated and found.grade != "none" else found


def _multipliers_of(problem: ConstrainedProblem, x: Array) -> tuple[Array, Array]:
    """Return estimated multipliers; of a candidate that is not finite none can be had, and any will do."""
    try:
        return estimate_multipliers(problem, x)
    except ValueError:
        return np.zeros(problem.c(x).size), np.zeros(problem.a(x).size)


def estimate_multipliers(problem: ConstrainedProblem, x: Array) -> tuple[Array, Array]:
    r"""Return multipliers that bring the candidate as close to the KKT conditions as it can be.

    .. math:: \min_{\lambda \ge 0,\ \nu}\ r^2\|\nabla f + J_c'\lambda + J_a'\nu\|^2 + \sum_i (\lambda_i c_i)^2,
        \qquad r = \max(1, \|x\|_\infty)

    Nonnegative least squares: inequalities that are not active cannot help much, because their multipliers cost.

    Parameters
    ----------
    problem : ConstrainedProblem
        The objective and its constraints.
    x : array of shape (n,)
        The candidate; it need not be feasible.

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
