"""Whiskers: intervals with a dot, one under the other on one scale. Every page draws them with this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Whisker:
    """Where an interval and the value in it stand on a common scale, in percent, and where 0 does if it is drawn."""

    low: float
    mean: float
    high: float
    zero: float | None = None
    falls: bool = False
    """Whether the value is below 0, which is drawn in the other color."""


def placed(
    intervals: Sequence[tuple[float, float, float]], ends: tuple[float, float], *, mirrored: bool = False
) -> list[Whisker]:
    """Return intervals (low, value, high) on a scale from one end to the other, or mirrored.

    Examples
    --------
    >>> placed([(1.0, 2.0, 4.0)], (0.0, 10.0))
    [Whisker(low=10.0, mean=20.0, high=40.0, zero=None, falls=False)]
    """
    low, high = ends
    scale = 100.0 / (high - low) if high > low else 0.0
    places = [[(value - low) * scale for value in three] for three in intervals]
    if mirrored:
        places = [sorted(100.0 - place for place in three) for three in places]
    return [Whisker(low=three[0], mean=three[1], high=three[2]) for three in places]


def about_zero(
    intervals: Sequence[tuple[float, float, float]], ends: tuple[float, float] | None = None
) -> list[Whisker]:
    """Return intervals on a scale that shows where 0 is; without its ends, on one that just holds them and 0."""
    low, high = ends or (min([0.0, *(three[0] for three in intervals)]), max([0.0, *(three[2] for three in intervals)]))
    zero = 100.0 * -low / (high - low) if high > low else 0.0
    return [
        Whisker(one.low, one.mean, one.high, zero, falls=three[1] < 0.0)
        for one, three in zip(placed(intervals, (low, high)), intervals, strict=True)
    ]
