"""What the chosen method learns from in the end: every row if there is time, else as many as there is time for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pellucid.bake_off.closing import report_seconds
from pellucid.bake_off.heats import enough_rounds
from pellucid.bake_off.scores import MethodScore

FEWEST_LEARNED = 2000
"""Rows that the method learns from, however little time is left."""
TWICE = 2.8
"""A fit to the learning rows and one to all rows, in fits of the former, and a little for what is not foreseen."""
ONCE = 1.35


@dataclass(frozen=True)
class FinalFit:
    """The method, the learning rows that it is fitted to, and whether it is then fitted to every row."""

    score: MethodScore
    n_rows: int
    on_all_rows: bool


def plan_final_fit(chosen: MethodScore, n_learning: int, seconds_left: float, grace: float = 0.0) -> FinalFit:
    """Return the fits there is time for; ``grace`` are seconds that a fit to every row may take longer.

    The first is judged on the rows kept aside. If there is no time for a second one to every row, the model that was
    judged is the answer itself. A method whose rounds were limited has more of them if the time allows; one that was
    compared on part of the rows may have fewer, if these are enough. Otherwise it learns from fewer rows.
    """
    left = seconds_left - report_seconds(n_learning)
    contestant, pace = chosen.contestant, chosen.pace
    tried = enough_rounds(contestant)
    if not chosen.is_from_heat:
        tried = [n for n in tried if n >= contestant.n_rounds]
    for factor, on_all_rows in ((TWICE, True), (ONCE, False)):
        for rounds in tried:
            needed = factor * pace.seconds_for(n_learning, rounds or None)
            if needed <= left or (needed <= left + grace and rounds == tried[-1] and not chosen.is_from_heat):
                return FinalFit(_with_rounds(chosen, rounds), n_learning, on_all_rows)
    least = tried[-1]
    return FinalFit(_with_rounds(chosen, least), _rows_within(chosen, left, n_learning, least or None), False)


def _rows_within(chosen: MethodScore, seconds: float, n_learning: int, rounds: int | None) -> int:
    return min(n_learning, max(chosen.pace.rows_within(seconds / ONCE, rounds), FEWEST_LEARNED))


def _with_rounds(chosen: MethodScore, rounds: int) -> MethodScore:
    return replace(chosen, contestant=chosen.contestant.with_rounds(rounds)) if rounds else chosen
