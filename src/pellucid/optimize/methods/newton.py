"""Newton's method, damped, with a modified Cholesky factor where the Hessian is not positive definite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pellucid.core.arrays import as_numpy, like
from pellucid.core.checks import check_one_of
from pellucid.core.types import Array
from pellucid.numerics.modified_cholesky import REPAIRS, modified_solver
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point


class NewtonState(NamedTuple):
    """The iterate, its value and gradient, and the number of steps."""

    x: Array
    point: Point
    t: int


@dataclass(frozen=True)
class Newton:
    r"""Go to the minimum of the parabola that fits the function best here, or part of the way.

    .. math:: x_{t+1} = x_t - \eta_t\,H_t^{-1}\,\nabla f(x_t), \qquad H_t \approx \nabla^2 f(x_t)

    :math:`H_t` is the Hessian if that is positive definite, else a matrix near it that is, so that the direction always
    leads downhill. The line search tries the full step :math:`\eta_t = 1` first.

    Parameters
    ----------
    line_search : LineSearch, default=StrongWolfe()
        ``FixedStep(1.0)`` gives the undamped method.
    repair : {"eigenvalues", "bunch-kaufman"}, default="eigenvalues"
        How an indefinite Hessian is made positive definite, see
        :func:`~pellucid.numerics.modified_cholesky.modified_solver`.
    """

    line_search: LineSearch = StrongWolfe()
    repair: str = "eigenvalues"

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_one_of(REPAIRS, repair=self.repair)

    def start(self, oracle: Oracle, x: Array) -> NewtonState:
        """Return the first state."""
        return NewtonState(x, oracle.at(x), 0)

    def step(self, oracle: Oracle, state: NewtonState) -> NewtonState:
        """Solve for the direction, then search along it."""
        direction = newton_direction(oracle.hessian(state.x), state.point.gradient, self.repair)
        point = self.line_search.search(oracle, state.point, direction, 1.0, state.t)
        return NewtonState(point.x, point, state.t + 1)


def newton_direction(hessian: Array, gradient: Array, repair: str = "eigenvalues") -> Array:
    r"""Return :math:`-H^{-1}g` for the Hessian or its positive definite stand-in."""
    dense = as_numpy(hessian)
    if not np.isfinite(dense).all():
        raise NoStep("the Hessian is not finite here")
    solve, _ = modified_solver(dense, repair)
    direction = -solve(as_numpy(gradient))
    return like(direction, gradient)
