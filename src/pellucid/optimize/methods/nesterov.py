"""Gradient descent with Nesterov's momentum."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.optimize.methods.momentum import Momentum, MomentumState
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import as_schedule


@dataclass(frozen=True)
class Nesterov(Momentum):
    r"""Momentum that looks ahead: the gradient is taken where the velocity alone would lead.

    .. math:: v_{t+1} = \beta v_t - \eta_t\,\nabla f(x_t + \beta v_t), \qquad x_{t+1} = x_t + v_{t+1}

    Parameters
    ----------
    step_size : float or Schedule, default=0.01
    momentum : float, default=0.9
        :math:`\beta`, at least 0 and below 1.
    """

    def step(self, oracle: Oracle, state: MomentumState) -> MomentumState:
        """Look ahead, push and roll."""
        ahead = state.x + self.momentum * state.velocity
        push = as_schedule(self.step_size)(state.t) * oracle.gradient(ahead)
        velocity = self.momentum * state.velocity - push
        return MomentumState(state.x + velocity, velocity, state.t + 1)
