r"""Hinge loss with an l2 penalty and little data: solved to rounding.

At the minimum a row has :math:`\alpha_i = 0`, or :math:`\alpha_i = c_i`, or it is free and lies on its margin. Once the
interior point method has told which is which, the free rows are linear equations: all of them have the margin 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import svd

from pellucid.core.rounding import EPSILON
from pellucid.core.types import Array
from pellucid.svm.linear_svc.hinge_interior_point import hinge_interior_point
from pellucid.svm.linear_svc.margin_problem import Effort, Machine, MarginProblem

FINEST = 1e-12
"""Part of the objective that the interior point method goes down to: enough to tell free rows from others."""

ROUNDS = 4
"""Times to tell the free rows and solve for them: where a row is free by a hair, the first may be wrong."""

DEPENDENT = 1e-10
"""Singular value, as a part of the largest, below which free rows depend on each other."""


def hinge_to_rounding(problem: MarginProblem, effort: Effort) -> Machine:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, 1 - m_i)`, with its dual point."""
    machine = hinge_interior_point(problem, effort, finest=FINEST)
    if not machine.is_within(effort.goal):
        return machine
    assert machine.alpha is not None
    u, alpha = machine.u, machine.alpha
    for _ in range(ROUNDS):
        alpha = _settled(problem, u, alpha)
        u = problem.combine(alpha)
        machine = _better(problem, machine, u, alpha)
    return machine


def _settled(problem: MarginProblem, u: Array, alpha: Array) -> Array:
    """Return the dual point whose free rows have the margin they want; the others are at the bound they tend to."""
    c, squares = problem.cost, problem.rows.sq_lengths()
    off = problem.margins(u) - problem.wanted
    # a row that would have to leave its box to get the margin it wants, is at that bound
    low, high = off > alpha * squares, -off > (c - alpha) * squares
    settled = np.where(low, 0.0, np.where(high, c, alpha))
    free = np.flatnonzero(~(low | high))
    if len(free) == 0:
        return settled
    inverse = _half_inverse(problem.rows.part(free).by_column().toarray() * problem.signs[free, None])
    off = problem.margins(problem.combine(settled)) - problem.wanted
    settled[free] = np.clip(settled[free] - inverse @ (off[free] @ inverse), 0.0, c[free])
    return settled


def _half_inverse(Z: Array) -> Array:
    """Return ``H`` of which ``H H'`` is the pseudoinverse of ``Z Z'``: equal rows share a change equally."""
    left, sizes, _ = svd(Z, full_matrices=False)
    kept = sizes > DEPENDENT * sizes[0]
    return np.asarray(left[:, kept] / sizes[kept])


def _better(problem: MarginProblem, machine: Machine, u: Array, alpha: Array) -> Machine:
    """Return the machine of this dual point, unless its gap is wider, and not by rounding."""
    objective, gap = problem.hinge_values(u, alpha, problem.margins(u))
    rounding = max(10.0 * FINEST * objective, EPSILON * float(problem.cost.sum()))
    is_as_good = gap <= max(machine.gap, rounding)
    return replace(machine, u=u, alpha=alpha, objective=objective, gap=gap) if is_as_good else machine
