"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import InverseTime, Schedule, as_schedule


class StochasticState(NamedTuple):
    """The iterate and the number of steps."""

    x: Array
    t: int


@dataclass(frozen=True)
class StochasticGradient:
    r"""Step along the gradient of a few terms, drawn without replacement and shuffled anew each epoch.

    .. math:: x_{t+1} = x_t - \eta_t\,\frac1{|B_t|}\sum_{i \in B_t}\nabla f_i(x_t)

    The mean over all batches is the whole gradient, so the step is right on average; its noise does not vanish at
    the minimum, so the step size must. ``minimize(..., batch_size=1)`` chooses the batches.

    Parameters
    ----------
    step_size : float or Schedule, default=InverseTime(0.1, decay=0.01)
        :math:`\eta_t`, with :math:`t` counting batches.
    """

    step_size: float | Schedule = InverseTime(0.1, decay=0.01)

    takes_batches: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_schedule(self.step_size)

    def start(self, oracle: Oracle, x: Array) -> StochasticState:
        """Return the first state."""
        return StochasticState(x, 0)

    def step(self, oracle: Oracle, state: StochasticState) -> StochasticState:
        """Take one step along the gradient of the current batch."""
        eta = as_schedule(self.step_size)(state.t)
        return StochasticState(state.x - eta * oracle.gradient(state.x), state.t + 1)
