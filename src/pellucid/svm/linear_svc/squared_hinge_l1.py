r"""Squared hinge loss with an l1 penalty: proximal Newton steps, or of many columns coordinate descent.

.. math:: \min_u\ \|u\|_1 + \sum_i c_i\max(0, 1 - m_i)^2

A proximal Newton step minimizes the quadratic model of the loss plus the penalty by coordinate descent on the Hessian.

Coordinate descent on the data moves each weight to the minimum of a parabola above the objective, so the objective
never rises and no line search is needed. Between two looks at the gap only the columns in use, or nearly steep enough
to be, are visited.

The gap is that to the dual point :math:`\tau\alpha,\ \alpha_i = 2c_i\max(0, 1 - m_i)`, with the best :math:`\tau` that
keeps :math:`\tau|A'(t\alpha)| \le 1`.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.types import Array
from pellucid.losses.classification_losses import SquaredHingeLoss
from pellucid.numerics.look_schedule import LookSchedule
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.margin_problem import MarginFit, MarginProblem
from pellucid.svm.svm_kernels import column_pass, lasso_model_descent

LOSS = SquaredHingeLoss()

EXACT = 1e-10
"""Part of the objective at which the gap is small enough to stop."""

SPARE_STEPS = 3
"""Steps beyond the goal, as long as each shrinks the gap."""

MOST_PASSES = 2000
"""Passes of coordinate descent in one step."""

ROUNDING = 1e-14
"""Part of the objective that its value may be off by: a better step may seem to raise it by so much."""

DAMPING = 1e-12
"""Part of its curvature that every column is given more, so that flat directions have a step."""


def proximal_newton(problem: MarginProblem, effort: Effort) -> MarginFit:
    """Return the machine of least l1 norm plus squared hinge loss."""
    machine = MarginFit(np.zeros(problem.rows.width))
    margins, spare, last_gap = np.zeros(problem.rows.n), SPARE_STEPS, np.inf
    while True:
        objective, gap, pull = _values(problem, machine.u, margins)
        machine.note(objective, gap, nonzero=float(np.count_nonzero(machine.u)))
        if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(EXACT):
            return machine
        if machine.is_within(effort.goal):
            spare -= 1
            if spare < 0 or machine.gap > 0.25 * last_gap:
                return machine
        last_gap = machine.gap
        moved = _step(problem, machine.u, margins, pull, objective)
        if moved is None:
            return machine
        machine.u, margins = moved
        machine.n_iter += 1


def _step(
    problem: MarginProblem, u: Array, margins: Array, pull: Array, objective: float
) -> tuple[Array, Array] | None:
    """Return the weights and margins after one step, or None if rounding leaves none."""
    H = problem.rows.gram(2.0 * problem.cost * (margins < 1.0))
    curvature = np.diagonal(H)
    np.fill_diagonal(H, np.where(curvature > 0.0, (1.0 + DAMPING) * curvature, 1.0))
    new = u.copy()
    lasso_model_descent(H, -pull, u, new, 1e-3 * _violation(u, pull), MOST_PASSES)
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


def _values(problem: MarginProblem, u: Array, margins: Array) -> tuple[float, float, Array]:
    """Return the objective, the gap, and minus the gradient of the loss."""
    alpha = -problem.cost * LOSS.gradient(margins)
    pull = problem.combine(alpha)
    loss, total = float(problem.cost @ LOSS.value(margins)), float(alpha.sum())
    objective, steepest = float(np.abs(u).sum()) + loss, float(np.abs(pull).max(initial=0.0))
    if loss == 0.0:
        return objective, objective, pull
    tau = min(total / (2.0 * loss), 1.0 / steepest if steepest > 0.0 else np.inf)
    return objective, max(0.0, objective - tau * total + tau * tau * loss), pull
