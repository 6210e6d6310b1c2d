r"""Newton's method for the logistic density.

With :math:`b = 1/s` and :math:`a = \mu/s` the mean negative log likelihood

.. math:: F(a, b) = -\log b + \frac1n \sum_i w_i\, \varphi(b x_i - a), \qquad \varphi(z) = 2 \log(2 \cosh \tfrac z2)

is convex, so a damped Newton step always leads down to the one minimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.core.fit import Solution
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate, Claim

DECREMENT = 1e-24
"""Half a squared Newton decrement below this is rounding: the next step changes no digit."""

MOST_STEPS = 100

SHORTEST = 1e-10
"""A step this short is taken whatever it brings: only rounding is left."""


def logistic_newton(x: Array, weight: Array) -> Solution[tuple[float, float]]:
    """Return location and scale of largest likelihood of numbers that are not all equal."""
    share = weight / weight.sum()
    origin = float(np.median(x))
    u = x - origin  # large means cost no digits
    unit = float(np.abs(u).max())
    u /= unit  # before squares are taken, so that tiny units do not vanish
    spread = float(np.sqrt(share @ u**2))
    u, unit = u / spread, unit * spread
    theta, trace = np.array([0.0, np.pi / np.sqrt(3)]), Trace()  # the scale that has the variance of the data
    here = _look(theta, u, share)
    for n_iter in range(1, MOST_STEPS + 1):
        step = -np.linalg.solve(here.hessian, here.gradient)
        decrement = float(-here.gradient @ step) / 2
        trace.add(iteration=n_iter, objective=here.value, decrement=decrement)
        if decrement <= DECREMENT:
            break
        theta, here = _downhill(theta, step, here, decrement, u, share)
    a, b = theta
    claim = Claim("newton decrement", "the mean log likelihood is about this far below its maximum", decrement, 1e-12)
    answer = (origin + unit * float(a / b), unit / float(b))
    return Solution(answer, n_iter, Certificate("stationary", (claim,)), trace)


class _Look(NamedTuple):
    value: float
    gradient: Array
    hessian: Array


def _look(theta: Array, u: Array, share: Array) -> _Look:
    """Return the objective and its derivatives, all from one exponential that cannot overflow."""
    a, b = theta
    z = b * u - a
    size = np.abs(z)
    tail = np.exp(-size)
    slope = np.copysign((1 - tail) / (1 + tail), z)
    curvature = share * (1 - slope**2) / 2
    curved = curvature * u
    cross = -float(curved.sum())
    return _Look(
        float(share @ (size + 2 * np.log1p(tail)) - np.log(b)),
        np.array([-share @ slope, share @ (slope * u) - 1 / b]),
        np.array([[curvature.sum(), cross], [cross, curved @ u + 1 / b**2]]),
    )


def _downhill(theta: Array, step: Array, here: _Look, decrement: float, u: Array, share: Array) -> tuple[Array, _Look]:
    """Return the point after the largest of the steps 1, 1/2, 1/4, ... that lowers the objective enough."""
    size = 1.0
    while True:
        further = theta + size * step
        if further[1] > 0:
            there = _look(further, u, share)
            if there.value <= here.value - 0.2 * size * decrement + 1e-15 * abs(here.value) or size < SHORTEST:
                return further, there
        size /= 2
