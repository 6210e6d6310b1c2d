"""What a table looked like when a model learned from it: enough to notice that a new one differs."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    words: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of the rows that have one. The shares of the words kept add up to 1 if there were no others."""
    gaps: dict[str, float] = field(default_factory=dict)
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
