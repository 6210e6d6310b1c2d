"""WordEncoder: words as codes for trees, or as indicator columns for linear methods."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data

GAP = "missing"
"""The word that stands for none."""
RARE = "rare words"
NOTHING = -1
"""The place of a word that was never seen where no rare words share one."""


class WordEncoder(TransformerMixin, BaseEstimator):
    """Give the frequent words of each column places in the order of the alphabet; all rarer ones share the last.

    A gap counts as the word "missing". A word that was never seen belongs to the rare ones; where there are none it is
    nan among codes, and no column among indicators.

    Parameters
    ----------
    max_words : int, default=50
        Most places of a column, that of the rare words included; of equally frequent words the alphabetically first.
    min_frequency : int, default=1
        Rows in which a word must be to have a place of its own.
    indicators : bool, default=False
        Whether each place becomes a column of zeros and ones, instead of each column a column of codes.
    sparse_output : bool, default=False
        Whether indicators are a sparse matrix.

    Attributes
    ----------
    words_ : list of n_features ndarrays of str
        The frequent words of each column, rising.
    has_rare_ : ndarray of shape (n_features,), bool
        Whether a column has a place for the rare words.

    Examples
    --------
    >>> frame = pd.DataFrame({"city": ["Bern", "Basel", "Bern", "Genf"]})
    >>> WordEncoder(min_frequency=2).fit_transform(frame).ravel()
    array([0., 1., 0., 1.])
    >>> WordEncoder(min_frequency=2, indicators=True).fit(frame).get_feature_names_out()
    array(['city_Bern', 'city_rare words'], dtype=object)
    """

    words_: list[Array]
    has_rare_: Array
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self, max_words: int = 50, *, min_frequency: int = 1, indicators: bool = False, sparse_output: bool = False
    ) -> None:
        self.max_words = max_words
        self.min_frequency = min_frequency
        self.indicators = indicators
        self.sparse_output = sparse_output

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Find the frequent words of each column."""
        check_whole(low=2, max_words=self.max_words)
        check_whole(min_frequency=self.min_frequency)
        found = [self._frequent(*codes_and_words(X[name])) for name in X.columns]
        self.words_ = [words for words, _ in found]
        self.has_rare_ = np.array([rare for _, rare in found], dtype=bool)
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = len(found)
        return self

    def transform(self, X: pd.DataFrame) -> Data:
        """Return codes of shape (n_samples, n_features), or indicators of shape (n_samples, number of places)."""
        check_is_fitted(self)
        places = [self._places(X[name], j) for j, name in enumerate(self.feature_names_in_)]
        if not self.indicators:
            codes = np.array(places, dtype=np.float64).reshape(len(places), len(X)).T
            return np.where(codes == NOTHING, np.nan, codes)
        return self._indicators(places, len(X))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns, or ``column_word`` of the indicators."""
        if not self.indicators:
            return self.feature_names_in_
        pairs = zip(self.feature_names_in_, self.labels(), strict=True)
        return np.array([f"{name}_{word}" for name, words in pairs for word in words], dtype=object)

    def labels(self) -> list[list[str]]:
        """Return what stands at the places of each column."""
        pairs = zip(self.words_, self.has_rare_, strict=True)
        return [[*map(str, words), *([RARE] if rare else [])] for words, rare in pairs]

    def _frequent(self, codes: Array, words: Array) -> tuple[Array, bool]:
        counts = np.bincount(codes, minlength=len(words))
        present = np.flatnonzero(counts)
        kept = present[counts[present] >= self.min_frequency]
        has_rare = len(kept) < len(present) or len(present) > self.max_words
        most = self.max_words - has_rare
        kept = np.sort(kept[np.argsort(-counts[kept], kind="stable")[:most]])
        return words[kept], bool(has_rare)

    def _places(self, column: pd.Series, j: int) -> Array:
        codes, words = codes_and_words(column)
        known = self.words_[j]
        other = len(known) if self.has_rare_[j] else NOTHING
        if not len(known):
            return np.full(len(codes), other)
        places, is_known = places_among(known, words)
        return np.where(is_known, places, other)[codes]

    def _indicators(self, places: list[Array], n_rows: int) -> Data:
        sizes = [len(words) + int(rare) for words, rare in zip(self.words_, self.has_rare_, strict=True)]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        columns = np.array(places).reshape(len(places), n_rows) + starts[:-1, None]
        seen = np.array(places).reshape(len(places), n_rows) != NOTHING
        if self.sparse_output:
            ends = np.concatenate([[0], np.cumsum(seen.sum(axis=0))])
            entries = columns.T[seen.T]  # row by row, and rising in each
            return sparse.csr_matrix((np.ones(len(entries)), entries, ends), shape=(n_rows, int(starts[-1])))
        matrix = np.zeros((n_rows, int(starts[-1])))
        for where, there in zip(columns, seen, strict=True):
            matrix[np.flatnonzero(there), where[there]] = 1.0
        return matrix


def codes_and_words(column: pd.Series) -> tuple[Array, Array]:
    """Return the place of each row's word among the words of a column, sorted, gaps among them."""
    categories = column.array if isinstance(column.dtype, pd.CategoricalDtype) else pd.Categorical(column)
    words = np.array([*map(str, categories.categories), GAP], dtype=object)
    words, places = np.unique(words, return_inverse=True)  # a word may be "missing" itself
    return places[categories.codes], words  # a gap has the code -1: the last


def places_among(known: Array, words: Array) -> tuple[Array, Array]:
    """Return where words stand among known ones, which rise, and which of them are known: of others, any place."""
    places = np.minimum(np.searchsorted(known, words), len(known) - 1)
    return places, known[places] == words
