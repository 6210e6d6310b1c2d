"""BFGS, the quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.methods.quasi_newton import QuasiNewtonState, first_state, quasi_newton_step
from pellucid.optimize.oracle import Oracle


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
