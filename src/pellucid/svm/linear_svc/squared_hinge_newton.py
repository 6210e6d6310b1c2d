r"""Squared hinge loss with an l2 penalty: Newton's method on a function that is quadratic in pieces.

The rows whose margin is short, :math:`\mathcal A`, give the Hessian :math:`I + 2\sum_{\mathcal A} c_i a_i a_i'`. Once
:math:`\mathcal A` is right one step is exact, so few iterations are needed, and each updates the last Hessian by the
rows that came or went. :math:`\alpha_i = 2c_i\max(0, 1 - m_i)` is a dual point with the gap
:math:`\tfrac12\|\nabla P\|^2`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.linear_svc.line_minimum import line_minimum
from pellucid.svm.linear_svc.margin_problem import Effort, Machine, MarginProblem
from pellucid.svm.scaled_cholesky import scaled_cholesky

DIRECT = 1500
"""Rows or columns up to which a Cholesky factor is made; conjugate gradients otherwise."""

EXACT = 1e-14
"""Part of the objective below which the gap is rounding."""

SPARE_STEPS = 3
"""Steps beyond the goal: they cost little and usually find the exact minimum."""

Solver = Callable[[Array, Array, float], Array]
"""Solves ``H d = g``, from ``g``, which rows are short, and the relative residual that will do."""


def squared_hinge_newton(problem: MarginProblem, effort: Effort, start: Array | None = None) -> Machine:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, 1 - m_i)^2`; it starts at 0 if not told."""
    machine = Machine(np.zeros(problem.rows.width) if start is None else start)
    solve = _solver(problem)
    u, margins, last_gap = machine.u, problem.margins(machine.u), np.inf
    spare = 0 if isinstance(solve, _ConjugateGradient) else SPARE_STEPS
    while True:
        short = np.maximum(1.0 - margins, 0.0)
        gradient = u - problem.combine(2.0 * problem.cost * short)
        objective = 0.5 * float(u @ u) + float(problem.cost @ (short * short))
        machine.u = u
        machine.note(objective, 0.5 * float(gradient @ gradient), short_margins=float(np.count_nonzero(short)))
        if effort.watch(u) or machine.n_iter >= effort.max_iter or machine.is_within(EXACT):
            return machine
        if machine.is_within(effort.goal):
            spare -= 1
            if spare < 0 or machine.gap > 0.25 * last_gap:
                return machine
        last_gap = machine.gap
        direction = -solve(gradient, short > 0.0, _enough(machine, effort.goal))
        slopes = problem.margins(direction)
        step = line_minimum(problem, margins, slopes, float(u @ direction), float(direction @ direction))
        if step == 0.0:
            return machine
        u = u + step * direction
        margins = problem.margins(u)
        machine.n_iter += 1


def _enough(machine: Machine, goal: float) -> float:
    """Return the relative residual of a step: small near the minimum, but no smaller than the goal asks for."""
    needed = np.sqrt(0.1 * goal * machine.objective / machine.gap)
    return float(min(0.1, max(needed, np.sqrt(2.0 * machine.gap / (1.0 + machine.objective)))))


def _solver(problem: MarginProblem) -> Solver:
    if problem.rows.width <= DIRECT:
        return _PrimalFactor(problem)
    return _DualFactor(problem) if problem.rows.n <= DIRECT else _ConjugateGradient(problem)


class _PrimalFactor:
    """Cholesky factor of the Hessian, which is kept and updated by the rows that changed."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.active = np.zeros(problem.rows.n, dtype=bool)
        self.gram = np.zeros((problem.rows.width, problem.rows.width))

    def __call__(self, g: Array, active: Array, _residual: float) -> Array:
        came, went = active & ~self.active, self.active & ~active
        double = 2.0 * self.problem.cost
        if 2 * (came.sum() + went.sum()) < active.sum():
            self.gram += self.problem.rows.gram(double * came) - self.problem.rows.gram(double * went)
        else:
            self.gram = self.problem.rows.gram(double * active)
        self.active = active
        return scaled_cholesky(self.gram + np.eye(len(g)))(g)


class _DualFactor:
    r"""The same from :math:`(I + BB')^{-1}`, with one row of :math:`B = \sqrt{2C}A` per short margin."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.products = problem.rows.inner_products()

    def __call__(self, g: Array, active: Array, _residual: float) -> Array:
        root = np.sqrt(2.0 * self.problem.cost[active])
        K = self.products[np.ix_(active, active)] * np.outer(root, root)
        K.flat[:: len(K) + 1] += 1.0
        inner = scaled_cholesky(K)(root * self.problem.rows.scores(g)[active])
        spread = np.zeros(self.problem.rows.n)
        spread[active] = root * inner
        return g - self.problem.rows.pull(spread)


class _ConjugateGradient:
    """The same by conjugate gradients, preconditioned by the diagonal."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.diagonal = 1.0 + problem.rows.gram_diagonal(2.0 * problem.cost)

    def __call__(self, g: Array, active: Array, residual: float) -> Array:
        rows, h, diagonal = self.problem.rows, 2.0 * self.problem.cost * active, self.diagonal
        d, r = np.zeros_like(g), g.copy()
        z = r / diagonal
        direction, rho = z, float(r @ z)
        for _ in range(min(len(g), 500)):
            curved = direction + rows.curve(h, direction)
            step = rho / float(direction @ curved)
            d += step * direction
            r = r - step * curved
            if float(r @ r) <= residual**2 * float(g @ g):
                break
            z = r / diagonal
            rho, old = float(r @ z), rho
            direction = z + (rho / old) * direction
        return d
