"""What to beware of, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pellucid.bake_off.comparing import NO_TIME, Score, Untried
from pellucid.bake_off.judging import Judgement
from pellucid.bake_off.suspects import TOO_GOOD, Suspect
from pellucid.tables.understanding import Columns, Target

UNEVEN = 3.0
"""The largest class has this many times the rows of the smallest: worth a word."""
FEW_TEST_ROWS = 30
MOST_NAMED = 8


def notes_on_table(target: Target, columns: Columns) -> list[str]:
    """Return what of the table was left out."""
    return [*target.left_out, *(f"Column {name} was left out: {reason}." for name, reason in columns.left_out.items())]


def notes_on_suspects(suspects: Iterable[Suspect], target: Target) -> list[str]:
    """Return a word about every column that knows too much."""
    return [
        f"Column {suspect.column} alone takes away {_percent(suspect.share)} of the baseline's error "
        f"(cross-validated, each value or bin predicting by itself; {_percent(TOO_GOOD)} is suspicious). If it is "
        f"only known after {target.name}, leave it out and fit again: what is said here is then far too good."
        for suspect in suspects
    ]


def notes_on_classes(target: Target, judgement: Judgement) -> list[str]:
    """Return a word about classes of very different sizes."""
    if not target.is_classification:
        return []
    classes, counts = np.unique(target.values, return_counts=True)
    if counts.max() < UNEVEN * counts.min():
        return []
    largest, smallest = classes[counts.argmax()], classes[counts.argmin()]
    return [
        f"The classes are uneven: {_percent(counts.max() / counts.sum())} of the rows are {largest}, "
        f"{counts.min():,} rows are {smallest}. Always saying {largest} is right that often, so look at the balanced "
        f"accuracy too, which counts every class the same: {_percent(judgement.scores['balanced accuracy'], 1)}."
    ]


def notes_on_choice(chosen: Score, scores: Sequence[Score], judgement: Judgement) -> list[str]:
    """Return what to know about the winner."""
    notes = []
    baseline = next((score for score in scores if score.contestant.is_baseline), None)
    if baseline is not None and chosen.mean + chosen.standard_error >= baseline.mean:
        notes.append(
            f"No method clearly beats the baseline ({baseline.contestant.name}): these columns say little about the "
            "target."
        )
    if judgement.scores.get("R²", 0.0) < 0:
        notes.append("On the rows kept aside the model did worse than predicting the mean.")
    if judgement.n_seen_before:
        notes.append(
            f"{judgement.n_seen_before:,} of the {len(judgement.actual):,} rows kept aside repeat a row that was "
            "learned from, in every column. If they are copies of the same thing, the error is too small."
        )
    if len(judgement.actual) < FEW_TEST_ROWS:
        notes.append(f"Only {len(judgement.actual)} rows were kept aside: the interval is wide, and rough.")
    return notes


def notes_on_time(untried: Iterable[Untried], interrupted: bool) -> list[str]:
    """Return what was not done."""
    notes = ["The comparison was interrupted: this is the best method so far."] if interrupted else []
    late = [one.name for one in untried if one.reason == NO_TIME]
    if late:
        more = f" and {len(late) - MOST_NAMED} more" if len(late) > MOST_NAMED else ""
        notes.append(f"Not tried, for no time was left: {'; '.join(late[:MOST_NAMED])}{more}. Give more with --time.")
    return notes


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
