"""Squared hinge loss with an l1 penalty and many columns: coordinate descent that reads the data by column.

Each weight moves to the minimum of a parabola above the objective, so the objective never rises and no line search is
needed. Between two looks at the gap only the columns in use, or nearly steep enough to be, are visited.
"""

from __future__ import annotations

import numpy as np

from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.column_descent_kernels import column_pass
from pellucid.svm.linear_svc.lasso_gap import lasso_values
from pellucid.svm.linear_svc.margin_problem import Effort, Machine, MarginProblem
from pellucid.svm.look_schedule import LookSchedule


def column_descent(problem: MarginProblem, effort: Effort) -> Machine:
    """Return the machine of least l1 norm plus squared hinge loss."""
    A = problem.rows.by_column()
    curvature = 2.0 * np.asarray(A.multiply(A).T @ problem.cost).ravel()
    machine, order, looks = Machine(np.zeros(problem.rows.width)), np.arange(0), LookSchedule()
    while True:
        if machine.n_iter >= min(looks.next_look, effort.max_iter):
            margins = problem.margins(machine.u)  # anew, so that rounding does not pile up
            objective, gap, pull = lasso_values(problem, machine.u, margins)
            machine.note(objective, gap, nonzero=float(np.count_nonzero(machine.u)))
            looks.saw(machine.n_iter, gap, goal=effort.goal * objective)
            if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(effort.goal):
                return machine
            order = np.flatnonzero(((machine.u != 0.0) | (np.abs(pull) > 0.9)) & (curvature > 0.0))
        column_pass(*unsigned_parts(A), problem.signs, problem.cost, curvature, machine.u, margins, order)
        machine.n_iter += 1
