"""Is a function convex? A search for a counterexample, which is proof, or none, which is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from pellucid.core.array_api import is_torch_array
from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.optimize.checks.in_double import EPS, InDouble, rounding_noise
from pellucid.optimize.problem import Problem

WORST = 20
"""Suspicions that are looked into, the worst first."""
TANGENTS, HESSIANS = 100, 20
"""Most pairs whose tangent is compared, and most points whose Hessian is looked at."""


@dataclass(frozen=True, repr=False)
class ConvexityCheck:
    """What a search found: a counterexample to convexity, or none in so many tests."""

    counterexample: Counterexample | None
    """Two points, a weight and the gap that refute convexity; None if none was found."""
    n_segments: int
    """Random segments compared with the function."""
    n_tangents: int
    """Pairs of points whose tangent was compared with the function; 0 without a gradient."""
    n_hessians: int
    """Points whose Hessian was looked at; 0 without one."""

    @property
    def is_refuted(self) -> bool:
        """Whether the function is certainly not convex."""
        return self.counterexample is not None

    def __repr__(self) -> str:
        if self.counterexample is None:
            return (
                f"ConvexityCheck(no counterexample in {self.n_segments} segments, {self.n_tangents} tangents and "
                f"{self.n_hessians} Hessians)"
            )
        x, y, t, gap = self.counterexample
        points = ", ".join(
            f"{name} = {np.array2string(z, precision=6, threshold=6)}" for name, z in (("x", x), ("y", y))
        )
        return (
            f"ConvexityCheck(NOT convex: f(t x + (1 - t) y) is above t f(x) + (1 - t) f(y) by {gap:.3g} "
            f"for {points}, t = {t:.4g})"
        )


def check_convexity(
    problem: Problem | Callable[[Array], float],
    *,
    box: tuple[Data, Data] | None = None,
    points: Data | None = None,
    n_pairs: int = 1000,
    random_state: int = 0,
) -> ConvexityCheck:
    r"""Search a region for two points that refute :math:`f(tx + (1-t)y) \le t f(x) + (1-t) f(y)`.

    Random segments are tried, then tangents that lie above the function if there is a gradient, then
    directions of negative curvature if there is a Hessian. Each suspicion must end in a segment whose gap is ten times
    what rounding explains; the gap is then made as large as a few tries can. Finding none proves nothing.

    Parameters
    ----------
    problem : Problem or callable x -> float
        The function; of a problem, the smooth part. Infinite values say that a point is outside its domain.
    box : (low, high), default=None
        Lowest and highest values of each variable.
    points : array of shape (m, n), default=None
        Or: at least two points whose connecting segments are searched; curvature, in the box around them.
    n_pairs : int, default=1000
        Number of random segments.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> check_convexity(lambda x: float(x[0] ** 2 - x[1] ** 2), box=([-1, -1], [1, 1])).is_refuted
    True
    >>> check_convexity(lambda x: float(abs(x[0]) + x[1]), box=([-1, -1], [1, 1]))
    ConvexityCheck(no counterexample in 1000 segments, 0 tangents and 0 Hessians)
    """
    check_whole(n_pairs=n_pairs)
    problem = problem if isinstance(problem, Problem) else Problem(problem)
    random = np.random.default_rng(random_state)
    functions, bounds, draw = _region(problem, box, points, random)
    search = ConvexitySearch(functions, bounds)
    pairs = [(draw(), draw()) for _ in range(n_pairs)]
    weights = np.where(random.random(n_pairs) < 0.5, 0.5, random.uniform(0.01, 0.99, n_pairs))
    n_tangents = min(TANGENTS, n_pairs) if problem.gradient or problem.value_and_gradient else 0
    n_hessians = min(HESSIANS, n_pairs) if problem.hessian else 0
    suspicions = [
        *search.segments(pairs, weights),
        *search.tangents(pairs[:n_tangents]),
        *search.curvatures([x for x, _ in pairs[:n_hessians]]),
    ]
    found = (search.confirmed(x, y, t) for _, x, y, t in sorted(suspicions, key=lambda s: -s[0])[:WORST])
    best = max((c for c in found if c is not None), key=lambda c: c.gap, default=None)
    return ConvexityCheck(best and search.sharpened(best), n_pairs, n_tangents, n_hessians)


def _region(
    problem: Problem, box: tuple[Data, Data] | None, points: Data | None, random: np.random.Generator
) -> tuple[InDouble, tuple[Array, Array], Callable[[], Array]]:
    """Return the functions, the corners of the region, and what draws a random point of it."""
    if (box is None) == (points is None):
        raise ValueError("region must be given by box or by points, got both or neither.")
    if points is not None:
        cloud = points if is_torch_array(points) else np.asarray(points, dtype=np.float64)
        if cloud.ndim != 2 or len(cloud) < 2:
            raise ValueError(f"points must have shape (at least 2, n), got {tuple(cloud.shape)}.")
        rows = np.array([InDouble(problem, row).x for row in cloud])
        corners = rows.min(axis=0), rows.max(axis=0)
        return InDouble(problem, cloud[0]), corners, lambda: rows[random.integers(len(rows))]
    assert box is not None
    functions, high = InDouble(problem, box[0]), InDouble(problem, box[1]).x
    low = functions.x
    if low.shape != high.shape or not (low < high).all():
        raise ValueError(f"box must be (low, high) with low < high in every variable, got {box}.")
    return functions, (low, high), lambda: random.uniform(low, high)


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
