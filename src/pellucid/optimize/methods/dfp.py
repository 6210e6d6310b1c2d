"""DFP, the quasi-Newton method of Davidon, Fletcher and Powell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.methods.quasi_newton import QuasiNewtonState, first_state, quasi_newton_step
from pellucid.optimize.oracle import Oracle


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
