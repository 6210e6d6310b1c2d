"""Gradient descent with Nesterov's momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pellucid.core.types import Array
from pellucid.optimize.methods.fraction import check_fraction
from pellucid.optimize.methods.momentum import MomentumState
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import Schedule, as_schedule


@dataclass(frozen=True)
class Nesterov:
    r"""Momentum that looks ahead: the gradient is taken where the velocity alone would lead.

    .. math:: v_{t+1} = \beta v_t - \eta_t\,\nabla f(x_t + \beta v_t), \qquad x_{t+1} = x_t + v_{t+1}

    Parameters
    ----------
    step_size : float or Schedule, default=0.01
    momentum : float, default=0.9
        :math:`\beta`, at least 0 and below 1.
    """

    step_size: float | Schedule = 0.01
    momentum: float = 0.9

    takes_batches: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_schedule(self.step_size)
        check_fraction(momentum=self.momentum)

    def start(self, oracle: Oracle, x: Array) -> MomentumState:
        """Return the first state, at rest."""
        return MomentumState(x, 0 * x, 0)

    def step(self, oracle: Oracle, state: MomentumState) -> MomentumState:
        """Look ahead, push and roll."""
        ahead = state.x + self.momentum * state.velocity
        push = as_schedule(self.step_size)(state.t) * oracle.gradient(ahead)
        velocity = self.momentum * state.velocity - push
        return MomentumState(state.x + velocity, velocity, state.t + 1)
