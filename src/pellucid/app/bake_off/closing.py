"""What follows the choice of a method, and the seconds to keep for it: estimate, explanations, proof and report.

They are kept back while methods are compared, so that the comparison ends earlier instead of the report losing its
parts. What a part takes comes from what the method's fits and predictions took; a part that would take too large a
share of the time is not waited for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.heats import enough_rounds
from pellucid.app.bake_off.importance import MOST_ROWS, REPEATS
from pellucid.app.bake_off.scores import MethodScore
from pellucid.core.estimator import CertifiedEstimator

JUDGING_SECONDS, JUDGING_SECONDS_PER_ROW = 0.6, 4e-6
"""For the one look at the rows kept aside, and for what is asked there."""
WRITING_SECONDS, WRITING_SECONDS_PER_ROW = 1.4, 6e-6
"""For what is drawn and written in the end."""
SHUFFLES = ((MOST_ROWS, REPEATS), (1000, 2), (500, 2))
"""Rows, and shuffles of each column, that importances may be found from, the most first."""
SHUFFLE_SECONDS, SHUFFLE_SECONDS_PER_COLUMN = 0.012, 4e-4
"""What a shuffled table takes beside the predictions for it: it is copied and prepared."""
STORY_ROWS = 60_000
"""Predictions that explanations of rows and curves of columns are worth."""
STORY_SECONDS = 0.2
EXPLAINING_SHARE, PROOF_SHARE = 0.12, 0.3
"""Of the time, that are kept at most for explanations, and for the proof."""
PROOF_FITS, PROOF_FITS_OF_TREES, PROOF_FITS_OF_BLENDS = 1.5, 6.0, 3.0
"""What a proof takes in fits of the method: questions of trees are asked again one by one."""
UNSURE = 1.5
"""A proof that may take this many times its share is still waited for: the fit may have been held up by others."""


def report_seconds(n_rows: int) -> float:
    """Return the seconds to set aside for what cannot be left out after the final fit."""
    return JUDGING_SECONDS + JUDGING_SECONDS_PER_ROW * n_rows + writing_seconds(n_rows)


def writing_seconds(n_rows: int) -> float:
    """Return the seconds to set aside for the report and the files."""
    return WRITING_SECONDS + WRITING_SECONDS_PER_ROW * n_rows


@dataclass(frozen=True)
class Explaining:
    """The rows and the shuffles of each column that importances are found from, and what all explanations take."""

    n_rows: int
    repeats: int
    seconds: float


def plan_explaining(score: MethodScore, n_columns: int, total_seconds: float) -> Explaining:
    """Return the most that fits into its share of the time, or the least there is; what does not fit is not kept.

    A method of which nobody knows what its predictions take is taken for a quick one.
    """
    per_row = score.predict_seconds / max(1, score.n_predicted)
    if not math.isfinite(per_row):
        per_row = 0.0
    most = EXPLAINING_SHARE * total_seconds
    seconds = math.inf
    for n_rows, repeats in SHUFFLES:
        one = SHUFFLE_SECONDS + SHUFFLE_SECONDS_PER_COLUMN * n_columns + n_rows * per_row
        seconds = (1 + repeats * n_columns) * one + STORY_SECONDS + STORY_ROWS * per_row
        if seconds <= most:
            break
    return Explaining(n_rows, repeats, seconds if seconds <= most else 0.0)


def proof_seconds(contestant: Contestant, seconds_of_fit: float, total_seconds: float) -> float:
    """Return the seconds to keep for the proof of a method; none where it would take far too much of the time."""
    seconds = proof_fits(contestant) * seconds_of_fit
    most = PROOF_SHARE * total_seconds
    return min(seconds, most) if seconds <= UNSURE * most else 0.0


def proof_fits(contestant: Contestant) -> float:
    """Return what the proof of a method takes, in fits of it; methods that are not of this library have none."""
    if not isinstance(contestant.make(), CertifiedEstimator):
        return 0.0
    if contestant.is_blend:
        return PROOF_FITS_OF_BLENDS
    return PROOF_FITS_OF_TREES if contestant.takes_categories else PROOF_FITS


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
