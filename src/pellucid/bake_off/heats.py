"""Heats: on a large table all methods learn from few rows first, and only those that keep up from more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.scores import MethodScore

FIRST_ROWS = 2000
GROWTH = 4
"""Each heat has this many times the rows of the one before."""
FEWEST_KEPT = 3
CLEARLY = 2.0
"""Standard errors by which a method must be behind to be left out."""


def heat_sizes(n_rows: int) -> list[int]:
    """Return the training rows of each heat: none if the first would be half of all or more.

    Examples
    --------
    >>> heat_sizes(3000), heat_sizes(30_000)
    ([], [2000, 8000])
    """
    sizes = []
    size = FIRST_ROWS
    while 2 * size < n_rows:
        sizes.append(size)
        size *= GROWTH
    return sizes


def kept_after(scores: Sequence[MethodScore]) -> list[Contestant]:
    """Return the methods that are not clearly behind the best, best first; the baseline stays, and a few in any case.

    A method is behind by the difference of two errors, each with the standard error of its rows.
    """
    baselines = [score.contestant for score in scores if score.contestant.is_baseline]
    ranked = sorted((score for score in scores if not score.contestant.is_baseline), key=lambda score: score.mean)
    if not ranked:
        return baselines
    best = ranked[0]

    def keeps_up(score: MethodScore) -> bool:
        return score.mean - best.mean <= CLEARLY * np.hypot(score.standard_error, best.standard_error)

    kept = [score for place, score in enumerate(ranked) if place < FEWEST_KEPT or keeps_up(score)]
    return [*baselines, *(score.contestant for score in kept)]
