"""The search for segments on which a function is above its chord."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from pellucid.core.types import Array
from pellucid.optimize.checks.in_double import InDouble
from pellucid.optimize.checks.rounding_noise import EPS, rounding_noise

SAFETY = 10.0
"""How many rounding errors a gap must be above 0 to count."""
SEGMENTS = np.array([0.5, 0.25, 0.75, 0.1, 0.9, 0.01, 0.99])
"""Weights tried between two points whose tangent is suspicious."""
LENGTHS = 10.0 ** -np.arange(7)
"""Lengths tried along a direction of negative curvature."""

Suspicion: TypeAlias = tuple[float, Array, Array, float]
"""How bad it looks, two points and a weight."""


class Counterexample(NamedTuple):
    """Two points and a weight with f(t x + (1 - t) y) above t f(x) + (1 - t) f(y) by ``gap``."""

    x: Array
    y: Array
    t: float
    gap: float

    @property
    def between(self) -> Array:
        """The point t x + (1 - t) y."""
        return self.t * self.x + (1 - self.t) * self.y


class ConvexitySearch:
    """Looks for segments of a region on which a function is above its chord."""

    def __init__(self, functions: InDouble, bounds: tuple[Array, Array]) -> None:
        self.functions, self.bounds = functions, bounds

    def segments(self, pairs: list[tuple[Array, Array]], weights: Array) -> Iterator[Suspicion]:
        """Yield the segments with a gap, however small, and its size relative to the values."""
        for (x, y), t in zip(pairs, weights, strict=True):
            gap, size = self._gap(x, y, float(t))
            if gap == math.inf or gap > 4 * EPS * size:
                yield gap / size if math.isfinite(gap) else math.inf, x, y, float(t)

    def tangents(self, pairs: list[tuple[Array, Array]]) -> Iterator[Suspicion]:
        """Yield segments that begin at ``x``, where the tangent at ``x`` is above the function at ``y``."""
        for x, y in pairs:
            f_x, f_y = self._value(x), self._value(y)
            above = f_x + float(self.functions.gradient(x) @ (y - x)) - f_y
            if math.isfinite(above) and above > 4 * EPS * (abs(f_x) + abs(f_y)):
                yield from self.segments([(x, y)] * len(SEGMENTS), SEGMENTS)

    def curvatures(self, points: list[Array]) -> Iterator[Suspicion]:
        """Yield segments along directions of negative curvature, with the point in the middle."""
        for x in points:
            hessian = self.functions.hessian(x)
            if not np.isfinite(hessian).all():
                continue
            eigenvalues, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
            if eigenvalues[0] < 0:
                reach = LENGTHS * max(1.0, float(np.abs(x).max()))
                ends = [(x - h * vectors[:, 0], x + h * vectors[:, 0]) for h in reach]
                pairs = [pair for pair in ends if self._inside(*pair)]
                yield from self.segments(pairs, np.full(len(pairs), 0.5))

    def confirmed(self, x: Array, y: Array, t: float) -> Counterexample | None:
        """Return the counterexample, if its gap is above rounding errors that are measured at its three points."""
        gap, _ = self._gap(x, y, t)
        if not math.isfinite(gap):
            return Counterexample(x, y, t, gap)
        z = t * x + (1 - t) * y
        noise = sum(float(rounding_noise(self.functions.value, point)[0]) for point in (x, y, z))
        return Counterexample(x, y, t, gap) if gap > SAFETY * noise else None

    def sharpened(self, found: Counterexample) -> Counterexample:
        """Return the counterexample with the weight that makes its gap largest, if that one is confirmed, too."""
        gaps = [(self._gap(found.x, found.y, float(t))[0], float(t)) for t in np.linspace(0.05, 0.95, 19)]
        gap, t = max(((g, t) for g, t in gaps if not math.isnan(g)), default=(found.gap, found.t))
        better = self.confirmed(found.x, found.y, t) if gap > found.gap else None
        return better or found

    def _inside(self, x: Array, y: Array) -> bool:
        low, high = self.bounds
        return bool((low <= np.minimum(x, y)).all() and (np.maximum(x, y) <= high).all())

    def _gap(self, x: Array, y: Array, t: float) -> tuple[float, float]:
        """Return how far the function is above its chord, and the size of the values; 0 if an end is infinite."""
        f_x, f_y, f_z = self._value(x), self._value(y), self._value(t * x + (1 - t) * y)
        if math.isinf(f_x) or math.isinf(f_y):
            return 0.0, 1.0
        return f_z - (t * f_x + (1 - t) * f_y), abs(f_x) + abs(f_y) + abs(f_z)

    def _value(self, z: Array) -> float:
        value = self.functions.value(z)
        if math.isnan(value):
            raise ValueError(
                f"value must be a number in the whole region, got nan at {z}. Return inf outside the domain, or "
                "choose a smaller region."
            )
        return value
