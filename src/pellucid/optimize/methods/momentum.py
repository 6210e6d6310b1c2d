"""Gradient descent with momentum (Polyak's heavy ball)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.methods.fraction import check_fraction
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import Schedule, as_schedule


class MomentumState(NamedTuple):
    """The iterate, its velocity and the number of steps."""

    x: Array
    velocity: Array
    t: int


@dataclass(frozen=True)
class Momentum:
    r"""A heavy ball: it keeps a share of its velocity and is pushed by the gradient.

    .. math:: v_{t+1} = \beta v_t - \eta_t\,\nabla f(x_t), \qquad x_{t+1} = x_t + v_{t+1}

    On quadratics with eigenvalues in :math:`[\mu, L]` the best choice is
    :math:`\eta = 4/(\sqrt L + \sqrt\mu)^2`, :math:`\beta = ((\sqrt L - \sqrt\mu)/(\sqrt L + \sqrt\mu))^2`.

    Parameters
    ----------
    step_size : float or Schedule, default=0.01
        A number, or a schedule that gives one for each step.
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
        """Push and roll."""
        push = as_schedule(self.step_size)(state.t) * oracle.gradient(state.x)
        velocity = self.momentum * state.velocity - push
        return MomentumState(state.x + velocity, velocity, state.t + 1)


@dataclass(frozen=True)
class Nesterov(Momentum):
    r"""Momentum that looks ahead: the gradient is taken where the velocity alone would lead.

    .. math:: v_{t+1} = \beta v_t - \eta_t\,\nabla f(x_t + \beta v_t), \qquad x_{t+1} = x_t + v_{t+1}

    Parameters
    ----------
    step_size : float or Schedule, default=0.01
        A number, or a schedule that gives one for each step.
    momentum : float, default=0.9
        :math:`\beta`, at least 0 and below 1.
    """

    def step(self, oracle: Oracle, state: MomentumState) -> MomentumState:
        """Look ahead, push and roll."""
        ahead = state.x + self.momentum * state.velocity
        push = as_schedule(self.step_size)(state.t) * oracle.gradient(ahead)
        velocity = self.momentum * state.velocity - push
        return MomentumState(state.x + velocity, velocity, state.t + 1)
