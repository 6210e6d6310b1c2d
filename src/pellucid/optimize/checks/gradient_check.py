"""Is the gradient right? Differences of values decide, and name the worst coordinate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.optimize.checks.in_double import EPS, InDouble, rounding_noise
from pellucid.optimize.problem import Problem

EVERY_COORDINATE = 1000
"""With more variables, a sample of the coordinates is checked, and random directions."""
SAMPLED_COORDINATES = 50
SAMPLED_DIRECTIONS = 8


@dataclass(frozen=True, repr=False)
class GradientCheck:
    """A gradient next to differences of values."""

    worst: int
    """The coordinate with the largest error."""
    given: float
    """What the gradient says at the worst coordinate."""
    estimated: float
    """What the differences say at the worst coordinate."""
    relative_error: float
    """The largest of the errors."""
    errors: Array
    """The relative error of each coordinate compared, less what rounding explains."""
    uncertainties: Array
    """What rounding explains of each coordinate compared, in the unit of the gradient."""
    coordinates: Array
    """Which coordinates were compared: all, or some of more than 1000."""
    n_variables: int
    """Number of all coordinates."""
    n_directions: int
    """Random directions compared as well; 0 where all coordinates were compared."""
    tol: float
    """The largest error allowed."""

    @property
    def ok(self) -> bool:
        """Whether no error is above the tolerance."""
        return self.relative_error <= self.tol

    @property
    def scope(self) -> str:
        """What was compared, in words."""
        if self.coordinates.size == self.n_variables and not self.n_directions:
            return "all coordinates"
        return f"{self.coordinates.size} of {self.n_variables} coordinates and {self.n_directions} random directions"

    def __repr__(self) -> str:
        if self.ok:
            return f"GradientCheck(right: {self.scope} agree with differences to {self.tol:.0e})"
        return (
            f"GradientCheck(WRONG: coordinate {self.worst} is {self.given:.8g}, differences say {self.estimated:.8g}, "
            f"a relative error of {self.relative_error:.2g}; compared {self.scope})"
        )


def check_gradient(problem: Problem, x: Data, *, tol: float = 1e-5, random_state: int = 0) -> GradientCheck:
    """Compare the gradient of the smooth part with extrapolated differences of its values at many scales.

    A gradient is called wrong only if the difference is ten times what rounding explains. Where the differences
    cannot see a derivative (``uncertainties``), nothing is said against it. ``gradient``, ``value_and_gradient`` and
    ``terms`` are all checked; the worst is reported.

    Parameters
    ----------
    problem : Problem
        With a gradient.
    x : array or torch tensor of shape (n,)
        A point where the function is smooth; a random one is better than 0, where many mistakes vanish.
    tol : float, default=1e-5
        Largest relative error of a coordinate.
    random_state : int, default=0
        Seed of the sample that is checked if there are more than 1000 variables.

    Examples
    --------
    >>> slip = Problem(lambda x: float(x[0] ** 2 + x[1] ** 3), lambda x: np.array([2 * x[0], 3 * x[1]]))
    >>> check_gradient(slip, np.array([1.0, 2.0]))
    GradientCheck(WRONG: coordinate 1 is 6, differences say 12, a relative error of 0.5; compared all coordinates)
    """
    check_positive(tol=tol)
    functions = InDouble(problem, x)
    _require_finite_value(functions)
    gradients = functions.gradients(functions.x)
    if not gradients:
        raise ValueError("problem must have a gradient to check, got none. Pass gradient or value_and_gradient.")
    checks = [_check(functions, k, tol, random_state) for k in range(len(gradients))]
    return max(checks, key=lambda check: check.relative_error)


def require_gradient(problem: Problem, x: Data, *, tol: float = 1e-5) -> None:
    """Raise a ValueError that names the worst coordinate if the gradient is wrong; without a gradient, do nothing."""
    if problem.gradient is None and problem.value_and_gradient is None and problem.terms is None:
        return
    check = check_gradient(problem, x, tol=tol)
    if not check.ok:
        raise ValueError(
            f"gradient must agree with differences of value, got {check.given:.8g} in coordinate {check.worst}, where "
            f"differences say {check.estimated:.8g}. Correct that partial derivative, or check value."
        )


def _check(functions: InDouble, which: int, tol: float, seed: int) -> GradientCheck:
    """Check one of the functions that give a gradient."""
    x, n = functions.x, functions.x.size
    comparison = _GradientComparison(functions, which)
    if n <= EVERY_COORDINATE:
        coordinates, n_directions = np.arange(n), 0
    else:
        random = np.random.default_rng(seed)
        coordinates = np.sort(random.choice(n, SAMPLED_COORDINATES, replace=False))
        suspects = [comparison.suspect(random) for _ in range(SAMPLED_DIRECTIONS)]
        coordinates = np.union1d(coordinates, [j for j in suspects if j is not None]).astype(int)
        n_directions = SAMPLED_DIRECTIONS
    rows = np.array([comparison.coordinate(int(j)) for j in coordinates])
    errors, estimated, uncertainties = rows.T
    k = int(np.argmax(errors))
    worst = int(coordinates[k])
    return GradientCheck(
        worst=worst,
        given=float(comparison.given[worst]),
        estimated=float(estimated[k]),
        relative_error=float(errors[k]),
        errors=errors,
        uncertainties=uncertainties,
        coordinates=coordinates,
        n_variables=x.size,
        n_directions=n_directions,
        tol=tol,
    )


class _GradientComparison:
    """One gradient against differences of values, along coordinates and along other directions."""

    def __init__(self, functions: InDouble, which: int) -> None:
        self.value, self.x = functions.value, functions.x
        self.given = functions.gradients(self.x)[which]
        self.noise = rounding_noise(self.value, self.x)
        self.scale = np.maximum(1.0, np.abs(self.x))
        nearby = functions.gradients(self.x * (1 + 2 * EPS))[which]
        self.blur = np.abs(nearby - self.given)  # what the last digits of x do to the gradient: no mistake

    def coordinate(self, j: int) -> tuple[float, float, float]:
        """Return the relative error of a coordinate, its right value, and what rounding explains."""
        direction = np.zeros_like(self.x)
        direction[j] = self.scale[j]
        slope, doubt = estimate_derivative(self.value, self.x, direction, self.noise)
        hidden = SAFETY * self.noise / abs(self.x[j]) if self.x[j] else 0.0  # slope of a wave as low as the noise
        estimate = DerivativeEstimate(slope / self.scale[j], doubt / self.scale[j] + hidden)
        error = estimate.errors_of(self.given[[j]], self.blur[j])
        return float(error[0]), float(estimate.values[0]), float(estimate.doubt[0] + self.blur[j])

    def suspect(self, random: np.random.Generator) -> int | None:
        """Return a coordinate that spoils a random direction, found by halving, or nothing if none does."""
        direction = self.scale * random.choice([-1.0, 1.0], size=self.x.size)
        block = np.arange(self.x.size)
        if self._excess(direction, block) <= 0:
            return None
        while block.size > 1:
            block = max(np.array_split(block, 2), key=lambda half: self._excess(direction, half))
        return int(block[0])

    def _excess(self, direction: Array, block: Array) -> float:
        """Return by how much the derivative along part of a direction is off, beyond doubt."""
        if not np.isfinite(self.given[block]).all():
            return math.inf
        part = np.zeros_like(direction)
        part[block] = direction[block]
        slope, doubt = estimate_derivative(self.value, self.x, part, self.noise)
        blur = float(np.abs(part) @ (self.blur + EPS * np.abs(self.given)))
        return abs(float(slope[0]) - float(part @ self.given)) - float(doubt[0]) - blur


def _require_finite_value(functions: InDouble) -> None:
    value = functions.value(functions.x)
    if not math.isfinite(value):
        raise ValueError(f"value must be finite at x, got {value}. Check the gradient where the function is defined.")


SPACING = float(np.finfo(np.float64).eps)
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
        Rounding errors of the values: see :func:`~pellucid.optimize.checks.in_double.rounding_noise`.

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
            roughness.append(np.maximum(noise, SPACING * largest) / moved + SPACING * np.abs(bends[-1]) / moved)
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
