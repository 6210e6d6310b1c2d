"""How the answer changes with a column on average, and how many rows have such a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.app.bake_off.importance import CENTRAL
from pellucid.app.bake_off.tree_story import as_text
from pellucid.app.explaining.answer import NO_YES, Answer
from pellucid.app.tables.dates import DATES
from pellucid.app.tables.understanding import FLAG, TEXT
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array

MOST_ROWS = 200
"""Over which the answer is averaged."""
N_POINTS = 20
"""Of a curve, at even shares of the rows, and as many at even distances."""
N_BINS = 30
FEW_VALUES = 8
"""Numbers with no more different values than this are bars, as words are."""
MOST_WORDS = 10
LEVELS, MOST_LEVELS = (0.1, 0.9), 3
"""Shares of the rows below the numbers of a second column, or how many of its words, where two are shown together."""


@dataclass(frozen=True)
class Dependence:
    """The mean answer if a column had this value in every row, all else as it is (partial dependence)."""

    column: str
    """Name of the column."""
    values: Array
    """Numbers, or days since 1970; empty for words."""
    words: tuple[str, ...]
    """What the bars stand for; empty for a curve."""
    means: Array
    """The answer at each value or word."""
    counts: Array
    """Rows with each word; of a curve, rows in each of the bins between its ends."""
    n_beyond: int
    """Rows with another word, or beyond the ends of the curve."""
    n_gaps: int
    """Rows without a value."""
    at_gap: float
    """The mean answer where the value is missing; NaN if it never is."""
    is_date: bool = False
    """Whether the values are days, not numbers."""

    @property
    def range(self) -> float:
        """How far apart the largest and the smallest mean are."""
        return float(np.ptp(self.means)) if len(self.means) else 0.0


@dataclass(frozen=True)
class Crossed:
    """The curve of one column, once for each of some values of a second one."""

    first: str
    """Name of the column along the curves."""
    second: str
    """Name of the column that has one value in each curve."""
    values: Array
    """Numbers of the first column that were asked about, rising."""
    levels: tuple[str, ...]
    """Values of the second, in words: a low and a high number, or its most frequent words, at most three."""
    means: Array
    """Of shape (n_levels, n_values)."""


def dependence_of(answer: Answer, name: str, seed: int) -> Dependence | None:
    """Return how the answer depends on a column on average; None for texts and where there is but one value."""
    column, kind = answer.read[answer.parts[name][0]], answer.kinds[name]
    gaps = np.flatnonzero(column.isna())
    places, labels, counts, n_beyond = _asked_at(column, kind)
    if kind == TEXT or len(places) < 2:
        return None
    at_gap = float(_means(answer, {name: gaps[:1]}, seed)[0]) if len(gaps) else float("nan")
    return Dependence(
        name,
        values=np.empty(0) if labels else column.to_numpy(dtype=np.float64)[places],
        words=labels,
        means=_means(answer, {name: places}, seed),
        counts=counts,
        n_beyond=n_beyond,
        n_gaps=len(gaps),
        at_gap=at_gap,
        is_date=kind in DATES,
    )


def crossed(answer: Answer, names: tuple[str, str], seed: int) -> Crossed | None:
    """Return the curve of one of two columns for some values of the other; None if neither has a curve."""
    for first, second in (names, names[::-1]):
        column, beside = (answer.read[answer.parts[name][0]] for name in (first, second))
        places, words, _, _ = _asked_at(column, answer.kinds[first])
        levels, labels = _levels(beside, answer.kinds[second])
        if words or answer.kinds[first] in DATES or len(places) < 2 or len(levels) < 2:
            continue
        means = [_means(answer, {first: places, second: np.full(len(places), level)}, seed) for level in levels]
        return Crossed(first, second, column.to_numpy(dtype=np.float64)[places], labels, np.array(means))
    return None


def _levels(column: pd.Series, kind: str) -> tuple[Array, tuple[str, ...]]:
    """Return rows that have the most frequent words, or a low and a high number, and what these are."""
    places, words, _, _ = _asked_at(column, kind)
    if kind in DATES or kind == TEXT:
        return places[:0], ()
    if not pd.api.types.is_float_dtype(column.dtype) or kind == FLAG:
        return places[:MOST_LEVELS], words[:MOST_LEVELS]
    present = np.flatnonzero(column.notna())
    values = column.to_numpy(dtype=np.float64)[present]
    order = np.argsort(values, kind="stable")
    ends = order[[round(share * (len(order) - 1)) for share in LEVELS]] if len(order) else order
    ends = ends[np.unique(values[ends], return_index=True)[1]]
    return present[ends], tuple(as_text(value) for value in values[ends])


def _both_ways(names: tuple[str, str], kinds: tuple[str, str]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    one, other = zip(names, kinds, strict=True)
    return [(one, other), (other, one)]


def _means(answer: Answer, taken: dict[str, Array], seed: int) -> Array:
    """Return the mean answer over some rows, with columns taken from one place after the other."""
    rows = some_rows(len(answer.read), MOST_ROWS, seed)
    n_places = len(next(iter(taken.values())))
    asked = {name: np.repeat(places, len(rows)) for name, places in taken.items()}
    return np.asarray(answer.of(np.tile(rows, n_places), asked).reshape(n_places, len(rows)).mean(axis=1))


def _asked_at(column: pd.Series, kind: str) -> tuple[Array, tuple[str, ...], Array, int]:
    """Return rows that have the values asked about, words for the values (none for a curve), counts, and the rest."""
    present = np.flatnonzero(column.notna())
    if not len(present) or kind == TEXT:
        return present[:0], (), np.empty(0), 0
    if not pd.api.types.is_float_dtype(column.dtype):
        codes = np.asarray(column.cat.codes)[present]
        different, first, counts = np.unique(codes, return_index=True, return_counts=True)
        often = np.argsort(-counts, kind="stable")[:MOST_WORDS]
        words = tuple(str(column.cat.categories[code]) for code in different[often])
        return present[first[often]], words, counts[often], int(len(present) - counts[often].sum())
    values = column.to_numpy(dtype=np.float64)[present]
    different, first, counts = np.unique(values, return_index=True, return_counts=True)
    if len(different) <= FEW_VALUES and kind not in DATES:
        return present[first], tuple(_written(value, kind) for value in different), counts, 0
    order = np.argsort(values, kind="stable")
    ranked = np.round(np.linspace(*CENTRAL, N_POINTS) * (len(values) - 1)).astype(int)
    ends = values[order[ranked[0]]], values[order[ranked[-1]]]
    even = np.searchsorted(values[order], np.linspace(*ends, N_POINTS))  # where rows are few, too
    places = order[np.concatenate([ranked, even])]
    places = places[np.unique(values[places], return_index=True)[1]]
    binned = np.histogram(values, bins=N_BINS, range=ends)[0] if ends[1] > ends[0] else np.array([len(values)])
    return present[places], (), binned, int(len(values) - binned.sum())


def _written(value: float, kind: str) -> str:
    return NO_YES[int(value)] if kind == FLAG else as_text(value)
