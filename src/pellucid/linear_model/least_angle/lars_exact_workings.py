"""Least-angle regression in exact arithmetic.

With the direction :math:`d = G_{AA}^{-1} s_A` all active correlations fall at the same rate 1, so every step length
is a ratio of rationals: the square root of the textbook's equiangular vector never appears.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Matrix, Rational, sign, zeros

MAX_SEGMENTS = 40
"""Four features have fewer breakpoints than this unless ties make the path go in circles."""


@dataclass(frozen=True)
class Event:
    """Something that would end a segment after the step ``gamma``: a feature joins or leaves, or the path ends."""

    gamma: Rational
    kind: str
    j: int = -1
    sign: int = 0


@dataclass(frozen=True)
class Segment:
    """One straight piece of the path, from the coefficients ``start`` to ``end``."""

    active: tuple[int, ...]
    signs: tuple[int, ...]
    start: Matrix
    end: Matrix
    correlations: Matrix
    direction: Matrix
    rates: Matrix
    events: tuple[Event, ...]
    chosen: Event
    level: Rational

    @property
    def next_level(self) -> Rational:
        """The largest absolute correlation at the end of the segment."""
        return self.level - self.chosen.gamma


def lars_path(X: Matrix, y: Matrix, *, lasso: bool, stop: Rational, most: int) -> list[Segment]:
    """Return the segments until the largest correlation is ``stop``, or a feature would join ``most`` active ones."""
    w = zeros(X.cols, 1)
    segments: list[Segment] = []
    active: list[int] = []
    dependent: set[int] = set()
    joining: int | None = None
    while len(segments) < MAX_SEGMENTS:
        correlations = X.T * (y - X * w)
        level = max(map(abs, correlations))
        if level <= stop:
            return segments
        if not active:
            joining = next(j for j in range(X.cols) if abs(correlations[j]) == level)
        if joining is not None:
            independent = X[:, [*active, joining]].rank() == len(active) + 1
            (active.append if independent else dependent.add)(joining)
        segment = _segment(X, w, correlations, level, active, dependent, lasso=lasso, stop=stop)
        segments.append(segment)
        w, chosen = segment.end, segment.chosen
        joining = chosen.j if chosen.kind == "joins" else None
        if chosen.kind == "end" or (joining is not None and len(active) >= most):
            return segments
        if chosen.kind == "leaves":
            active.remove(chosen.j)
            dependent.clear()
    raise ValueError(
        f"X must not have ties that keep the path from moving, got {MAX_SEGMENTS} segments. Change a number."
    )


def _segment(
    X: Matrix,
    w: Matrix,
    correlations: Matrix,
    level: Rational,
    active: list[int],
    dependent: set[int],
    *,
    lasso: bool,
    stop: Rational,
) -> Segment:
    signs = [int(sign(correlations[j])) for j in active]
    columns = X[:, active]
    solved = (columns.T * columns).LUsolve(Matrix(signs))
    direction = zeros(X.cols, 1)
    for j, value in zip(active, solved, strict=True):
        direction[j] = value
    rates = X.T * X * direction
    events = [Event(level - stop, "end")]
    for j in range(X.cols):
        if j not in active and j not in dependent:
            events += _joins(j, level, correlations[j], rates[j])
        elif lasso and w[j] * direction[j] < 0:
            events.append(Event(-w[j] / direction[j], "leaves", j))
    chosen = min(events, key=lambda event: (event.gamma, event.kind != "leaves", event.j))
    return Segment(
        tuple(active),
        tuple(signs),
        w,
        w + chosen.gamma * direction,
        correlations,
        direction,
        rates,
        tuple(events),
        chosen,
        level,
    )


def _joins(j: int, level: Rational, correlation: Rational, rate: Rational) -> list[Event]:
    """Return when the correlation of an idle feature meets the falling level, from either side.

    A side on which it falls at least as fast as the level is never met.
    """
    sides = [(1, level - correlation, 1 - rate), (-1, level + correlation, 1 + rate)]
    return [Event(distance / speed, "joins", j, side) for side, distance, speed in sides if speed > 0]
