r"""Hinge loss with an l2 penalty: a primal-dual interior point method.

With :math:`z_i = t_i a_i`, multipliers :math:`\lambda, \xi` of the bounds :math:`0 \le \alpha \le c`, and
:math:`s = c - \alpha`:

.. math:: u = Z'\alpha,\qquad Zu - 1 = \lambda - \xi,\qquad \alpha_i\lambda_i = s_i\xi_i = \mu c_i,\qquad \mu \to 0

Each step solves with :math:`I + Z'HZ` or :math:`ZZ' + H^{-1}`, whichever is smaller, where
:math:`H^{-1} = \Lambda/\alpha + \Xi/s`. The number of steps hardly depends on the data, their scale, or ``C``, which is
where coordinate descent gets slow. The path starts at the machine of the squared hinge, with the :math:`\alpha` that
its margins have on the path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.linear_svc.margin_problem import Effort, Machine, MarginProblem
from pellucid.svm.linear_svc.squared_hinge_newton import squared_hinge_newton
from pellucid.svm.scaled_cholesky import scaled_cholesky

BEYOND = 0.01
"""Part of the goal to go on to: the last steps gain digits at little cost."""

BACK_FROM_BOUND = 0.99
"""Part of the way to the nearest bound that a step may go."""

AT_BOUND = 1e-7
"""A dual variable this close to a bound, as a part of its cost, is taken to be there."""

FIRST_LEVEL = 0.1
"""The :math:`\\mu` of the start."""

Solver = Callable[[Array], tuple[Array, Array]]
"""From the right side ``b`` to the steps of ``u`` and ``alpha``."""


def hinge_interior_point(
    problem: MarginProblem, effort: Effort, start: Array | None = None, finest: float | None = None
) -> Machine:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, 1 - m_i)`, with its dual point.

    Beyond the goal it goes on to a gap of ``finest`` times the objective, as long as that halves with each step.
    """
    finest = BEYOND * effort.goal if finest is None else finest
    if start is None:
        start = squared_hinge_newton(problem, replace(effort, goal=0.01, watch=lambda _u: False)).u
    path = _Path(problem, start)
    machine = Machine(path.u)
    last_gap, best = np.inf, (path.u, path.alpha, np.inf, np.inf)
    while True:
        machine.note(*problem.hinge_values(path.u, path.alpha, path.margins), level=path.level)
        if machine.gap < best[3]:
            best = (path.u, path.alpha, machine.objective, machine.gap)
        stalled = machine.is_within(effort.goal) and machine.gap > 0.5 * last_gap
        last_gap = machine.gap
        done = effort.watch(path.u) or machine.n_iter >= effort.max_iter or machine.is_within(finest)
        if done or stalled or not path.advance():
            break
        machine.n_iter += 1
    machine.u, machine.alpha, machine.objective, machine.gap = best
    return _purified(problem, machine)


class _Path:
    """The point on its way: weights, dual variables inside their box, and the multipliers of both bounds."""

    def __init__(self, problem: MarginProblem, u: Array) -> None:
        self.problem, self.u = problem, u
        self.share = problem.cost / problem.cost.mean()  # a row of twice the cost stands for two rows, also here
        self.margins = problem.margins(u)
        off, level = self.margins - problem.wanted, FIRST_LEVEL
        # the root in (0, 1) of level / a - level / (1 - a) = off, which is complementarity for alpha = a c
        a = 2.0 * level / (off + 2.0 * level + np.sqrt(off**2 + 4.0 * level**2))
        a = np.clip(a, 1e-10, 1.0 - 1e-10)
        self.alpha = a * problem.cost
        self.lower, self.upper = level / a, level / (1.0 - a)
        self.products = problem.rows.inner_products() if problem.rows.n < problem.rows.width else None

    @property
    def slack(self) -> Array:
        return self.problem.cost - self.alpha

    @property
    def level(self) -> float:
        """Mean of the products of variables and multipliers."""
        return (float(self.alpha @ self.lower) + float(self.slack @ self.upper)) / (2 * len(self.alpha))

    def advance(self) -> bool:
        """Take one predictor-corrector step; False if rounding leaves none."""
        alpha, slack, lower, upper, level = self.alpha, self.slack, self.lower, self.upper, self.level
        residual = self.margins - self.problem.wanted - lower + upper
        try:
            solve = self._solver(lower / alpha + upper / slack)
        except np.linalg.LinAlgError:
            return False

        def direction(target: Array | float, first: Array | float, second: Array | float) -> tuple[Array, ...]:
            below, above = target - alpha * lower - first, target - slack * upper - second
            d_u, d_alpha = solve(-residual + below / alpha - above / slack)
            return d_u, d_alpha, (below - lower * d_alpha) / alpha, (above + upper * d_alpha) / slack

        _, d_alpha, d_lower, d_upper = direction(0.0, 0.0, 0.0)
        step = min(1.0, self._longest(d_alpha, d_lower, d_upper))
        ahead = (alpha + step * d_alpha) @ (lower + step * d_lower) + (slack - step * d_alpha) @ (
            upper + step * d_upper
        )
        centering = (max(float(ahead), 0.0) / (2 * len(alpha)) / level) ** 3
        moves = direction(centering * level * self.share, d_alpha * d_lower, -d_alpha * d_upper)
        step = min(1.0, BACK_FROM_BOUND * self._longest(*moves[1:]))
        return self._move(step, *moves)

    def _move(self, step: float, d_u: Array, d_alpha: Array, d_lower: Array, d_upper: Array) -> bool:
        alpha = self.alpha + step * d_alpha
        if not (step > 1e-8 and np.all(np.isfinite(d_u)) and np.all(alpha > 0.0) and np.all(alpha < self.problem.cost)):
            return False
        self.u, self.alpha = self.u + step * d_u, alpha
        self.lower, self.upper = self.lower + step * d_lower, self.upper + step * d_upper
        self.margins = self.problem.margins(self.u)
        return True

    def _longest(self, d_alpha: Array, d_lower: Array, d_upper: Array) -> float:
        """Return the step at which the first variable reaches its bound."""
        pairs = ((self.alpha, d_alpha), (self.slack, -d_alpha), (self.lower, d_lower), (self.upper, d_upper))
        return 1.0 / max(*(-float(np.min(change / value)) for value, change in pairs), 1e-300)

    def _solver(self, diagonal: Array) -> Solver:
        problem, rest = self.problem, self.u - self.problem.combine(self.alpha)
        if self.products is not None:
            K = self.products * np.outer(problem.signs, problem.signs)
            K.flat[:: len(K) + 1] += diagonal
            solve_rows = scaled_cholesky(K)
            missing = problem.margins(rest)

            def solve_dual(b: Array) -> tuple[Array, Array]:
                d_alpha = solve_rows(b + missing)
                return problem.combine(d_alpha) - rest, d_alpha

            return solve_dual
        M = problem.rows.gram(1.0 / diagonal)
        M.flat[:: len(M) + 1] += 1.0
        solve_columns = scaled_cholesky(M)

        def solve_primal(b: Array) -> tuple[Array, Array]:
            d_u = solve_columns(problem.combine(b / diagonal) - rest)
            return d_u, (b - problem.margins(d_u)) / diagonal

        return solve_primal


def _purified(problem: MarginProblem, machine: Machine) -> Machine:
    """Put the dual variables that are near a bound there, unless that widens the gap."""
    alpha, c = machine.alpha, problem.cost
    assert alpha is not None
    rounded = np.where(alpha < AT_BOUND * c, 0.0, np.where(c - alpha < AT_BOUND * c, c, alpha))
    u = problem.combine(rounded)
    objective, gap = problem.hinge_values(u, rounded, problem.margins(u))
    if gap <= machine.gap:
        machine.u, machine.alpha, machine.objective, machine.gap = u, rounded, objective, gap
    return machine
