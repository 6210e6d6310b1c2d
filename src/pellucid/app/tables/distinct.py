"""The different values of a column, each looked at once: a million rows have few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.core.types import Array


@dataclass(frozen=True)
class Distinct:
    """The different values of a column as texts, in the order they appear, gaps aside."""

    texts: pd.Series
    """Of dtype str, no gap among them."""
    counts: Array
    """Rows that hold each."""
    n_others: float = 0.0
    """Different values beside those, about, where there are too many to keep."""
    n_other_rows: int = 0
    """Rows that hold these."""
    words_of_others: float = 0.0
    """Words that these rows have."""

    @property
    def n_different(self) -> int:
        """How many different values there are."""
        return len(self.texts) + round(self.n_others)

    @property
    def n_rows(self) -> int:
        """Rows that hold a value."""
        return int(self.counts.sum()) + self.n_other_rows

    def share(self, which: Array) -> float:
        """Return the share of the rows, of those whose text is kept, that hold one of the marked texts."""
        return float(self.counts[which].sum() / max(self.counts.sum(), 1))

    def mean_words(self) -> float:
        """Return how many words a row has on average."""
        if not len(self.texts):
            return 0.0
        return float(self.texts.str.split().str.len() @ self.counts + self.words_of_others) / self.n_rows

    def spellings(self) -> dict[str, list[str]]:
        """Return the texts that are the same but for blanks and case, by how they read without; the usual one first."""
        read_as = folded(self.texts)
        if not read_as.duplicated().any():
            return {}
        order = np.argsort(-self.counts, kind="stable")
        groups: dict[str, list[str]] = {}
        for key, text in zip(read_as.iloc[order], self.texts.iloc[order], strict=True):
            groups.setdefault(key, []).append(text)
        return {key: texts for key, texts in groups.items() if len(texts) > 1}


def distinct(column: pd.Series) -> Distinct:
    """Return the different values of a column.

    Examples
    --------
    >>> found = distinct(pd.Series(["b", None, "a", "b"]))
    >>> found.texts.tolist(), found.counts
    (['b', 'a'], array([2, 1]))
    """
    codes, different = pd.factorize(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(different))
    texts = pd.Series(different).astype(str)
    return Distinct(texts, counts)


def folded(texts: pd.Series) -> pd.Series:
    """Return texts in small letters, without blanks around them and with single ones inside.

    Examples
    --------
    >>> folded(pd.Series([" New  York", "new york "])).tolist()
    ['new york', 'new york']
    """
    return texts.str.strip().str.replace(r"\s+", " ", regex=True).str.casefold()
