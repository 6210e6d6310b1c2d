"""FISTA: accelerated proximal gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.methods.proximal_step import proximal_step
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import Schedule, as_schedule


class FISTAState(NamedTuple):
    """The iterate, the point ahead of it, the weight of the momentum, the last step size and the number of steps."""

    x: Array
    ahead: Array
    weight: float
    step_size: float
    t: int


@dataclass(frozen=True)
class FISTA:
    r"""Proximal steps from a point ahead of the iterate.

    .. math::
        x_{t+1} = \mathrm{prox}_{\eta h}\bigl(y_t - \eta\,\nabla f(y_t)\bigr), \qquad
        w_{t+1} = \tfrac12\bigl(1 + \sqrt{1 + 4 w_t^2}\bigr), \qquad
        y_{t+1} = x_{t+1} + \frac{w_t - 1}{w_{t+1}}(x_{t+1} - x_t)

    For convex problems :math:`F(x_t) - F^* \le 2\|x_0 - x^*\|^2 / (\eta\,(t + 1)^2)`: one order better than without
    looking ahead (Beck and Teboulle, 2009).

    Parameters
    ----------
    step_size : float or Schedule, default=None
        Without it :math:`1/L`, and if :math:`L` is not known, found by halving.
    """

    step_size: float | Schedule | None = None

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.step_size is not None:
            as_schedule(self.step_size)

    def start(self, oracle: Oracle, x: Array) -> FISTAState:
        """Return the first state, with nothing ahead."""
        return FISTAState(x, x, 1.0, 1.0, 0)

    def step(self, oracle: Oracle, state: FISTAState) -> FISTAState:
        """Take one proximal step and look ahead."""
        moved = proximal_step(oracle, oracle.at(state.ahead), self.step_size, state.step_size, state.t)
        weight = (1 + math.sqrt(1 + 4 * state.weight**2)) / 2
        ahead = moved.x + (state.weight - 1) / weight * (moved.x - state.x)
        return FISTAState(moved.x, ahead, weight, moved.step_size, state.t + 1)
