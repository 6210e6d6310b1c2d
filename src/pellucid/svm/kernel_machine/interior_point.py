r"""An interior point for machines: a few dozen steps whatever C is, each with one factorization.

A coefficient is the difference of two halves, :math:`\beta = a - b` with :math:`0 \le a \le u` and
:math:`0 \le b \le -l`, so that the tube costs :math:`\varepsilon(a + b)`; a classifier has one half in each row. With
the multipliers of both ends eliminated, a Newton step solves :math:`(K + D)\,d\beta = h + dy` with a diagonal
:math:`D > 0`: the rank of :math:`K` may be low.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg

from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.svm.kernel_machine.machine_kernels import CHUNK, pair_steps

MOST_STEPS = 80
PRECISION = 1e-11
"""Share of the objective that the products of halves and multipliers may add up to at the end."""

NEAR = 1e-3
"""Share of a box within which a coefficient may be taken to its end."""

TINY = 1e-14
"""Share of a box that is nothing but rounding."""

KEEP = 0.99
"""Share of the way to the nearest end that a step may go."""

Solve = Callable[[Array], Array]


class MachineCurvature(Protocol):
    """The matrix of products, as an interior point needs it."""

    def times(self, coef: Array) -> Array:
        """Return the matrix times a vector."""

    def plus_diagonal(self, diagonal: Array) -> Solve:
        """Return what solves equations with the matrix plus a diagonal above 0."""


@dataclass(frozen=True)
class WholeMatrix:
    """All products."""

    K: Array

    def times(self, coef: Array) -> Array:
        """Return the products times a vector."""
        return self.K @ coef

    def plus_diagonal(self, diagonal: Array) -> Solve:
        """Factorize; products that rounding made indefinite get a little more diagonal."""
        system = self.K.copy()
        extra = 0.0
        while True:
            system.flat[:: len(system) + 1] = self.K.diagonal() + diagonal + extra
            try:
                factor = scipy.linalg.cho_factor(system, lower=True, check_finite=False)
            except scipy.linalg.LinAlgError:
                largest = float(self.K.diagonal().max())
                if not extra <= 1e-6 * largest:
                    raise
                extra = max(10.0 * extra, 1e-14 * largest)
                continue
            return lambda right: scipy.linalg.cho_solve(factor, right, check_finite=False)


@dataclass(frozen=True)
class FewFeatures:
    """Products of rows with few columns: equations as large as the number of columns."""

    X: Array

    def times(self, coef: Array) -> Array:
        """Return the products times a vector."""
        return self.X @ (self.X.T @ coef)

    def plus_diagonal(self, diagonal: Array) -> Solve:
        r"""Solve by :math:`(D + XX')^{-1} = D^{-1} - D^{-1}X(I + X'D^{-1}X)^{-1}X'D^{-1}`, refined once."""
        scaled = self.X / np.sqrt(diagonal)[:, None]
        system = scaled.T @ scaled
        system.flat[:: len(system) + 1] += 1.0
        factor = scipy.linalg.cho_factor(system, lower=True, check_finite=False)

        def once(right: Array) -> Array:
            divided = right / diagonal
            return divided - self.X @ scipy.linalg.cho_solve(factor, self.X.T @ divided) / diagonal

        def solve(right: Array) -> Array:
            found = once(right)
            return found + once(right - diagonal * found - self.times(found))

        return solve


@dataclass
class _Halves:
    """Both halves of all coefficients side by side, with the multipliers of their two ends."""

    row: Array
    sign: Array
    most: Array
    size: Array
    slack: Array
    """What is left to the upper end, by itself: the difference would lose its digits near there."""
    low: Array
    high: Array

    def added_up(self, values: Array, n: int) -> Array:
        """Return the sum of what the halves of each row have."""
        return np.bincount(self.row, values, minlength=n)


def interior_point(
    curvature: MachineCurvature, target: Array, lower: Array, upper: Array, tube: float, total: float = 0.0
) -> Array:
    """Return coefficients near the minimum, with sum ``total``, at the ends of their boxes where they belong there."""
    n, slope = len(target), max(float(np.abs(target).max(initial=0.0)) + tube, 1e-300)
    positive, negative = np.flatnonzero(upper > 0.0), np.flatnonzero(lower < 0.0)
    most = np.concatenate([upper[positive], -lower[negative]])
    row, sign = np.concatenate([positive, negative]), np.repeat([1.0, -1.0], [len(positive), len(negative)])
    halves = _Halves(row, sign, most, 0.5 * most, 0.5 * most, most, most)
    steepest = float(np.abs(curvature.times(halves.added_up(sign * halves.size, n))).max(initial=0.0))
    halves.low, halves.high = np.full((2, len(most)), max(slope, 1e-6 * steepest))
    y, least = 0.0, PRECISION * slope * float(most.sum())  # an objective of 0 is reached when it is next to nothing
    for _ in range(MOST_STEPS):
        coef = halves.added_up(halves.sign * halves.size, n)
        products = curvature.times(coef)
        missing = total - float(coef.sum())
        objective = least + 0.5 * abs(coef @ products) + abs(target @ coef) + tube * float(halves.size.sum())
        complementarity = float(halves.size @ halves.low + halves.slack @ halves.high)
        if complementarity <= PRECISION * objective and abs(missing) <= PRECISION * float(halves.size.sum()):
            break
        try:
            y = _step(curvature, halves, products - target, tube, y, missing)
        except scipy.linalg.LinAlgError:  # as near as rounding lets it come
            break
    return _at_ends(halves, slope, n, total)


def _step(
    curvature: MachineCurvature, halves: _Halves, gradient: Array, tube: float, y: float, missing: float
) -> float:
    """Go one step by Mehrotra's rule: look ahead along the plain direction, then aim where that says; return new y."""
    n, size, slack = len(gradient), halves.size, halves.slack
    D = halves.low / size + halves.high / slack
    diagonal = 1.0 / np.maximum(halves.added_up(1.0 / D, n), 1e-300)
    solve = curvature.plus_diagonal(diagonal)
    ones = solve(np.ones(n))
    slopes = halves.sign * (gradient - y)[halves.row] + tube

    def direction(aim: float, low_bend: Array | float, high_bend: Array | float) -> tuple[Array, Array, Array, float]:
        right = -slopes + (aim - low_bend) / size - (aim - high_bend) / slack
        h = diagonal * halves.added_up(halves.sign * right / D, n)
        plain = solve(h)
        dy = (missing - float(plain.sum())) / float(ones.sum())
        change = plain + dy * ones
        dsize = (right - halves.sign * (h - diagonal * change)[halves.row]) / D
        dlow = (aim - low_bend - halves.low * dsize) / size - halves.low
        dhigh = (aim - high_bend + halves.high * dsize) / slack - halves.high
        return dsize, dlow, dhigh, dy

    def reach(dsize: Array, dlow: Array, dhigh: Array) -> float:
        pairs = ((size, dsize), (slack, -dsize), (halves.low, dlow), (halves.high, dhigh))
        return min([1.0, *(float((-value[d < 0] / d[d < 0]).min(initial=np.inf)) for value, d in pairs)])

    now = float(size @ halves.low + slack @ halves.high) / (2 * len(size))
    dsize, dlow, dhigh, _ = direction(0.0, 0.0, 0.0)
    far = reach(dsize, dlow, dhigh)
    then = float(
        (size + far * dsize) @ (halves.low + far * dlow) + (slack - far * dsize) @ (halves.high + far * dhigh)
    ) / (2 * len(size))
    dsize, dlow, dhigh, dy = direction(now * (then / now) ** 3, dsize * dlow, -dsize * dhigh)
    far = KEEP * reach(dsize, dlow, dhigh)
    halves.size, halves.slack = size + far * dsize, slack - far * dsize
    halves.low, halves.high = halves.low + far * dlow, halves.high + far * dhigh
    return y + far * dy


def _at_ends(halves: _Halves, slope: float, n: int, total: float) -> Array:
    """Return the coefficients, each at an end if its multiplier there is the larger share, and the sum made good."""
    share, slack = halves.size / halves.most, halves.slack / halves.most
    share, slack = np.where(share < TINY, 0.0, share), np.where(slack < TINY, 0.0, slack)
    size = np.where(share < np.minimum(halves.low / slope, NEAR), 0.0, halves.size)
    size = np.where(slack < np.minimum(halves.high / slope, NEAR), halves.most, size)
    inside = (size > 0.0) & (size < halves.most)
    coef = halves.added_up(halves.sign * size, n)
    missing = total - float(coef.sum())
    if abs(missing) <= 10 * EPSILON * float(np.abs(coef).sum()):
        return coef
    rooms = np.where(inside, np.minimum(size, halves.most - size), 0.0)
    if rooms.sum() > abs(missing):
        coef += halves.added_up(missing * rooms / rooms.sum(), n)
        return coef
    return halves.added_up(halves.sign * halves.size, n)


STEPS_EACH = 100
"""Pair steps per coefficient before something else is tried: an interior point of the set if it is small enough for a
factorization to be quick, or other coefficients."""

QUICK_FACTOR = 1024
"""Coefficients up to which a set is solved by an interior point if pairs are slow."""


class WorkingSet:
    """Coefficients with their gradient, boxes and products; filled up to whole chunks by some that may not move."""

    def __init__(self, K: Array, coef: Array, gradient: Array, lower: Array, upper: Array, tube: float) -> None:
        self._q, self._K, self.tube = len(coef), K, tube
        filled = np.zeros((4, len(K)))
        filled[:, : len(coef)] = coef, gradient, lower, upper
        self._coef, self._gradient, self._lower, self._upper = filled
        self.before = coef, gradient

    @property
    def coef(self) -> Array:
        """The coefficients as they are now."""
        return self._coef[: self._q]

    @property
    def gradient(self) -> Array:
        """The gradient there."""
        return self._gradient[: self._q]

    @property
    def gain(self) -> float:
        """How much the dual objective has risen: the gradient is linear between the two points."""
        coef, gradient = self.before
        tubes = self.tube * float(np.abs(self.coef).sum() - np.abs(coef).sum()) if self.tube else 0.0
        return -0.5 * float((self.coef - coef) @ (self.gradient + gradient)) - tubes

    def solve(self, tol: float, most: float, *, may_leap: bool = True) -> tuple[int, bool]:
        """Move pairs until they violate by at most ``tol``, or leap if that takes too long.

        Return how many moved, and whether a leap, if there was one, led lower: where it does not, none will.
        """
        shape = (len(self._coef) // CHUNK, CHUNK)
        chunked = (part.reshape(shape) for part in (self._coef, self._gradient, self._lower, self._upper))
        room = np.empty((3, *shape))
        allowed = min(STEPS_EACH * self._q, most)
        steps = int(pair_steps(self._K.reshape(-1, *shape), *chunked, self.tube, tol, allowed, *room))
        if may_leap and steps == STEPS_EACH * self._q and self._q <= QUICK_FACTOR:
            return steps, self._leap()
        return steps, True

    def _leap(self) -> bool:
        """Go where an interior point says, if that is lower; return whether it is."""
        K = self._K[: self._q, : self._q].astype(np.float64)
        target = K @ self.coef - self.gradient
        lower, upper = self._lower[: self._q], self._upper[: self._q]
        found = interior_point(WholeMatrix(K), target, lower, upper, self.tube, float(self.coef.sum()))
        change = found - self.coef
        slope = K @ change
        tubes = self.tube * float(np.abs(found).sum() - np.abs(self.coef).sum())
        is_lower = bool(change @ (self.gradient + 0.5 * slope) + tubes < 0.0)
        if is_lower:
            self._coef[: self._q] += change
            self._gradient[: self._q] += slope
        return is_lower
