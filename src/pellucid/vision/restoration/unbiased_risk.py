r"""How good a restored image is, without the clean one: Stein's unbiased estimate of its error, with its own error.

For noise of variance :math:`\sigma^2` and a weakly differentiable method :math:`f` with Jacobian :math:`J`

.. math:: \widehat{\|f(y) - x\|^2} = \|y - f(y)\|^2 - n\sigma^2 + 2\sigma^2 \operatorname{tr} J

is right on average (Stein 1981), and :math:`4\sigma^2\|y - f\|^2 + 4\sigma^4 \operatorname{tr} J^2 - 2\sigma^4 n` is on
average the square by which it misses (Bellec and Zhang 2021). Both traces are found by asking the method again, for an
image changed a little in a random direction :math:`b`: :math:`b'Jb` is :math:`\operatorname{tr} J` on average (Ramani,
Blu and Unser 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.vision.restoration.metrics import decibels

STEP = 1e-2
"""Length of the change, per pixel, in units of sigma: small beside noise, large beside the tolerances of solvers."""
STANDARD_ERRORS = 2.0
"""Half the width of an interval: it holds the truth 19 times out of 20."""


@dataclass(frozen=True)
class EstimatedPSNR:
    """PSNR of a result whose clean image nobody has; ``reason`` says why there is none, or what it is about."""

    value: float
    low: float
    high: float
    mse: float
    standard_error: float
    repeat_error: float
    """How far an estimate from another random direction, or other hidden pixels, is expected to be from this one."""
    reason: str = ""

    @classmethod
    def none(cls, reason: str) -> EstimatedPSNR:
        """Return the absence of an estimate."""
        return cls(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, reason)

    @classmethod
    def of_error(
        cls, mse: float, standard_error: float, repeat_error: float, peak: float, reason: str = ""
    ) -> EstimatedPSNR:
        """Return what a mean squared error is in decibels; one that may be 0 may be infinitely good."""
        low, high = (decibels(max(mse + k * standard_error, 0.0), peak) for k in (STANDARD_ERRORS, -STANDARD_ERRORS))
        return cls(decibels(max(mse, 0.0), peak), low, high, mse, standard_error, repeat_error, reason)

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate."""
        return not math.isnan(self.mse)

    @property
    def interval(self) -> str:
        """The interval in words; an error that may be 0 has no upper end."""
        if not math.isfinite(self.low):
            return "too good to be estimated: sigma may be too large"
        if not math.isfinite(self.high):
            return f"at least {self.low:.1f}"
        return f"between {self.low:.1f} and {self.high:.1f}"

    def __str__(self) -> str:
        if not self.is_known:
            return f"PSNR not estimated: {self.reason}"
        return f"PSNR {self.value:.1f} dB, {self.interval}" if math.isfinite(self.value) else f"PSNR {self.interval}"


@dataclass(frozen=True)
class Risk:
    """An estimate of a mean squared error, and how far it may be off."""

    mse: float
    standard_error: float
    probe_error: float
    """Of that, the part that is due to the random direction."""
    sensitivity: float
    """Derivative of the estimate by the variance of the noise, for when that is an estimate itself."""


def stein_risk(
    restore: Callable[[Array], Array], y: Array, restored: Array, sigma: float, rng: np.random.Generator
) -> Risk:
    """Return the unbiased estimate of the mean squared error of ``restored = restore(y)``, in two more calls of it."""
    n = y.size
    direction = rng.choice([-1.0, 1.0], size=y.shape)
    step = STEP * sigma
    along = (restore(y + step * direction) - restored) / step  # J b
    norm = float(np.sqrt(np.mean(along**2)))
    twice = (restore(y + step / norm * along) - restored) * (norm / step) if norm > 0 else along  # J J b
    trace, trace_of_square = float(np.vdot(direction, along)), float(np.vdot(direction, twice))
    residual = float(np.sum(((y - restored) / sigma) ** 2))  # in units of the noise, so that no square overflows
    # b'Jb misses the trace by at most 2 ||J||^2 less the diagonal's part; ||J b||^2 is ||J||^2 on average
    missed_trace = 2.0 * max(float(np.sum(along**2)) - trace**2 / n, 0.0)
    square = 4.0 * residual + 4.0 * trace_of_square - 2.0 * n
    floor = 2.0 * n * (1.0 - trace / n) ** 2  # what a method that answers the mean alone would miss by
    unit = sigma * (sigma / n)
    return Risk(
        mse=unit * (residual - n + 2.0 * trace),
        standard_error=unit * math.sqrt(max(square, floor) + 4.0 * missed_trace),
        probe_error=unit * 2.0 * math.sqrt(missed_trace),
        sensitivity=2.0 * trace / n - 1.0,
    )
