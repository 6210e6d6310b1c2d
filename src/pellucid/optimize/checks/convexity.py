"""Is a function convex? A search for a counterexample, which is proof, or none, which is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from array_api_compat import is_torch_array

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.optimize.checks.convexity_search import ConvexitySearch, Counterexample
from pellucid.optimize.checks.in_double import InDouble
from pellucid.optimize.problem import Problem

WORST = 20
"""Suspicions that are looked into, the worst first."""
TANGENTS, HESSIANS = 100, 20
"""Most pairs whose tangent is compared, and most points whose Hessian is looked at."""


@dataclass(frozen=True, repr=False)
class ConvexityCheck:
    """What a search found: a counterexample to convexity, or none in so many tests."""

    counterexample: Counterexample | None
    n_segments: int
    n_tangents: int
    n_hessians: int

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
