"""Derivatives by differences, with an uncertainty that says how much to believe them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.types import Array

EPS = float(np.finfo(np.float64).eps)
STEPS = 10.0 ** -np.arange(-1, 16)
"""Steps along the direction, whose length is the size of x: functions change on scales that nobody knows beforehand."""
SAFETY = 10.0
"""How many uncertainties a difference may be away before it counts."""


class DerivativeEstimate(NamedTuple):
    """The derivative of each output, and how far at most it is from the truth."""

    values: Array
    doubt: Array

    def errors_of(self, given: Array, blur: Array | float = 0.0) -> Array:
        r"""Return the relative errors of given derivatives that rounding cannot explain.

        .. math:: \frac{\max(0,\ |g - \hat g| - \mathrm{doubt} - \mathrm{blur})}{\max(|g|, |\hat g|)}

        ``blur`` is the rounding error of the given numbers. One that is not finite has an infinite error.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = np.abs(self.values - given) - self.doubt - blur
            relative = excess / np.maximum(np.abs(self.values), np.abs(given))
        return np.where(np.isfinite(given), np.where(excess > 0, relative, 0.0), np.inf)


def estimate_derivative(
    function: Callable[[Array], Array | float], x: Array, direction: Array, noise: Array
) -> DerivativeEstimate:
    r"""Return the derivative of a function along a direction, and how much to doubt it.

    Central differences :math:`D(t)` at steps :math:`t = 10, 1, 10^{-1}, \dots` along the direction, two neighbours at a
    time extrapolated to :math:`D(t) + (D(t) - D(10t))/99`, which is free of the error of order :math:`t^2`. Each is
    doubted for that correction, for the rounding errors of the values divided by :math:`t`, and for what other steps
    say against it. The least doubted one is returned.

    Parameters
    ----------
    function : callable
        From arrays to numbers or vectors; nan where it is not defined.
    x, direction : arrays of shape (n,)
        The direction should be as long as ``x`` is large, or as 1.
    noise : array of shape (m,)
        Rounding errors of the values: see :func:`~pellucid.optimize.checks.rounding_noise.rounding_noise`.

    Examples
    --------
    >>> slope, doubt = estimate_derivative(lambda x: np.sin(x[0]), np.zeros(1), np.ones(1), np.array([1e-16]))
    >>> bool(abs(slope[0] - 1) <= doubt[0] < 1e-9)
    True
    """
    here = np.atleast_1d(np.asarray(function(x), dtype=float))
    longest = int(np.argmax(np.abs(direction)))
    slopes, bends, roughness = [], [], []
    for step in STEPS:
        right, left = x + step * direction, x - step * direction
        moved = (right[longest] - left[longest]) / (2 * direction[longest])  # the step, as it was rounded
        ahead, behind = (np.atleast_1d(np.asarray(function(z), dtype=float)) for z in (right, left))
        with np.errstate(all="ignore"):
            slopes.append((ahead - behind) / (2 * moved))
            bends.append((ahead - 2 * here + behind) / moved)
            largest = np.maximum(np.abs(ahead), np.abs(behind))
            roughness.append(np.maximum(noise, EPS * largest) / moved + EPS * np.abs(bends[-1]) / moved)
    with np.errstate(all="ignore"):
        values, uncertainty = _extrapolated(np.stack(slopes), np.stack(bends), np.stack(roughness))
    usable = np.isfinite(values) & np.isfinite(uncertainty)
    values, doubt = np.where(usable, values, 0.0), np.where(usable, SAFETY * uncertainty, np.inf)
    best = doubt.argmin(axis=0)[None]
    return DerivativeEstimate(*(np.take_along_axis(grid, best, axis=0)[0] for grid in (values, doubt)))


def _extrapolated(D: Array, bend: Array, rough: Array) -> tuple[Array, Array]:
    """Return the extrapolated differences and their uncertainties, from the second step on.

    For a smooth function and a small step, the differences settle by a factor of 100 per step and the bend between
    the slopes ahead and behind by 10. Where they do not, the step is too large for the function: a kink or a wave.
    And if smaller steps still move the difference by more than noise does, it had not settled: a derivative is a limit.
    """
    settling, straightening = np.abs(np.diff(D, axis=0)), np.abs(bend)
    uncertainty = settling / 99 + rough[1:] + rough[:-1] / 99
    wave = settling[1:] > settling[:-1] / 2 + 4 * rough[2:]
    uncertainty[0] += settling[0]  # with nothing before it to settle from
    uncertainty[1:] += np.where(wave, settling[1:], 0.0)
    kink = straightening[1:] > straightening[:-1] / 2 + 4 * rough[1:]
    uncertainty += np.where(kink, straightening[1:], 0.0)
    later = np.maximum(np.nan_to_num(settling[1:] - 4 * rough[2:], nan=0.0), 0.0)
    uncertainty[:-1] += np.maximum.accumulate(later[::-1], axis=0)[::-1]
    return D[1:] + np.diff(D, axis=0) / 99, uncertainty
