r"""Hinge loss with an l2 penalty: a primal-dual interior point method, and dual descent where a factor would not fit.

With :math:`z_i = t_i a_i`, multipliers :math:`\lambda, \xi` of the bounds :math:`0 \le \alpha \le c`, and
:math:`s = c - \alpha`:

.. math:: u = Z'\alpha,\qquad Zu - g = \lambda - \xi,\qquad \alpha_i\lambda_i = s_i\xi_i = \mu c_i,\qquad \mu \to 0

Each step solves with :math:`I + Z'HZ` or :math:`ZZ' + H^{-1}`, whichever is smaller, where
:math:`H^{-1} = \Lambda/\alpha + \Xi/s`. The number of steps hardly depends on the data, their scale, or ``C``, which is
where coordinate descent gets slow. The path starts at the machine of the squared hinge, with the :math:`\alpha` that
its margins have on the path.

Little data are solved to rounding. At the minimum a row has :math:`\alpha_i = 0`, or :math:`\alpha_i = c_i`, or it is
free and lies on its margin. Once the path has told which is which, the free rows are linear equations: all of them
have the margin they want.

Of very many rows only those near the margin take part. Most end clearly on one side, with :math:`\alpha_i = 0` or
:math:`\alpha_i = c_i`. Once those are fixed and sum to :math:`v = \sum\alpha_i t_i a_i`, the others are a machine of
their own for :math:`u - v`, whose rows want the margins :math:`g_i - t_i a_i'v`, where :math:`g_i` is the margin that
they wanted before: 1 of a classifier. A fit of a sample tells which rows are
near; rows found on the wrong side join them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.linalg import svd

from pellucid.core.fit import Effort
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.curvature_equations import scaled_cholesky
from pellucid.solvers.leading_eigenvectors import LookSchedule
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.margin_problem import MarginFit, MarginProblem
from pellucid.svm.linear_svc.squared_hinge import squared_hinge_newton
from pellucid.svm.svm_kernels import dual_descent_pass

BEYOND = 0.01
"""Part of the goal to go on to: the last steps gain digits at little cost."""

BACK_FROM_BOUND = 0.99
"""Part of the way to the nearest bound that a step may go."""

AT_BOUND = 1e-7
"""A dual variable this close to a bound, as a part of its cost, is taken to be there."""

FIRST_LEVEL = 0.1
"""The :math:`\\mu` of the start."""

FINEST = 1e-12
"""Part of the objective that the interior point method goes down to: enough to tell free rows from others."""

ROUNDS = 4
"""Times to tell the free rows and solve for them: the first may be wrong about a row that is almost at a bound."""

DEPENDENT = 1e-10
"""Singular value, as a part of the largest, below which free rows depend on each other."""

SAMPLE = 10
"""One row in so many is in the sample."""

NEAR = (0.35, 0.1)
"""Part of the rows that the first rounds take as near; the last number holds for all later ones."""

MOST_NEAR = 0.5
"""Part of the rows beyond which all are taken at once."""

ROUGH = 3e-2
"""Gap that the sample and the first round are solved to, as a part of their objective."""

Solver = Callable[[Array], tuple[Array, Array]]
"""From the right side ``b`` to the steps of ``u`` and ``alpha``."""


def hinge_interior_point(
    problem: MarginProblem, effort: Effort, start: Array | None = None, finest: float | None = None
) -> MarginFit:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, g_i - m_i)`, with its dual point.

    Beyond the goal it goes on to a gap of ``finest`` times the objective, as long as that halves with each step.
    """
    finest = BEYOND * effort.goal if finest is None else finest
    if start is None:
        start = squared_hinge_newton(problem, replace(effort, goal=0.01, watch=lambda _u: False)).u
    path = _Path(problem, start)
    machine = MarginFit(path.u)
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


def hinge_to_rounding(problem: MarginProblem, effort: Effort) -> MarginFit:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, g_i - m_i)`, with its dual point."""
    machine = hinge_interior_point(problem, effort, finest=FINEST)
    if not machine.is_within(effort.goal):
        return machine
    assert machine.alpha is not None
    u, alpha = machine.u, machine.alpha
    for _ in range(ROUNDS):
        alpha = _with_free_rows_solved(problem, u, alpha)
        u = problem.combine(alpha)
        machine = _better(problem, machine, u, alpha)
    return machine


def hinge_near_rows(problem: MarginProblem, effort: Effort) -> MarginFit:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, g_i - m_i)`, with its dual point."""
    quiet = replace(effort, watch=lambda _u: False)
    machine = MarginFit(hinge_interior_point(_sample(problem), replace(quiet, goal=ROUGH)).u)
    margins, joined = problem.margins(machine.u), np.zeros(problem.rows.n, dtype=bool)
    while True:
        first = len(machine.trace) == 0
        size = int(NEAR[0 if first else 1] * problem.rows.n)
        joined[np.argpartition(np.abs(problem.beyond(margins)), size)[:size]] = True
        near = np.flatnonzero(joined)
        alpha = np.where((margins < problem.wanted) & ~joined, problem.cost, 0.0)
        v = problem.combine(alpha)
        rest = replace(problem.part(near), wanted=-problem.beyond(problem.margins(v))[near])
        goal, left = ROUGH if first else 0.1 * effort.goal, effort.max_iter - machine.n_iter
        inner = hinge_interior_point(rest, replace(quiet, goal=goal, max_iter=left), machine.u - v)
        assert inner.alpha is not None
        alpha[near] = inner.alpha
        machine.u, machine.alpha, machine.n_iter = v + inner.u, alpha, machine.n_iter + inner.n_iter
        margins = problem.margins(machine.u)
        machine.note(*problem.hinge_values(machine.u, alpha, margins), near_rows=float(len(near)))
        if effort.watch(machine.u) or machine.n_iter >= effort.max_iter or machine.is_within(effort.goal):
            return machine
        wrong = ~joined & np.where(alpha > 0.0, margins > problem.wanted, margins < problem.wanted)
        if not first and (not wrong.any() or len(near) > MOST_NEAR * problem.rows.n):  # nothing gained by parts
            return hinge_interior_point(problem, effort)
        joined = wrong if first else joined | wrong


class _Path:
    """The point on its way: weights, dual variables inside their box, and the multipliers of both bounds."""

    def __init__(self, problem: MarginProblem, u: Array) -> None:
        self.problem, self.u = problem, u
        self.share = problem.cost / problem.cost.mean()  # a row of twice the cost stands for two rows, also here
        self.margins = problem.margins(u)
        off, level = problem.beyond(self.margins), FIRST_LEVEL
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
        residual = self.problem.beyond(self.margins) - lower + upper
        try:
            with np.errstate(over="ignore"):  # a row of hardly any cost stays where it is
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


def _purified(problem: MarginProblem, machine: MarginFit) -> MarginFit:
    """Put the dual variables that are near a bound there, unless that widens the gap."""
    alpha, c = machine.alpha, problem.cost
    assert alpha is not None
    rounded = np.where(alpha < AT_BOUND * c, 0.0, np.where(c - alpha < AT_BOUND * c, c, alpha))
    u = problem.combine(rounded)
    objective, gap = problem.hinge_values(u, rounded, problem.margins(u))
    if gap <= machine.gap:
        machine.u, machine.alpha, machine.objective, machine.gap = u, rounded, objective, gap
    return machine


def _with_free_rows_solved(problem: MarginProblem, u: Array, alpha: Array) -> Array:
    """Return the dual point whose free rows have the margin they want; the others are at the bound they tend to."""
    c, squares = problem.cost, problem.rows.sq_lengths()
    off = problem.beyond(problem.margins(u))
    # a row that would have to leave its box to get the margin it wants, is at that bound
    low, high = off > alpha * squares, -off > (c - alpha) * squares
    solved = np.where(low, 0.0, np.where(high, c, alpha))
    free = np.flatnonzero(~(low | high))
    if len(free) == 0:
        return solved
    inverse = _half_inverse(problem.rows.part(free).by_column().toarray() * problem.signs[free, None])
    off = problem.beyond(problem.margins(problem.combine(solved)))
    solved[free] = np.clip(solved[free] - inverse @ (off[free] @ inverse), 0.0, c[free])
    return solved


def _half_inverse(Z: Array) -> Array:
    """Return ``H`` of which ``H H'`` is the pseudoinverse of ``Z Z'``: equal rows share a change equally."""
    left, sizes, _ = svd(Z, full_matrices=False)
    kept = sizes > DEPENDENT * sizes[0]
    return np.asarray(left[:, kept] / sizes[kept])


def _better(problem: MarginProblem, machine: MarginFit, u: Array, alpha: Array) -> MarginFit:
    """Return the machine of this dual point, unless its gap is wider, and not by rounding."""
    objective, gap = problem.hinge_values(u, alpha, problem.margins(u))
    rounding = max(10.0 * FINEST * objective, EPSILON * float(problem.cost.sum()))
    is_as_good = gap <= max(machine.gap, rounding)
    return replace(machine, u=u, alpha=alpha, objective=objective, gap=gap) if is_as_good else machine


def _sample(problem: MarginProblem) -> MarginProblem:
    """Return the problem of a random sample, in which each row stands for several."""
    part = problem.part(problem.rows.sampled(SAMPLE))
    return replace(part, cost=SAMPLE * part.cost)


# Dual coordinate descent with shrinking (Hsieh et al. 2008), for many rows and columns.
#
# Each step sets one dual variable to its best value; a variable at a bound that wants to stay there is left out of
# the passes until the rest is done. It solves the hinge. Of the squared hinge it finds where Newton's method starts: a
# pass costs less than one product of the conjugate gradients in a Newton step, and a few of them spare most steps.


MOST_START_PASSES, NEAR_ENOUGH = 50, 1e-3
"""Most passes that find a start, and how far from the margins they want the rows may be in the last."""


class DualPasses:
    """One dual variable per row and their weights ``u``, moved by passes over the rows in random order.

    They lie in [0, c], or in [-c, c] where a row wants margins on both sides, or are free but have a ridge.
    """

    def __init__(self, problem: MarginProblem, rng: np.random.RandomState, *, squared: bool) -> None:
        self._problem, single = problem, problem.descended()
        rows, cost = single.rows, single.cost
        ridge, most = (0.5 / cost, np.full(rows.n, np.inf)) if squared else (np.zeros(rows.n), cost)
        least = -most if single.is_two_sided else np.zeros(rows.n)
        self._alpha, self.u = np.zeros(rows.n), np.zeros(rows.width)
        parts = unsigned_parts(sparse.csr_array(rows.X))
        box = (ridge, least, most, rows.sq_lengths() + ridge)
        self._fixed = (*parts, rows.constant, single.signs, single.wanted, single.tube, *box)
        self._order = np.arange(rows.n)
        self._draws = np.frombuffer(rng.bytes(8), dtype=np.uint64) | np.uint64(1)
        self._visit_all()

    def _visit_all(self) -> None:
        self._n_active, self._highest, self._lowest = len(self._order), np.inf, -np.inf

    @property
    def alpha(self) -> Array:
        """The dual point of the problem."""
        return self._problem.dual_point(self._alpha)

    def run(self, near: float) -> bool:
        """Go once over the rows; return whether all visited are near their best, and visit all the next time."""
        moved = (self._alpha, self.u, self._order, self._draws)
        self._n_active, self._highest, self._lowest = dual_descent_pass(
            *self._fixed, *moved, self._n_active, self._highest, self._lowest
        )
        is_near = self._highest - self._lowest <= near
        if is_near or self._n_active == 0:
            self._visit_all()
        return is_near


def hinge_dual_descent(problem: MarginProblem, effort: Effort, rng: np.random.RandomState) -> MarginFit:
    r"""Return the machine of least :math:`\frac12|u|^2 + \sum c_i\max(0, g_i - m_i)`, with its dual point."""
    passes, looks = DualPasses(problem, rng, squared=False), LookSchedule()
    found = MarginFit(passes.u)
    while True:
        if found.n_iter >= min(looks.next_look, effort.max_iter):
            values = _values(problem, passes)
            if values[1] <= effort.goal * values[0] or found.n_iter >= effort.max_iter:
                passes.u[:] = problem.combine(passes.alpha)  # at the end, anew: rounding has piled up
                values = _values(problem, passes)
            found.alpha = passes.alpha
            found.note(*values, support_vectors=float(np.count_nonzero(found.alpha)))
            looks.saw(found.n_iter, found.gap, goal=effort.goal * found.objective)
            if effort.watch(found.u) or found.n_iter >= effort.max_iter or found.is_within(effort.goal):
                return found
        passes.run(effort.goal)
        found.n_iter += 1


def _values(problem: MarginProblem, passes: DualPasses) -> tuple[float, float]:
    """Return the objective and the gap of weights that are the sum of this dual point."""
    return problem.hinge_values(passes.u, passes.alpha, problem.margins(passes.u), combined=passes.u)


def squared_hinge_start(problem: MarginProblem, rng: np.random.RandomState) -> Array:
    """Return weights near those of the least squared hinge objective."""
    passes = DualPasses(problem, rng, squared=True)
    for _ in range(MOST_START_PASSES):
        if passes.run(NEAR_ENOUGH):
            break
    return passes.u
