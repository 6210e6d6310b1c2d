r"""Squared hinge loss with an l2 penalty: Newton's method on a function that is quadratic in pieces.

The rows whose margin is short, :math:`\mathcal A`, give the Hessian :math:`I + 2\sum_{\mathcal A} c_i a_i a_i'`. Once
:math:`\mathcal A` is right one step is exact, so few iterations are needed, and each updates the last Hessian by the
rows that came or went. With the wanted margins :math:`g_i`, :math:`\alpha_i = 2c_i\max(0, g_i - m_i)` is a dual point
with the gap :math:`\tfrac12\|\nabla P\|^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from pellucid.core.fit import Effort
from pellucid.core.types import Array
from pellucid.losses.classification_losses import SquaredHingeLoss
from pellucid.solvers.curvature_equations import DIRECT, conjugate_gradient, scaled_cholesky
from pellucid.solvers.newton import EXACT, SMALL, NewtonDescent, newton_descent
from pellucid.svm.linear_svc.margin_problem import MarginFit, MarginProblem

LOSS = SquaredHingeLoss()

SPARE_STEPS = 3
"""Steps beyond the goal: they cost little and usually find the exact minimum."""

NEARLY_EXACT = 1e-13
"""Part of the objective that ends them where rows are many: along the last one slopes are rounding, and trials cost."""

FLAT = 1e-10
"""Part of the first slope of a line that is left at its minimum: trials are cheap, as the loss needs margins only."""

MOST_CONJUGATE_STEPS, LOOSEST = 500, 0.1
"""When conjugate gradients stop: after so many steps, or at this part of the gradient far from the minimum."""

WIDE = 2
"""Columns for each row from which equations as large as the rows are solved sooner."""

Solver = Callable[[Array, Array, float], Array]
"""Solves ``H d = g``, from ``g``, which rows are short, and the relative residual that will do."""


def squared_hinge_newton(problem: MarginProblem, effort: Effort, start: Array | None = None) -> MarginFit:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, g_i - m_i)^2`; it starts at 0 if not told."""
    start = np.zeros(problem.rows.width) if start is None else start
    found, smooth = NewtonDescent(start, start, 0.0), _SmoothProblem(problem, effort.goal)
    spare = 0 if isinstance(smooth.solve, ConjugateSteps) else SPARE_STEPS
    exact = EXACT if smooth.entries <= SMALL else NEARLY_EXACT
    newton_descent(
        smooth, found, effort,
        spare_steps=spare, exact=exact, flat=FLAT, short_step=np.inf, columns=SquaredHinge.columns,
    )  # fmt: skip
    return MarginFit(found.w, None, found.objective, found.gap, found.n_iter, found.trace)


class SquaredHinge:
    """The loss at scores ``f``, as Newton's method asks for it; there is nothing to smooth."""

    excess = 0.0

    def __init__(self, problem: MarginProblem, signed_cost: Array, f: Array) -> None:
        self.problem, self.f = problem, f
        self.margins = 1.0 + problem.beyond(problem.signs * f)  # as if all rows wanted 1
        self.minus_slope = LOSS.gradient(self.margins)
        self.minus_slope *= signed_cost

    @cached_property
    def value(self) -> float:
        """The loss."""
        return float(self.problem.cost @ LOSS.value(self.margins))

    @property
    def is_short(self) -> Array:
        """Which margins are short of 1."""
        return self.margins < 1.0

    def bend_along(self, slopes: Array) -> float:
        """Return the second derivative along a direction of the scores."""
        return float((self.problem.cost * LOSS.curvature(self.margins)) @ (slopes * slopes))

    def columns(self) -> dict[str, float]:
        """Return what the trace says of the loss."""
        return {"short_margins": float(np.count_nonzero(self.is_short))}


class _SmoothProblem:
    """The problem as Newton's method asks for it."""

    def __init__(self, problem: MarginProblem, goal: float) -> None:
        rows = problem.rows
        self.problem, self.goal = problem, goal
        self.size, self.entries = rows.width, rows.n * rows.width
        self.scores, self.transposed_times = rows.scores, rows.transposed_times
        self._signed_cost = -problem.signs * problem.cost
        self.solve: Solver
        if rows.base.n <= DIRECT and (rows.width > DIRECT or self._is_wide):
            self.solve = DualFactor(problem)
        else:
            self.solve = PrimalFactor(problem) if rows.width <= DIRECT else ConjugateSteps(problem)

    @property
    def _is_wide(self) -> bool:
        """Whether equations as large as the rows are solved sooner than those of the columns, and as precisely."""
        rows, cost = self.problem.rows, self.problem.cost
        return rows.width >= WIDE * rows.base.n and rows.base.keeps_unit(rows.summed(2.0 * cost))

    def loss(self, f: Array, _smoothing: float) -> SquaredHinge:
        return SquaredHinge(self.problem, self._signed_cost, f)

    def newton_step(self, loss: SquaredHinge, gradient: Array) -> Array:
        """Return the Newton step: precise near the minimum, but no more so than the goal asks for."""
        gap = 0.5 * float(gradient @ gradient)
        needed = np.sqrt(0.1 * self.goal * loss.value / gap)
        precision = min(LOOSEST, max(needed, np.sqrt(2.0 * gap / (1.0 + loss.value))))
        return self.solve(gradient, loss.is_short, float(precision))


class PrimalFactor:
    """Cholesky factor of the Hessian, which is kept and updated by the rows that changed."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.active = np.zeros(problem.rows.n, dtype=bool)
        self.gram = np.zeros((problem.rows.width, problem.rows.width))

    def __call__(self, g: Array, active: Array, _precision: float) -> Array:
        """Return ``d``."""
        rows, double = self.problem.rows, 2.0 * self.problem.cost
        if not rows.base.is_small and 2 * np.count_nonzero(active ^ self.active) < np.count_nonzero(active):
            self.gram += rows.gram(double * (active & ~self.active)) - rows.gram(double * (self.active & ~active))
        else:
            self.gram = rows.gram(double * active)
        self.active = active
        return scaled_cholesky(self.gram + np.eye(len(g)))(g)


class DualFactor:
    r"""The same from :math:`(I + BB')^{-1}`, with one row of :math:`B = \sqrt{2C}A` per short margin."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.base = problem, problem.rows.base
        self.products = self.base.inner_products()

    def __call__(self, g: Array, active: Array, _precision: float) -> Array:
        """Return ``d``."""
        double = self.problem.rows.summed(2.0 * self.problem.cost * active)
        used = np.flatnonzero(double)
        root = np.sqrt(double[used])
        K = self.products[np.ix_(used, used)] * np.outer(root, root)
        K.flat[:: len(K) + 1] += 1.0
        inner = scaled_cholesky(K)(root * self.base.scores(g)[used])
        spread = np.zeros(self.base.n)
        spread[used] = root * inner
        return g - self.base.transposed_times(spread)


class ConjugateSteps:
    """The same by conjugate gradients."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.diagonal = 1.0 + problem.rows.gram_diagonal(2.0 * problem.cost)

    def __call__(self, g: Array, active: Array, precision: float) -> Array:
        """Return ``d``."""
        rows, h = self.problem.rows, 2.0 * self.problem.cost * active
        most = min(len(g), MOST_CONJUGATE_STEPS)
        return conjugate_gradient(
            lambda d: d + rows.curve(h, d), g, self.diagonal, precision=precision, max_steps=most
        )  # fmt: skip
