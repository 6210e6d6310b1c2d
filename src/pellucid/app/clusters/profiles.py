"""What the clusters are, in plain words: how each differs from all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.app.tables.dates import DATES
from pellucid.app.tables.understanding import FLAG, TEXT, WORD_KINDS, Columns
from pellucid.core.types import Array

NOTABLE = 0.3
"""Standard deviations, or for words as many times a third of the rows, from which a difference is named."""
MUCH = 1.0
LEAST_VARIANCE = 0.05
"""Of a share: words that hardly any row has would seem to differ the most."""
MOST_NAMED = 4
HAS = "has '"
"""Between the name of a column of texts and one of its words."""
MOST_WORDS = 3
"""Words of a column whose shares are compared."""


@dataclass(frozen=True)
class Difference:
    """How one cluster differs from all rows in one column, or in one word of it."""

    column: str
    word: str
    """Empty for numbers."""
    inside: float
    """Mean, or share of the word, in the cluster."""
    overall: float
    size: float
    """In standard deviations of the column; for a word, of its share."""

    @property
    def sentence(self) -> str:
        """The difference in a few words, with both numbers."""
        much = "much " if abs(self.size) >= MUCH else ""
        if not self.word:
            way = "higher" if self.size > 0 else "lower"
            return f"{much}{way} {self.column} ({written(self.inside)}, all {written(self.overall)})"
        way = "more often" if self.size > 0 else "less often"
        return f"{much}{way} {self.name} ({_percent(self.inside)}, all {_percent(self.overall)})"

    @property
    def name(self) -> str:
        """The column, the word of it, or the word that a text has."""
        if not self.word:
            return self.column
        return f"{self.column} {self.word}" if self.word.startswith(HAS) else f"{self.column} = {self.word}"


@dataclass(frozen=True)
class Profile:
    """One cluster: its number, its rows, what sets it apart, and its most typical row."""

    label: int
    n_rows: int
    share: float
    differences: tuple[Difference, ...]
    """The most notable first."""
    silhouette: float
    typical: int
    """The row nearest to the middle of the cluster."""

    @property
    def sentence(self) -> str:
        """The cluster in one sentence."""
        first_of_column: dict[str, Difference] = {}
        for one in self.differences:
            if abs(one.size) >= NOTABLE:
                first_of_column.setdefault(one.column if not one.word.startswith(HAS) else one.name, one)
        named = [one.sentence for one in list(first_of_column.values())[:MOST_NAMED]]
        said = ", ".join(named) if named else "much like the rows as a whole"
        return f"Cluster {self.label} ({_percent(self.share)}): {said}."


def describe(
    read: pd.DataFrame, columns: Columns, X: Array, names: Sequence[str], labels: Array, silhouettes: Array
) -> list[Profile]:
    """Return the profile of every cluster.

    ``X`` are the rows as numbers, with the ``names`` of their columns; ``silhouettes`` the mean ones by cluster.
    """
    texts = [(j, name) for j, name in enumerate(names) if any(name.startswith(f"{t} {HAS}") for t in columns.of(TEXT))]
    numbers, words = _columns_to_compare(read, columns)
    worded = list(_main_words(read, words, labels))
    profiles = []
    for place, label in enumerate(np.unique(labels)):
        mine = labels == label
        found = [
            *_number_differences(read, numbers, mine),
            *(_share_difference(name, word, texts == word, mine) for name, texts, word in worded),
            *(_text_difference(X[:, j] > 0.0, name, mine) for j, name in texts),
        ]
        middle = X[mine].mean(axis=0)
        typical = int(np.flatnonzero(mine)[np.argmin(np.square(X[mine] - middle).sum(axis=1))])
        profiles.append(
            Profile(
                int(label),
                int(mine.sum()),
                float(mine.mean()),
                tuple(sorted(found, key=_notability)),
                float(silhouettes[place]),
                typical,
            )
        )
    return profiles


def _notability(one: Difference) -> tuple[float, float]:
    """Return by what differences are sorted: the largest first, of those that are as large what there is more of."""
    return -round(abs(one.size), 2), -one.size


def _columns_to_compare(read: pd.DataFrame, columns: Columns) -> tuple[list[str], list[str]]:
    """Return the columns of numbers (of dates the year) and those of words, yes and no among them."""
    words = [name for name in columns.of(*WORD_KINDS, FLAG) if name in read.columns]
    dates = {f"{name} year" for name in columns.of(*DATES)}
    parts = {part for name in columns.of(*DATES) for part in read.columns if part.startswith(f"{name} ")} - dates
    numbers = [name for name in read.columns if name not in {*words, *columns.of(TEXT), *parts}]
    return numbers, words


def _number_differences(read: pd.DataFrame, names: Sequence[str], mine: Array) -> list[Difference]:
    found = []
    for name in names:
        values = read[name].to_numpy(dtype=np.float64)
        own, present = values[mine & ~np.isnan(values)], values[~np.isnan(values)]
        spread = float(present.std()) if len(present) else 0.0
        if len(own) and spread > 0.0:
            inside, overall = float(own.mean()), float(present.mean())
            found.append(Difference(name, "", inside, overall, (inside - overall) / spread))
    return found


def _main_words(read: pd.DataFrame, names: Sequence[str], labels: Array) -> Iterator[tuple[str, Array, str]]:
    """Yield the words that are among the most frequent of their column in any cluster, with the words of all rows."""
    for name in names:
        column = read[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            column = column.map({1.0: "yes", 0.0: "no"})
        texts = column.astype(object).where(column.notna(), "missing").astype(str).to_numpy()
        frequent = [pd.Series(texts[labels == label]).value_counts().index[:MOST_WORDS] for label in np.unique(labels)]
        for word in dict.fromkeys(str(word) for words in frequent for word in words):
            yield name, texts, word


def _text_difference(has_word: Array, name: str, mine: Array) -> Difference:
    column, _, word = name.partition(f" {HAS}")
    return _share_difference(column, f"{HAS}{word}", has_word, mine)


def _share_difference(column: str, word: str, has_word: Array, mine: Array) -> Difference:
    inside, overall = float(has_word[mine].mean()), float(has_word.mean())
    size = (inside - overall) / np.sqrt(max(overall * (1.0 - overall), LEAST_VARIANCE))
    return Difference(column, word, inside, overall, float(size))


def written(value: float) -> str:
    """Return a mean as a person writes it: three figures, years and prices whole."""
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0.0 else "below 1 %"
