"""Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.checks import check_positive
from pellucid.core.types import Array
from pellucid.optimize.methods.fraction import check_fraction
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import Schedule, as_schedule


class AdamState(NamedTuple):
    """The iterate, the moving means of gradients and of their squares, and the number of steps."""

    x: Array
    mean: Array
    squares: Array
    t: int


@dataclass(frozen=True)
class Adam:
    r"""RMSProp with momentum, both corrected for having started at 0.

    .. math::
        m_{t+1} = \rho_1 m_t + (1 - \rho_1)\,g_t, \qquad r_{t+1} = \rho_2 r_t + (1 - \rho_2)\,g_t \odot g_t

    .. math::
        x_{t+1} = x_t - \eta_t\,\frac{m_{t+1} / (1 - \rho_1^{t+1})}{\sqrt{r_{t+1} / (1 - \rho_2^{t+1})} + \epsilon}

    Parameters
    ----------
    step_size : float or Schedule, default=0.001
        A number, or a schedule that gives one for each step.
    decay1 : float, default=0.9
        :math:`\rho_1` of the mean of the gradients, at least 0 and below 1.
    decay2 : float, default=0.999
        :math:`\rho_2` of the mean of their squares, at least 0 and below 1.
    epsilon : float, default=1e-8
        Keeps the division safe.
    """

    step_size: float | Schedule = 0.001
    decay1: float = 0.9
    decay2: float = 0.999
    epsilon: float = 1e-8

    takes_batches: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_schedule(self.step_size)
        check_fraction(decay1=self.decay1, decay2=self.decay2)
        check_positive(epsilon=self.epsilon)

    def start(self, oracle: Oracle, x: Array) -> AdamState:
        """Return the first state, with no gradients seen."""
        return AdamState(x, 0 * x, 0 * x, 0)

    def step(self, oracle: Oracle, state: AdamState) -> AdamState:
        """Move both means, correct them, then step."""
        gradient, t = oracle.gradient(state.x), state.t + 1
        mean = self.decay1 * state.mean + (1 - self.decay1) * gradient
        squares = self.decay2 * state.squares + (1 - self.decay2) * gradient * gradient
        corrected_mean = mean / (1 - self.decay1**t)
        corrected_root = (squares / (1 - self.decay2**t)) ** 0.5
        eta = as_schedule(self.step_size)(state.t)
        return AdamState(state.x - eta * corrected_mean / (corrected_root + self.epsilon), mean, squares, t)
