"""What a table looked like when a model learned from it: enough to notice that a new one differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd

from pellucid.core.types import Array

MOST_POINTS = 201
"""Quantiles kept of a number."""
MOST_WORDS = 1000
"""Words kept of a column; of more, the most frequent ones."""


@dataclass(frozen=True)
class SeenTable:
    """Quantiles of numbers, shares of words and of gaps, by the name of the column.

    Examples
    --------
    >>> seen = SeenTable.of(pd.DataFrame({"age": [30.0, None, 50.0, None], "town": ["Kyiv", "Oslo", "Oslo", "Oslo"]}))
    >>> seen.numbers["age"], seen.words["town"], seen.gaps["age"]
    (array([30., 50.]), {'Oslo': 0.75, 'Kyiv': 0.25}, 0.5)
    """

    numbers: dict[str, Array] = field(default_factory=dict)
    """Of each column of numbers, the values at up to 201 evenly spaced shares of the rows, from the least to the
    largest."""
    words: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of the rows that have one. The shares of the words kept add up to 1 if there were no others."""
    gaps: dict[str, float] = field(default_factory=dict)
    """Of each column, the share of the rows without a value."""
    counts: dict[str, int] = field(default_factory=dict)
    """Rows that each column was looked at in."""

    @classmethod
    def of(cls, read: pd.DataFrame) -> Self:
        """Return what can be seen in columns of floats and of strings."""
        seen = cls()
        for name in read.columns:
            column = read[name]
            present = column.dropna()
            seen.counts[name] = len(column)
            seen.gaps[name] = 1.0 - len(present) / len(column)
            if pd.api.types.is_numeric_dtype(column.dtype):
                seen.numbers[name] = quantiles(present.to_numpy(dtype=np.float64))
            else:
                seen.words[name] = shares(present)
        return seen

    def and_also(self, other: SeenTable) -> SeenTable:
        """Return the columns of both."""
        return SeenTable(
            self.numbers | other.numbers, self.words | other.words, self.gaps | other.gaps, self.counts | other.counts
        )


def quantiles(values: Array) -> Array:
    """Return values at evenly spaced shares of the rows; all of them, in order, if they are few."""
    if not len(values):
        return np.empty(0)
    return np.quantile(values, np.linspace(0.0, 1.0, min(len(values), MOST_POINTS)))


def shares(words: pd.Series, most: int | None = MOST_WORDS) -> dict[str, float]:
    """Return the share of each word, or of so many, the most frequent first."""
    counts = words.astype(str).value_counts()  # ties in the order of the table
    return {str(word): int(count) / len(words) for word, count in counts.iloc[:most].items()}


SURE = 0.01
"""Chance that any one column at all is called drifted though nothing changed."""
FEWEST_EXPECTED = 5.0
"""Rows that a word must lead one to expect; the rarer ones are counted together."""
HARDLY_ANY = 1e-9


@dataclass(frozen=True)
class Drift:
    """One column of a new table beside the same column as it was learned from."""

    column: str
    """Name of the column."""
    distance: float
    """The part of the rows that would have to change, from 0 to 1: the largest difference between the shares of rows
    below any number, or half the sum of the differences between the shares of words."""
    chance: float
    """That of a difference so large if nothing had changed, over all columns that were looked at."""
    gaps_before: float
    """Share of the rows without a value, of the table that was learned from."""
    gaps_now: float
    """The same of the new table."""
    unseen: float
    """Share of rows with a word that was never seen."""
    is_drifted: bool = False
    """Whether the change is larger than the threshold, and more than chance."""


def find_drift(seen: SeenTable, read: pd.DataFrame, threshold: float = 0.1) -> list[Drift]:
    """Return the drift of every column that was seen, the most drifted first.

    A column has drifted if its distance, the change in its share of gaps, or its share of unseen words exceeds the
    threshold, and chance alone does not explain it.

    Parameters
    ----------
    seen : SeenTable
        What the model remembers of the table it learned from: its ``seen_``.
    read : DataFrame
        The new table as the first step of the model reads it, ``model[0].transform(table)``.
    threshold : float, default=0.1
        Share of the rows, from 0 to 1, up to which a change is none.
    """
    names = [name for name in read.columns if name in seen.gaps]
    found = [_compare(seen, name, read[name]) for name in names]
    corrected = holm(np.array([drift.chance for drift in found]))
    judged = []
    for drift, chance in zip(found, corrected, strict=True):
        size = max(drift.distance, abs(drift.gaps_now - drift.gaps_before), drift.unseen)
        is_drifted = bool(chance < SURE and size > threshold)
        judged.append(replace(drift, chance=float(chance), is_drifted=is_drifted))
    return sorted(judged, key=lambda drift: (not drift.is_drifted, -drift.distance))


def holm(chances: Array) -> Array:
    """Return the chances of several tests, each large enough that all may be believed at once (Holm's correction).

    Examples
    --------
    >>> holm(np.array([0.01, 0.5, 0.02]))
    array([0.03, 0.5 , 0.04])
    """
    order = np.argsort(chances, kind="stable")
    steps = np.maximum.accumulate(chances[order] * np.arange(len(chances), 0, -1))
    corrected = np.empty(len(chances))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def _compare(seen: SeenTable, name: str, column: pd.Series) -> Drift:
    present = column.dropna()
    n_before, before = seen.counts[name], seen.gaps[name]
    now = 1.0 - len(present) / len(column) if len(column) else before
    n_present = round(n_before * (1.0 - before))
    if name in seen.numbers:
        distance, chance = _between_numbers(seen.numbers[name], n_present, np.sort(present.to_numpy(dtype=np.float64)))
        unseen = 0.0
    else:
        distance, chance, unseen = _between_words(seen.words[name], n_present, present)
    of_gaps = _chance_of_counts(
        np.array([[before, 1.0 - before], [now, 1.0 - now]]) * np.array([[n_before], [len(column)]])
    )
    return Drift(name, distance, min(1.0, 2.0 * min(chance, of_gaps)), before, now, unseen)


def _between_numbers(before: Array, n_before: int, now: Array) -> tuple[float, float]:
    """Return the distance between two distributions of numbers, one known by its quantiles, and its chance."""
    if not len(before) or not len(now):
        return 0.0, 1.0
    places = np.linspace(0.0, 1.0, len(before))
    values = np.union1d(before, now)
    sides = []
    for side in ("left", "right"):  # below a value, and up to it: where many rows have the same number they differ
        share_now = np.searchsorted(now, values, side=side) / len(now)
        sides.append(np.abs(share_now - _share_before(before, places, values, side)))
    resolution = 1.0 / (len(before) - 1) if n_before > len(before) > 1 else 0.0  # quantiles kept are this far apart
    distance = max(0.0, float(np.maximum(*sides).max()) - resolution)
    effective = max(1, round(n_before * len(now) / (n_before + len(now))))
    from scipy.stats import kstwo  # here: an answer needs no statistics, and they take a second to import

    return distance, float(kstwo.sf(distance, effective))


def _share_before(before: Array, places: Array, values: Array, side: str) -> Array:
    """Return the share of rows below each value (or up to it) that quantiles tell of."""
    rank = np.searchsorted(before, values, side=side)  # type: ignore[call-overload]
    known = np.concatenate([[0.0], places])
    inside = (rank > 0) & (rank < len(before))
    found = known[rank]
    found[rank == len(before)] = 1.0
    low, high = before[rank[inside] - 1], before[rank[inside]]
    step = np.divide(values[inside] - low, high - low, out=np.zeros(int(inside.sum())), where=high > low)
    found[inside] += np.clip(step, 0.0, 1.0) * (places[1] if len(places) > 1 else 0.0)
    return found


def _between_words(before: Mapping[str, float], n_before: int, now: pd.Series) -> tuple[float, float, float]:
    """Return the distance between two distributions of words, its chance, and the share of words never seen.

    A word that is rare in both is counted with the other rare ones, seen before or not: that some rare words turn up
    for the first time is no change.
    """
    if not before or not len(now):
        return 0.0, 1.0, 0.0
    found = shares(now, most=None)
    others = max(0.0, 1.0 - sum(before.values()))
    knows_all = others < HARDLY_ANY
    new = {word: share for word, share in found.items() if word not in before}
    pairs = [(share, found.get(word, 0.0)) for word, share in before.items()]
    pairs += [(0.0, share) for share in new.values()] if knows_all else [(others, sum(new.values()))]
    counts, _ = _together_if_rare(np.array(pairs).T * np.array([[n_before], [len(now)]]))
    distance = float(np.abs(np.subtract(*(counts / counts.sum(axis=1, keepdims=True)))).sum() / 2)
    return distance, _chance_of_counts(counts), sum(new.values()) if knows_all else 0.0


def _chance_of_counts(counts: Array) -> float:
    """Return the chance that two rows of counts differ so much (Pearson's test)."""
    if (counts.sum(axis=1) <= 0).any():
        return 1.0
    counts, expected = _together_if_rare(counts)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    from scipy.stats import chi2

    return float(chi2.sf(statistic, max(1, counts.shape[1] - 1)))


def _together_if_rare(counts: Array) -> tuple[Array, Array]:
    """Return two rows of counts, and those to expect if nothing changed, with all rare columns as one."""
    totals = counts.sum(axis=1, keepdims=True)
    expected = counts.sum(axis=0) * totals / totals.sum()
    rare = (expected < FEWEST_EXPECTED).any(axis=0)
    merged = (np.hstack([part[:, ~rare], part[:, rare].sum(axis=1, keepdims=True)]) for part in (counts, expected))
    counts, expected = merged
    used = expected.min(axis=0) > 0.0
    return counts[:, used], expected[:, used]
