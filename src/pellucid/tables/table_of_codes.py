"""TableOfCodes: the matrix that trees see, as the table it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import validate_data

from pellucid.core.types import Data


class TableOfCodes(TransformerMixin, BaseEstimator):
    """Give the columns of a matrix of codes and numbers their names and kinds back, so that it can be prepared anew.

    Methods of different preparations can then share one matrix: that of trees, which loses nothing but rare words.

    Parameters
    ----------
    words : sequence of str, default=()
        Names of the first columns, whose codes become words; nan becomes a gap.
    numbers : sequence of str, default=()
        Names of the others.

    Examples
    --------
    >>> TableOfCodes(["city"], ["size"]).fit_transform([[1.0, 2.5], [np.nan, 3.0]])
      city  size
    0    1   2.5
    1  NaN   3.0
    """

    n_features_in_: int

    def __init__(self, words: Sequence[str] = (), numbers: Sequence[str] = ()) -> None:
        self.words = words
        self.numbers = numbers

    def fit(self, X: Data, y: Any = None) -> Self:
        """See that there is a column for every name."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        n_names = len(self.words) + len(self.numbers)
        if X.shape[1] != n_names:
            raise ValueError(f"words and numbers must name all {X.shape[1]} columns, got {n_names} names.")
        return self

    def transform(self, X: Data) -> pd.DataFrame:
        """Return the table."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        table: dict[str, Any] = {}
        for name, codes in zip(self.words, X.T, strict=False):
            places = np.where(np.isnan(codes), -1, codes).astype(np.int64)
            known = [str(place) for place in range(int(places.max(initial=-1)) + 1)]
            table[name] = pd.Categorical.from_codes(places, known)
        table.update(zip(self.numbers, X.T[len(self.words) :], strict=True))
        return pd.DataFrame(table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
