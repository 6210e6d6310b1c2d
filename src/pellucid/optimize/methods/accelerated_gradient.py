"""Nesterov's accelerated gradient for convex and strongly convex functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pellucid.optimize.methods.fista import FISTA, FISTAState
from pellucid.optimize.methods.proximal_step import proximal_step
from pellucid.optimize.oracle import Oracle


@dataclass(frozen=True)
class AcceleratedGradient(FISTA):
    r"""The optimal first-order method for smooth convex functions.

    .. math::
        x_{t+1} = y_t - \eta\,\nabla f(y_t), \qquad y_{t+1} = x_{t+1} + \beta_t(x_{t+1} - x_t)

    If the problem knows its :math:`\mu > 0`, :math:`\beta = (1 - \sqrt{\mu\eta}) / (1 + \sqrt{\mu\eta})` and
    :math:`f(x_t) - f^* \le (1 - \sqrt{\mu\eta})^t\bigl(f(x_0) - f^* + \frac\mu2\|x_0 - x^*\|^2\bigr)`. Otherwise
    :math:`\beta_t` is that of :class:`FISTA`, with its rate :math:`1/t^2`.

    Parameters
    ----------
    step_size : float or Schedule, default=None
        Without it :math:`1/L`, and if :math:`L` is not known, found by halving.
    """

    takes_penalty: ClassVar[bool] = False

    def step(self, oracle: Oracle, state: FISTAState) -> FISTAState:
        """Take one gradient step and look ahead."""
        mu = oracle.problem.strong_convexity
        if not mu:
            return super().step(oracle, state)
        moved = proximal_step(oracle, oracle.at(state.ahead), self.step_size, state.step_size, state.t)
        root = math.sqrt(mu * moved.step_size)
        ahead = moved.x + (1 - root) / (1 + root) * (moved.x - state.x)
        return FISTAState(moved.x, ahead, 1.0, moved.step_size, state.t + 1)
