"""Subgradient descent, for convex functions with kinks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.checks import check_positive
from pellucid.core.types import Array
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Problem
from pellucid.optimize.schedules import InverseRoot, Schedule, as_schedule
from pellucid.proofs.certificate import Certificate, Claim


class SubgradientState(NamedTuple):
    r"""Best point and value so far, current point, :math:`\sum\eta`, :math:`\sum\eta^2\|g\|^2`, count, first bound."""

    x: Array
    best: float
    current: Array
    steps: float
    squares: float
    t: int
    first_bound: float = math.inf


@dataclass(frozen=True)
class Subgradient:
    r"""Step along any subgradient. The value may rise, so the best point so far is the answer.

    .. math:: x_{t+1} = x_t - \eta_t\,g_t, \quad g_t \in \partial f(x_t), \qquad
        \min_{s \le t} f(x_s) - f^* \le \frac{\|x_0 - x^*\|^2 + \sum_s\eta_s^2\|g_s\|^2}{2\sum_s\eta_s}

    Parameters
    ----------
    step_size : float or Schedule, default=InverseRoot(1.0)
    radius : float, default=None
        A bound on :math:`\|x_0 - x^*\|`. With it, and a problem declared convex, the certificate
        states the bound above.
    """

    step_size: float | Schedule = InverseRoot(1.0)
    radius: float | None = None

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = True

    def __post_init__(self) -> None:
        as_schedule(self.step_size)
        if self.radius is not None:
            check_positive(radius=self.radius)

    def start(self, oracle: Oracle, x: Array) -> SubgradientState:
        """Return the first state, which has not moved."""
        return SubgradientState(x, oracle.at(x).value, x, 0.0, 0.0, 0)

    def step(self, oracle: Oracle, state: SubgradientState) -> SubgradientState:
        """Step, and remember the best point."""
        gradient, eta = oracle.at(state.current).gradient, as_schedule(self.step_size)(state.t)
        current = state.current - eta * gradient
        value = oracle.at(current).value
        x, best = (current, value) if value < state.best else (state.x, state.best)
        steps, squares = state.steps + eta, state.squares + eta**2 * float(gradient @ gradient)
        first_bound = state.first_bound if state.t else ((self.radius or 0.0) ** 2 + squares) / (2 * steps)
        return SubgradientState(x, best, current, steps, squares, state.t + 1, first_bound)

    def certificate(self, problem: Problem, state: SubgradientState) -> Certificate:
        """Return the bound of the theorem above, or why there is none."""
        if self.radius is None or problem.strong_convexity is None:
            return Certificate(
                "none",
                reason="A subgradient need not vanish at a minimum. For a bound give radius to Subgradient and "
                "strong_convexity to the problem: 0 says that it is convex.",
            )
        if not state.t:
            return Certificate("none", reason="No step was taken.")
        gap = (self.radius**2 + state.squares) / (2 * state.steps)
        statement = (
            "the objective is at most this far above its minimum; the bound is the guarantee after the first step"
        )
        return Certificate("bounded", (Claim("gap", statement, gap, state.first_bound),))
