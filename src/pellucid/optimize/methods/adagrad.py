"""AdaGrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.checks import check_positive
from pellucid.core.types import Array
from pellucid.optimize.methods.fraction import check_fraction
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import Schedule, as_schedule


class AdaGradState(NamedTuple):
    """The iterate, the sums of squared gradients and the number of steps."""

    x: Array
    squares: Array
    t: int


@dataclass(frozen=True)
class AdaGrad:
    r"""A step size per coordinate, smaller where gradients have been large.

    .. math:: r_{t+1} = r_t + g_t \odot g_t, \qquad x_{t+1} = x_t - \frac{\eta_t}{\sqrt{r_{t+1}} + \epsilon}\odot g_t

    Parameters
    ----------
    step_size : float or Schedule, default=0.1
        A number, or a schedule that gives one for each step.
    epsilon : float, default=1e-10
        Keeps the division safe.
    """

    step_size: float | Schedule = 0.1
    epsilon: float = 1e-10

    takes_batches: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_schedule(self.step_size)
        check_positive(epsilon=self.epsilon)

    def start(self, oracle: Oracle, x: Array) -> AdaGradState:
        """Return the first state, with no gradients seen."""
        return AdaGradState(x, 0 * x, 0)

    def step(self, oracle: Oracle, state: AdaGradState) -> AdaGradState:
        """Add to the sums, then step."""
        gradient = oracle.gradient(state.x)
        squares = state.squares + gradient * gradient
        eta = as_schedule(self.step_size)(state.t)
        return AdaGradState(state.x - eta * gradient / (squares**0.5 + self.epsilon), squares, state.t + 1)


class RMSPropState(NamedTuple):
    """The iterate, the moving mean of squared gradients and the number of steps."""

    x: Array
    squares: Array
    t: int


@dataclass(frozen=True)
class RMSProp:
    r"""AdaGrad that forgets: squared gradients enter through a moving mean.

    .. math:: r_{t+1} = \rho r_t + (1 - \rho)\,g_t \odot g_t, \qquad
        x_{t+1} = x_t - \frac{\eta_t}{\sqrt{r_{t+1}} + \epsilon}\odot g_t

    Parameters
    ----------
    step_size : float or Schedule, default=0.01
        A number, or a schedule that gives one for each step.
    decay : float, default=0.9
        :math:`\rho`, at least 0 and below 1.
    epsilon : float, default=1e-8
        Keeps the division safe.
    """

    step_size: float | Schedule = 0.01
    decay: float = 0.9
    epsilon: float = 1e-8

    takes_batches: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_schedule(self.step_size)
        check_fraction(decay=self.decay)
        check_positive(epsilon=self.epsilon)

    def start(self, oracle: Oracle, x: Array) -> RMSPropState:
        """Return the first state, with no gradients seen."""
        return RMSPropState(x, 0 * x, 0)

    def step(self, oracle: Oracle, state: RMSPropState) -> RMSPropState:
        """Move the mean, then step."""
        gradient = oracle.gradient(state.x)
        squares = self.decay * state.squares + (1 - self.decay) * gradient * gradient
        eta = as_schedule(self.step_size)(state.t)
        return RMSPropState(state.x - eta * gradient / (squares**0.5 + self.epsilon), squares, state.t + 1)
