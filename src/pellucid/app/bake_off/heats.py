"""Heats: on a large table all methods learn from few rows first, and only those that keep up from more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.scores import MethodScore, Pace

FIRST_ROWS = 2000
GROWTH = 4
"""Each heat has this many times the rows of the one before."""
FEWEST_KEPT = 3
CLEARLY = 2.0
"""Standard errors by which a method must be behind to be left out."""
NEARLY = 0.05
"""Share of the best error by which a method may always be behind: with more rows it may catch up."""
MORE_ROUNDS = 3
"""A method that stops by itself has at most this many times the rounds it had with a quarter of the rows."""
ENOUGH_ROUNDS, FEWEST_ROUNDS = 100, 25
"""Of boosting: what a fit that counts should have, and what a heat makes do with."""


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
        behind = score.mean - best.mean
        return behind <= max(CLEARLY * np.hypot(score.standard_error, best.standard_error), NEARLY * best.mean)

    kept = [score for place, score in enumerate(ranked) if place < FEWEST_KEPT or keeps_up(score)]
    return [*baselines, *(score.contestant for score in kept)]


def rounds_to_try(contestant: Contestant) -> list[int]:
    """Return how many rounds a method may have, the most first; halved each time, so that the clock decides little.

    Examples
    --------
    >>> rounds_to_try(Contestant("boosting", "", dict, rounds=200))
    [200, 100, 50, 25]
    """
    rounds = [contestant.rounds]
    while rounds[-1] >= 2 * FEWEST_ROUNDS:
        rounds.append(rounds[-1] // 2)
    return rounds


def for_heat(contestant: Contestant, pace: Pace | None, n_rows: int, seconds: float) -> Contestant:
    """Return a method with as many rounds as a heat of so many rows has time for."""
    if not contestant.rounds or pace is None:
        return contestant
    likely = min(contestant.rounds, MORE_ROUNDS * pace.rounds)
    if pace.seconds_for(n_rows, likely) <= seconds:
        return contestant
    tried = rounds_to_try(contestant)
    rounds = next((n for n in tried if pace.seconds_for(n_rows, n) <= seconds), tried[-1])
    return contestant.with_rounds(rounds)


def enough_rounds(contestant: Contestant) -> list[int]:
    """Return how many rounds a method may have in a fit that counts, the most first."""
    return [n for n in rounds_to_try(contestant) if n >= ENOUGH_ROUNDS] or [contestant.rounds]


def within_time(
    contestants: Sequence[Contestant], paces: Mapping[str, Pace], n_rows: int, seconds: float
) -> list[Contestant]:
    """Return the methods, those of rounds with as many as a fit to so many rows ends with in time, but enough."""
    limited = []
    for contestant in contestants:
        pace = paces.get(contestant.name)
        if not contestant.rounds or pace is None:
            limited.append(contestant)
            continue
        tried = enough_rounds(contestant)
        rounds = next((n for n in tried if pace.seconds_for(n_rows, n) <= seconds), tried[-1])
        limited.append(contestant.with_rounds(rounds))
    return limited
