"""A few coefficients that change together while the others stay: a small machine of its own."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.kernel_machine.interior_point import WholeMatrix, interior_point
from pellucid.svm.kernel_machine.machine_kernels import CHUNK, pair_steps

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
        tubes = self.tube * float(np.abs(self.coef).sum() - np.abs(coef).sum())
        return -float((self.coef - coef) @ (0.5 * (self.gradient + gradient))) - tubes

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
