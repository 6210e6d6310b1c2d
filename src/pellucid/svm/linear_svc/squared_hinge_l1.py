r"""Squared hinge loss with an l1 penalty: proximal Newton steps, or of many columns coordinate descent.

.. math:: \min_u\ \|u\|_1 + \sum_i c_i\max(0, 1 - m_i)^2

A proximal Newton step minimizes the quadratic model of the loss plus the penalty by coordinate descent on the Hessian.
Where that does not arrive, because columns are nearly parallel, an active set does, on the triangular factor of the
rows within the margin.

Coordinate descent on the data moves each weight to the minimum of a parabola above the objective, so the objective
never rises and no line search is needed. Between two looks at the gap only the columns in use, or nearly steep enough
to be, are visited.

The gap is that to the dual point :math:`\tau\alpha,\ \alpha_i = 2c_i\max(0, 1 - m_i)`, with the best :math:`\tau` that
keeps :math:`\tau|A'(t\alpha)| \le 1`. Columns far from 0 magnify the rounding of :math:`\sum t_i\alpha_i`; another
point has the :math:`\alpha_i` of one sign multiplied by what makes up for that.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from pellucid.core.fit import Effort
from pellucid.core.types import Array
from pellucid.losses.classification_losses import SquaredHingeLoss
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.leading_eigenvectors import LookSchedule
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.margin_problem import MarginFit, MarginProblem
from pellucid.svm.svm_kernels import column_pass, lasso_model_descent

LOSS = SquaredHingeLoss()

EXACT_WITH_L1 = 1e-10
"""Part of the objective at which the gap is small enough to stop."""

SPARE_STEPS = 3
"""Steps beyond the goal, as long as each shrinks the gap."""

MOST_PASSES = 2000
"""Passes of coordinate descent in one step."""

FEW_COLUMNS = 200
"""Columns up to which an active set takes over where coordinate descent does not arrive."""

ROUNDING = 1e-14
"""Part of the objective that its value may be off by: a better step may seem to raise it by so much."""

DAMPING = 1e-12
"""Part of its curvature that every column is given more, so that flat directions have a step."""


def proximal_newton(problem: MarginProblem, effort: Effort) -> MarginFit:
    """Return the machine of least l1 norm plus squared hinge loss."""
    machine, crawls = MarginFit(np.zeros(problem.rows.width)), False
    margins, spare, last_gap = np.zeros(problem.rows.n), SPARE_STEPS, np.inf
    while True:
        objective, gap, pull = _values(problem, machine.u, margins, balance=crawls)
        machine.note(objective, gap, nonzero=float(np.count_nonzero(machine.u)))
        if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(EXACT_WITH_L1):
            return machine
        if machine.is_within(effort.goal):
            spare -= 1
            if spare < 0 or machine.gap > 0.25 * last_gap:
                return machine
        last_gap = machine.gap
        new, crawls = _model_minimum(problem, machine.u, margins, pull, crawls)
        moved = _step(problem, machine.u, new, margins, pull, objective)
        if moved is None:
            return machine
        machine.u, margins = moved
        machine.n_iter += 1


def _model_minimum(problem: MarginProblem, u: Array, margins: Array, pull: Array, crawls: bool) -> tuple[Array, bool]:
    """Return where the quadratic model is least, and whether coordinate descent is too slow to find it."""
    aim = 1e-3 * _violation(u, pull)
    if not crawls:
        H = problem.rows.gram(2.0 * problem.cost * (margins < 1.0))
        curvature = np.diagonal(H)
        np.fill_diagonal(H, np.where(curvature > 0.0, (1.0 + DAMPING) * curvature, 1.0))
        new = u.copy()
        passes = lasso_model_descent(H, -pull, u, new, aim, MOST_PASSES)
        if passes < MOST_PASSES or problem.rows.width > FEW_COLUMNS:
            return new, False
    R, t = _triangle(problem, margins < 1.0)
    return lasso_active_set(R, t, u, tolerance=aim), True


def _triangle(problem: MarginProblem, inside: Array) -> tuple[Array, Array]:
    """Return R and t of the model ``|Rv - t|^2 / 2`` of the loss: the rows within the margin should have margin 1."""
    used, width = np.flatnonzero(inside), problem.rows.width
    root = np.sqrt(2.0 * problem.cost[used])
    rows = (root * problem.signs[used])[:, None] * problem.rows.part(used).written_out()
    both = np.hstack([rows, root[:, None]])
    whole = np.vstack([both, np.zeros((max(0, width + 1 - len(both)), width + 1))])
    triangle = qr(whole, mode="r", check_finite=False)[0][: width + 1]
    return triangle[:, :width], triangle[:, width]


def _step(
    problem: MarginProblem, u: Array, new: Array, margins: Array, pull: Array, objective: float
) -> tuple[Array, Array] | None:
    """Return the weights and margins after a step to where the model is least, or None if rounding leaves none."""
    change = new - u
    slopes = problem.margins(change)
    expected = -float(pull @ change) + float(np.sum(np.abs(new) - np.abs(u)))
    step, slack = 1.0, ROUNDING * objective
    while expected < slack and np.any(change) and step > 1e-10:
        trial = new if step == 1.0 else u + step * change
        reached = float(np.abs(trial).sum()) + float(problem.cost @ LOSS.value(margins + step * slopes))
        if reached <= objective + 1e-4 * step * expected + slack:
            return trial, problem.margins(trial)
        step *= 0.5
    return None


def _violation(u: Array, pull: Array) -> float:
    """Return how far the columns are from optimal: the largest distance of 0 from the subdifferential."""
    distance = np.where(u != 0.0, np.abs(pull - np.sign(u)), np.maximum(np.abs(pull) - 1.0, 0.0))
    return float(distance.max(initial=0.0))


def column_descent(problem: MarginProblem, effort: Effort) -> MarginFit:
    """Return the machine of least l1 norm plus squared hinge loss."""
    A = problem.rows.by_column()
    curvature = 2.0 * np.asarray(A.multiply(A).T @ problem.cost).ravel()
    machine, order, looks = MarginFit(np.zeros(problem.rows.width)), np.arange(0), LookSchedule()
    while True:
        if machine.n_iter >= min(looks.next_look, effort.max_iter):
            margins = problem.margins(machine.u)  # anew, so that rounding does not pile up
            objective, gap, pull = _values(problem, machine.u, margins)
            machine.note(objective, gap, nonzero=float(np.count_nonzero(machine.u)))
            looks.saw(machine.n_iter, gap, goal=effort.goal * objective)
            if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(effort.goal):
                return machine
            order = np.flatnonzero(((machine.u != 0.0) | (np.abs(pull) > 0.9)) & (curvature > 0.0))
        column_pass(*unsigned_parts(A), problem.signs, problem.cost, curvature, machine.u, margins, order)
        machine.n_iter += 1


def _values(problem: MarginProblem, u: Array, margins: Array, *, balance: bool = False) -> tuple[float, float, Array]:
    """Return the objective, the gap, and minus the gradient of the loss."""
    alpha = -problem.cost * LOSS.gradient(margins)
    pull = problem.combine(alpha)
    loss = float(problem.cost @ LOSS.value(margins))
    objective = float(np.abs(u).sum()) + loss
    bound = _dual_value(problem, alpha, pull)
    if balance:
        bound = max(bound, _dual_value(problem, *_balanced(problem, alpha, pull, u)))
    return objective, max(0.0, objective - bound), pull


def _dual_value(problem: MarginProblem, alpha: Array, pull: Array) -> float:
    """Return the dual objective of the best multiple of a point."""
    total, squares = float(alpha.sum()), 0.25 * float(np.sum(alpha**2 / problem.cost))
    if squares == 0.0:
        return 0.0
    steepest = float(np.abs(pull).max(initial=0.0))
    tau = min(total / (2.0 * squares), 1.0 / steepest if steepest > 0.0 else np.inf)
    return tau * total - tau * tau * squares


def _balanced(problem: MarginProblem, alpha: Array, pull: Array, u: Array) -> tuple[Array, Array]:
    """Return the point whose part of positive sign is multiplied so that columns in use pull by 1, and its pull."""
    positive, used = problem.signs > 0.0, u != 0.0
    up = problem.combine(np.where(positive, alpha, 0.0))
    down = up - pull
    square = float(up[used] @ up[used])
    factor = float(up[used] @ (down[used] + np.sign(u[used]))) / square if square > 0.0 else 1.0
    return np.where(positive, max(factor, 0.0) * alpha, alpha), max(factor, 0.0) * up - down


# The lasso on few columns, solved exactly from their triangular factor: for columns too parallel for descent.
#
# .. math:: \min_v\ \tfrac12\|Rv - t\|^2 + \|v\|_1
#
# On a set :math:`S` of columns with signs :math:`s` the minimum solves :math:`R_S'R_Sv = R_S't - s`. If a coefficient
# would change its sign on the way there, the way ends where the first one becomes 0, and that column leaves; otherwise
# the column whose correlation is most above 1 joins. The objective falls with every step, so no set comes twice.
# Nothing is squared: :math:`R_S` is factored once more, not :math:`R_S'R_S`.


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
