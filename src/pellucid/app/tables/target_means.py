"""TargetMeans: words as the mean of the target in their rows, for columns of too many words to tell apart."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.app.tables.word_encoder import codes_and_words, places_among
from pellucid.core.checks import check_nonnegative, check_whole
from pellucid.core.types import Array


class TargetMeans(TransformerMixin, BaseEstimator):
    r"""Give each word the mean of the target over its rows, drawn toward the mean of all rows.

    .. math:: m_w = \frac{s\,\bar y + \sum_{i \in w} y_i}{s + n_w}

    A row that a method learns from must not know its own target. So ``fit_transform`` deals the rows into parts, and
    what it says of a part comes from the others; ``transform`` says what all rows say. A target of classes has a mean
    for each class, the share of its rows; of two classes, for the second. A word that was never seen has the mean of
    all rows, and a gap counts as a word.

    Parameters
    ----------
    strength : float, default=10.0
        :math:`s`: how many rows speak for the mean of all.
    n_parts : int, default=5
        Parts that rows are dealt into, at least 2.
    random_state : int, default=0
        Seed by which they are dealt: verify deals them again.

    Attributes
    ----------
    words_ : list of n_features ndarrays of str
        The words of each column, rising.
    means_ : list of n_features ndarrays of shape (n_words, n_means)
        What each stands for.
    mean_ : ndarray of shape (n_means,)
        The mean of all rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"city": ["Bern", "Bern", "Basel", "Basel"]})
    >>> means = TargetMeans(strength=2.0).fit(frame, np.array([1.0, 3.0, 0.0, 0.0]))
    >>> means.transform(pd.DataFrame({"city": ["Bern", "Basel", "Genf"]})).ravel()
    array([1.5, 0.5, 1. ])
    """

    words_: list[Array]
    means_: list[Array]
    mean_: Array
    n_features_in_: int
    feature_names_in_: Array

    def __init__(self, strength: float = 10.0, *, n_parts: int = 5, random_state: int = 0) -> None:
        self.strength = strength
        self.n_parts = n_parts
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Find the means from all rows."""
        return self._learn(X, _coded(X), _values(y))

    def _learn(self, X: pd.DataFrame, coded: list[tuple[Array, Array]], values: Array) -> Self:
        check_nonnegative(strength=self.strength)
        check_whole(low=2, n_parts=self.n_parts)
        self.mean_ = values.mean(axis=0)
        self.words_, self.means_ = [], []
        for codes, words in coded:
            counts = np.bincount(codes, minlength=len(words))
            self.words_.append(words[counts > 0])
            self.means_.append(self._means(codes, values, len(words), self.mean_)[counts > 0])
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = len(self.words_)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any) -> Array:  # type: ignore[override]
        """Find the means from all rows, and return for each row what the parts without it say."""
        coded, values = _coded(X), _values(y)
        self._learn(X, coded, values)
        part = np.random.default_rng(self.random_state).permutation(len(values)) % self.n_parts
        found = np.empty((len(values), self.n_features_in_, values.shape[1]))
        for j, (codes, words) in enumerate(coded):
            for one in range(self.n_parts):
                others, own = part != one, part == one
                mean = values[others].mean(axis=0) if others.any() else self.mean_
                found[own, j] = self._means(codes[others], values[others], len(words), mean)[codes[own]]
        return found.reshape(len(values), -1)

    def transform(self, X: pd.DataFrame) -> Array:
        """Return the means of the words of each row, of shape (n_samples, n_features * n_means)."""
        check_is_fitted(self)
        columns = []
        for name, known, means in zip(self.feature_names_in_, self.words_, self.means_, strict=True):
            codes, words = codes_and_words(X[name])
            places, is_known = places_among(known, words)
            columns.append(np.where(is_known[:, None], means[places], self.mean_)[codes])
        return np.concatenate(columns, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names: ``mean of column``, with a number where there are several classes."""
        several = range(len(self.mean_)) if len(self.mean_) > 1 else [None]
        pairs = ((name, one) for name in self.feature_names_in_ for one in several)
        return np.array([f"mean of {name}" + ("" if one is None else f" {one}") for name, one in pairs], dtype=object)

    def _means(self, codes: Array, values: Array, n_words: int, mean: Array) -> Array:
        counts = np.bincount(codes, minlength=n_words)
        sums = np.stack([np.bincount(codes, weights=column, minlength=n_words) for column in values.T], axis=1)
        least = max(self.strength, float(np.finfo(float).tiny))  # a word that is in no row has the mean of all
        return np.asarray((sums + least * mean) / (counts + least)[:, None])


def _coded(X: pd.DataFrame) -> list[tuple[Array, Array]]:
    return [codes_and_words(X[name]) for name in X.columns]


def _values(y: Any) -> Array:
    """Return numbers as a column, and classes as a column each, of two classes the second."""
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return np.asarray(y[:, None], dtype=np.float64)
    is_class = np.asarray(y[:, None] == np.unique(y), dtype=np.float64)
    return is_class[:, 1:] if is_class.shape[1] == 2 else is_class
