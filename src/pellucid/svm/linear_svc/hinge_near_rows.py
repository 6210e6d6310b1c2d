r"""Hinge loss with an l2 penalty and very many rows: the interior point method on the rows near the margin.

Most rows end clearly on one side, with :math:`\alpha_i = 0` or :math:`\alpha_i = c_i`. Once those are fixed and sum to
:math:`v = \sum\alpha_i t_i a_i`, the others are a machine of their own for :math:`u - v`, whose rows want the margins
:math:`1 - t_i a_i'v`. A fit of a sample tells which rows are near; rows found on the wrong side join them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid.svm.linear_svc.hinge_interior_point import hinge_interior_point
from pellucid.svm.linear_svc.margin_problem import Effort, Machine, MarginProblem

SAMPLE = 10
"""One row in so many is in the sample."""

NEAR = (0.35, 0.1)
"""Part of the rows that the first rounds take as near; the last number holds for all later ones."""

MOST_NEAR = 0.5
"""Part of the rows beyond which all are taken at once."""

ROUGH = 3e-2
"""Gap that the sample and the first round are solved to, as a part of their objective."""


def hinge_near_rows(problem: MarginProblem, effort: Effort) -> Machine:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, 1 - m_i)`, with its dual point."""
    quiet = replace(effort, watch=lambda _u: False)
    machine = Machine(hinge_interior_point(_sample(problem), replace(quiet, goal=ROUGH)).u)
    margins, joined = problem.margins(machine.u), np.zeros(problem.rows.n, dtype=bool)
    while True:
        first = len(machine.trace) == 0
        size = int(NEAR[0 if first else 1] * problem.rows.n)
        joined[np.argpartition(np.abs(1.0 - margins), size)[:size]] = True
        near = np.flatnonzero(joined)
        alpha = np.where((margins < 1.0) & ~joined, problem.cost, 0.0)
        v = problem.combine(alpha)
        rest = replace(problem.part(near), wanted=1.0 - problem.margins(v)[near])
        goal, left = ROUGH if first else 0.1 * effort.goal, effort.max_iter - machine.n_iter
        inner = hinge_interior_point(rest, replace(quiet, goal=goal, max_iter=left), machine.u - v)
        assert inner.alpha is not None
        alpha[near] = inner.alpha
        machine.u, machine.alpha, machine.n_iter = v + inner.u, alpha, machine.n_iter + inner.n_iter
        margins = problem.margins(machine.u)
        machine.note(*problem.hinge_values(machine.u, alpha, margins), near_rows=float(len(near)))
        if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(effort.goal):
            return machine
        wrong = ~joined & np.where(alpha > 0.0, margins > 1.0, margins < 1.0)
        if not first and (not wrong.any() or len(near) > MOST_NEAR * problem.rows.n):  # nothing gained by parts
            return hinge_interior_point(problem, effort)
        joined = wrong if first else joined | wrong


def _sample(problem: MarginProblem) -> MarginProblem:
    """Return the problem of a random sample, in which each row stands for several."""
    chosen = np.sort(np.random.RandomState(0).permutation(problem.rows.n)[::SAMPLE])
    part = problem.part(chosen)
    return replace(part, cost=SAMPLE * part.cost)
