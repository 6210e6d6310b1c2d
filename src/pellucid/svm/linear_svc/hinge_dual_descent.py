"""Hinge loss with an l2 penalty, many rows and columns: dual coordinate descent with shrinking (Hsieh et al. 2008).

Each step sets one dual variable to its best value; a variable at a bound that wants to stay there is left out of
the passes until the rest is done.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.hinge_dual_descent_kernels import dual_descent_pass
from pellucid.svm.linear_svc.margin_problem import Effort, Machine, MarginProblem
from pellucid.svm.look_schedule import LookSchedule


def hinge_dual_descent(problem: MarginProblem, effort: Effort, rng: np.random.RandomState) -> Machine:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, 1 - m_i)`, with its dual point."""
    rows, alpha = problem.rows, np.zeros(problem.rows.n)
    X = sparse.csr_array(rows.X)
    squares, no_ridge = rows.sq_lengths(), np.zeros(rows.n)
    machine, order = Machine(np.zeros(rows.width)), np.arange(rows.n)
    n_active, highest, lowest = rows.n, np.inf, -np.inf
    looks = LookSchedule()
    while True:
        if machine.n_iter >= min(looks.next_look, effort.max_iter):
            values = _values(problem, machine.u, alpha)
            if values[1] <= effort.goal * values[0] or machine.n_iter >= effort.max_iter:
                machine.u = problem.combine(alpha)  # at the end, anew: rounding has piled up
                values = _values(problem, machine.u, alpha)
            machine.note(*values, support_vectors=float(np.count_nonzero(alpha)))
            looks.saw(machine.n_iter, machine.gap, goal=effort.goal * machine.objective)
            if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(effort.goal):
                machine.alpha = alpha
                return machine
        order[:n_active] = rng.permutation(order[:n_active])
        parts = (*unsigned_parts(X), rows.constant, problem.signs, no_ridge, problem.cost, squares)
        n_active, highest, lowest = dual_descent_pass(*parts, alpha, machine.u, order, n_active, highest, lowest)
        machine.n_iter += 1
        if highest - lowest <= effort.goal or n_active == 0:  # the rest is done: look at all again
            n_active, highest, lowest = rows.n, np.inf, -np.inf


def _values(problem: MarginProblem, u: Array, alpha: Array) -> tuple[float, float]:
    """Return the objective and the gap of weights that are the sum of this dual point."""
    return problem.hinge_values(u, alpha, problem.margins(u), combined=u)
