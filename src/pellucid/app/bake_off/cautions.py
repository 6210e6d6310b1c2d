"""What to beware of, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pellucid.app.bake_off.comparison import FAILED, NO_TIME, Untried
from pellucid.app.bake_off.judgement import Judgement
from pellucid.app.bake_off.leakage import TOO_GOOD, Leak, Relation
from pellucid.app.bake_off.learned import LEARNED, LITTLE, NOTHING, Learned
from pellucid.app.bake_off.options import WISHED
from pellucid.app.bake_off.scores import MethodScore
from pellucid.app.tables.understanding import Columns, Target

UNEVEN = 3.0
"""The largest class has this many times the rows of the smallest: worth a word."""
FEW_TEST_ROWS = 30
FEW_REPEATED = 0.005
"""Share of the rows kept aside that may repeat a row learned from by accident."""
MOST_NAMED = 8


def cautions_on_time(untried: Iterable[Untried], interrupted: bool, n_splits: int, n_planned: int) -> list[str]:
    """Return what was not done; ``n_splits`` of those planned are behind the scores."""
    cautions = ["The comparison was interrupted: this is the best method so far."] if interrupted else []
    if n_splits < n_planned:
        cautions.append(
            f"The time sufficed to compare on {n_splits} of {n_planned} splits: methods close to each other may have "
            "changed places by chance. Give more with --time."
        )
    late = [one.name for one in untried if one.reason == NO_TIME]
    if late:
        more = f" and {len(late) - MOST_NAMED} more" if len(late) > MOST_NAMED else ""
        cautions.append(
            f"Not tried, for no time was left: {'; '.join(late[:MOST_NAMED])}{more}. Give more with --time."
        )
    return cautions


def cautions_on_failures(untried: Iterable[Untried], parts: Mapping[str, object]) -> list[str]:
    """Return which methods were dropped, and which parts of the report are missing, for they failed, and how."""
    methods = [
        f"{one.name[:1].upper()}{one.name[1:]} was dropped, for it {one.reason.removesuffix('.')}."
        for one in untried
        if one.reason.startswith(FAILED)
    ]
    missing = {name: found for name, found in parts.items() if isinstance(found, str) and found.startswith(FAILED)}
    return [*methods, *(part_is_missing(name, why) for name, why in missing.items())]


def part_is_missing(name: str, why: str) -> str:
    """Return the sentence about a part of the report that failed."""
    return f"The {name} is missing, for it {why.removesuffix('.')}."


def learned_from_part(n_rows: int, n_all: int, n_compared: int) -> str:
    """Return the word about a model that could not learn from all rows."""
    return (
        f"The methods were compared on {n_compared:,} rows, and the model learned from {n_rows:,} of the {n_all:,}, "
        "drawn at random: as many as the time allowed. Give more with --time."
    )


def short_of_memory(n_rows: int, n_all: int) -> str:
    """Return the word about a model for which the memory was too small to learn from all rows."""
    return (
        f"The model learned from {n_rows:,} of the {n_all:,} rows, drawn at random: no method can be fitted to all of "
        "them in the memory given. Give more with --memory."
    )


def cautions_on_result(
    chosen: MethodScore,
    scores: Sequence[MethodScore],
    judgement: Judgement,
    leaks: Iterable[Leak],
    target: Target,
    columns: Columns,
    learned: Learned | None = None,
    relations: Iterable[Relation] = (),
) -> list[str]:
    """Return all that should be known before somebody relies on the chosen method, the gravest first."""
    return [
        *([] if learned is None or learned.state == LEARNED else [learned.sentence]),
        *_leaks(leaks, target),
        *(_relation(one, target) for one in relations),
        *_choice(chosen, scores, judgement, learned),
        *_classes(target, judgement),
        *target.left_out,
        *(
            f"Column {name} was left out: {reason}."
            for name, reason in columns.left_out.items()
            if reason not in WISHED
        ),
    ]


def _leaks(leaks: Iterable[Leak], target: Target) -> list[str]:
    """Return a word about every column that knows too much."""
    return [
        f"Column {leak.column} alone takes away {_percent(leak.share)} of the baseline's error "
        f"(cross-validated, each value or bin predicting by itself; {_percent(TOO_GOOD)} is suspicious). If it is "
        f"only known after {target.name}, leave it out and fit again: what is said here is then far too good."
        for leak in leaks
    ]


def _relation(found: Relation, target: Target) -> str:
    """Return a word about a target that is a sum of columns."""
    rows = f"all of {found.n_rows:,}" if found.share == 1.0 else f"{_percent(found.share, 1)} of {found.n_rows:,}"
    what = f"{target.name} is {found.formula} in {rows} rows"
    if found.n_remainders > 1:
        what = f"{target.name} less ({found.formula}) has only {found.n_remainders} values in {rows} rows"
    return (
        f"{what}. If one of these columns is only known after {target.name}, leave it out and fit again: what is said "
        "here is then far too good."
    )


def _classes(target: Target, judgement: Judgement) -> list[str]:
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


def _choice(
    chosen: MethodScore, scores: Sequence[MethodScore], judgement: Judgement, learned: Learned | None
) -> list[str]:
    """Return what to know about the winner."""
    cautions = []
    baseline = next((score for score in scores if score.contestant.is_baseline), None)
    is_told = learned is not None and learned.state in (NOTHING, LITTLE)
    if baseline is not None and not is_told and chosen.mean + chosen.standard_error >= baseline.mean:
        cautions.append(
            f"No method clearly beats the baseline ({baseline.name}): these columns say little about the target."
        )
    if judgement.scores.get("R²", 0.0) < 0:
        cautions.append("On the rows kept aside the model did worse than predicting the mean.")
    if judgement.n_seen_before > FEW_REPEATED * len(judgement.actual):
        cautions.append(
            f"{judgement.n_seen_before:,} of the {len(judgement.actual):,} rows kept aside repeat a row that was "
            "learned from, in every column. If they are copies of the same thing, the error is too small: drop the "
            "copies, or name the thing with --group."
        )
    if len(judgement.actual) < FEW_TEST_ROWS:
        cautions.append(f"Only {len(judgement.actual)} rows were kept aside: the interval is wide, and rough.")
    return cautions


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
