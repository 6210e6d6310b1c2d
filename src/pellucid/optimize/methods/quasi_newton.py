"""What the quasi-Newton methods with a whole matrix share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.array_api import array_namespace, device
from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point

Update = Callable[[Array, Array, Array], Array]
"""From the inverse Hessian, the step ``s`` and the change of gradient ``y`` to the new inverse Hessian."""

CURVED = 1e-10
"""Least cosine between step and change of gradient for which the update is trusted."""


class QuasiNewtonState(NamedTuple):
    """The iterate, its value and gradient, the approximate inverse Hessian, and the number of steps."""

    x: Array
    point: Point
    inverse: Array
    t: int


def first_state(oracle: Oracle, x: Array) -> QuasiNewtonState:
    """Return the first state, with the identity for the inverse Hessian."""
    xp = array_namespace(x)
    return QuasiNewtonState(x, oracle.at(x), xp.eye(x.shape[0], dtype=x.dtype, device=device(x)), 0)


def quasi_newton_step(
    oracle: Oracle, state: QuasiNewtonState, line_search: LineSearch, update: Update
) -> QuasiNewtonState:
    """Search along the quasi-Newton direction and learn from what was found there.

    Before its first update the identity is scaled to the curvature just seen, so that later first trials of 1 fit.
    """
    inverse, gradient = state.inverse, state.point.gradient
    direction = -(inverse @ gradient)
    if not float(direction @ gradient) < 0:  # rounding has ruined the matrix: start over
        state = first_state(oracle, state.x)
        inverse, direction = state.inverse, -gradient
    first = 1.0 if state.t else first_trial(state.point)
    point = line_search.search(oracle, state.point, direction, first, state.t)
    s, y = point.x - state.x, point.gradient - gradient
    curvature = float(s @ y)
    if curvature > CURVED * float(s @ s) ** 0.5 * float(y @ y) ** 0.5:
        if state.t == 0:
            inverse = inverse * (curvature / float(y @ y))
        inverse = update(inverse, s, y)
    return QuasiNewtonState(point.x, point, inverse, state.t + 1)


def first_trial(point: Point) -> float:
    """Return the first step along the gradient, of length 1 at most."""
    return min(1.0, 1.0 / max(float(point.gradient @ point.gradient) ** 0.5, 1e-300))


@dataclass(frozen=True)
class BFGS:
    r"""Newton's method with an inverse Hessian :math:`H` learned from the gradients.

    .. math::
        x_{t+1} = x_t - \eta_t H_t \nabla f(x_t), \qquad
        H_{t+1} = (I - \rho s y')\,H_t\,(I - \rho y s') + \rho s s'

    with :math:`s = x_{t+1} - x_t`, :math:`y = \nabla f(x_{t+1}) - \nabla f(x_t)` and :math:`\rho = 1/y's`.

    Parameters
    ----------
    line_search : LineSearch, default=StrongWolfe()
        It must keep :math:`y's > 0`, or the update is left out.
    """

    line_search: LineSearch = StrongWolfe()

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def start(self, oracle: Oracle, x: Array) -> QuasiNewtonState:
        """Return the first state."""
        return first_state(oracle, x)

    def step(self, oracle: Oracle, state: QuasiNewtonState) -> QuasiNewtonState:
        """Search, then update the matrix."""
        return quasi_newton_step(oracle, state, self.line_search, bfgs_update)


def bfgs_update(H: Array, s: Array, y: Array) -> Array:
    r"""Return the new inverse Hessian, with :math:`Hy` computed once.

    .. math:: H + \rho(1 + \rho\,y'Hy)\,ss' - \rho\,(s\,(Hy)' + (Hy)\,s')
    """
    rho = 1.0 / float(s @ y)
    product = H @ y
    half = (0.5 * rho * (1.0 + rho * float(y @ product))) * s - rho * product
    outer = half[:, None] * s[None, :]
    return H + outer + outer.T


@dataclass(frozen=True)
class DFP:
    r"""The first quasi-Newton method; it mends a bad matrix more slowly than BFGS.

    .. math::
        x_{t+1} = x_t - \eta_t H_t \nabla f(x_t), \qquad
        H_{t+1} = H_t - \frac{H_t y y' H_t}{y' H_t y} + \frac{s s'}{y's}

    with :math:`s = x_{t+1} - x_t` and :math:`y = \nabla f(x_{t+1}) - \nabla f(x_t)`.

    Parameters
    ----------
    line_search : LineSearch, default=StrongWolfe(curvature=0.1)
        DFP needs more exact line searches than BFGS.
    """

    line_search: LineSearch = StrongWolfe(curvature=0.1)

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def start(self, oracle: Oracle, x: Array) -> QuasiNewtonState:
        """Return the first state."""
        return first_state(oracle, x)

    def step(self, oracle: Oracle, state: QuasiNewtonState) -> QuasiNewtonState:
        """Search, then update the matrix."""
        return quasi_newton_step(oracle, state, self.line_search, dfp_update)


def dfp_update(H: Array, s: Array, y: Array) -> Array:
    """Return the new inverse Hessian."""
    product = H @ y
    return H - product[:, None] * (product / float(y @ product))[None, :] + s[:, None] * (s / float(s @ y))[None, :]
