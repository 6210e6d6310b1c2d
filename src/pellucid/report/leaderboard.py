"""The table of methods: dots with whiskers on one scale, and the axis under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.bake_off.measures import Measure
from pellucid.bake_off.scores import MethodScore
from pellucid.report.whiskers import Whisker, placed

NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Steps between ticks, times a power of ten."""
MOST_STEPS = 4.0


@dataclass(frozen=True)
class Tick:
    """A number under the scale, and where it stands, in percent."""

    place: float
    label: str


def whiskers(scores: Sequence[MethodScore], *, mirrored: bool = False) -> list[Whisker]:
    """Return the positions of all methods on one scale, the smallest error to the left or, mirrored, to the right."""
    intervals = [(one.mean - one.standard_error, one.mean, one.mean + one.standard_error) for one in scores]
    return placed(intervals, _ends(scores), mirrored=mirrored)


def ticks(scores: Sequence[MethodScore], measure: Measure) -> list[Tick]:
    """Return round numbers for the axis under the whiskers, as the measure is written."""
    low, high = sorted(measure.shown(end) for end in _ends(scores))
    if not high > low or not np.isfinite([low, high]).all():
        return []
    rough = (high - low) / MOST_STEPS
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(nice * power for nice in NICE if nice * power >= rough * (1 - 1e-12))
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0
    if measure.is_share:
        labels = [f"{100 * value:.6g} %" for value in values]
    else:
        labels = [f"{value:,.6g}".replace("-", "\N{MINUS SIGN}") for value in values]
    return [Tick(100.0 * (value - low) / (high - low), label) for value, label in zip(values, labels, strict=True)]


def _ends(scores: Sequence[MethodScore]) -> tuple[float, float]:
    return (
        min(score.mean - score.standard_error for score in scores),
        max(score.mean + score.standard_error for score in scores),
    )
