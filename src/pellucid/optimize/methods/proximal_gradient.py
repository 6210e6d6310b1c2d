"""Proximal gradient descent, known as ISTA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.methods.proximal_step import proximal_step
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.schedules import Schedule, as_schedule


class ProximalState(NamedTuple):
    """The iterate, the last step size and the number of steps."""

    x: Array
    step_size: float
    t: int


@dataclass(frozen=True)
class ProximalGradient:
    r"""A gradient step on the smooth part, then the proximal step of the penalty.

    .. math:: x_{t+1} = \mathrm{prox}_{\eta h}\bigl(x_t - \eta\,\nabla f(x_t)\bigr)

    With the penalty :math:`\alpha\|x\|_1` it is ISTA, with a box it is projected gradient descent. For convex
    problems :math:`F(x_t) - F^* \le \|x_0 - x^*\|^2 / (2\eta t)`.

    Parameters
    ----------
    step_size : float or Schedule, default=None
        Without it :math:`1/L`, and if :math:`L` is not known, found by halving.
    """

    step_size: float | Schedule | None = None

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.step_size is not None:
            as_schedule(self.step_size)

    @property
    def descends(self) -> bool:
        """Its own step sizes never overshoot."""
        return self.step_size is None

    def start(self, oracle: Oracle, x: Array) -> ProximalState:
        """Return the first state."""
        return ProximalState(x, 1.0, 0)

    def step(self, oracle: Oracle, state: ProximalState) -> ProximalState:
        """Take one proximal step."""
        moved = proximal_step(oracle, oracle.at(state.x), self.step_size, state.step_size, state.t)
        return ProximalState(moved.x, moved.step_size, state.t + 1)
