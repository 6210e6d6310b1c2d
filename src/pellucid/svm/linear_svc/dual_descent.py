"""Dual coordinate descent with shrinking (Hsieh et al. 2008), for many rows and columns.

Each step sets one dual variable to its best value; a variable at a bound that wants to stay there is left out of
the passes until the rest is done. It solves the hinge. Of the squared hinge it finds where Newton's method starts: a
pass costs less than one product of the conjugate gradients in a Newton step, and a few of them spare most steps.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.core.effort import Effort
from pellucid.core.types import Array
from pellucid.numerics.look_schedule import LookSchedule
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.linear_svc.margin_problem import MarginFit, MarginProblem
from pellucid.svm.svm_kernels import dual_descent_pass

MOST_START_PASSES, NEAR = 50, 1e-3
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
        if passes.run(NEAR):
            break
    return passes.u
