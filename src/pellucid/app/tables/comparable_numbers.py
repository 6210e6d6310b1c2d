"""ComparableNumbers: columns in one unit, so that distances of rows mean something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import NUMBER, Columns, understand
from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data


class ComparableNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Count each number from the median of its column, in standard deviations, and no farther than a limit.

    .. math:: x \mapsto \min(\max((x - m) / s, -c), c)

    A gap becomes 0. The limit keeps a few far values from being all that distances are about.

    Parameters
    ----------
    limit : float, default=3.0
        :math:`c`, above 0.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features,)
        :math:`m` and :math:`s`; 0 and 1 for a column without values, a scale of 1 for one that never changes.

    Examples
    --------
    The median is 2, the standard deviation 3.

    >>> ComparableNumbers(limit=1.5).fit_transform([[0.0], [2.0], [np.nan], [2.0], [8.0]]).round(2).ravel()
    array([-0.67,  0.  ,  0.  ,  0.  ,  1.5 ])
    """

    center_: Array
    scale_: Array

    def __init__(self, limit: float = 3.0) -> None:
        self.limit = limit

    def fit(self, X: Data, y: Any = None) -> Self:
        """Find median and standard deviation of every column."""
        check_positive(limit=self.limit)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.center_, self.scale_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for j, column in enumerate(X.T):
            present = column[~np.isnan(column)]
            if len(present):
                self.center_[j] = np.median(present)
                size = float(np.abs(present - self.center_[j]).max())
                spread = float(np.std(present / size)) * size if size > 0.0 else 0.0
                self.scale_[j] = spread if spread > 0.0 else 1.0
        return self

    def transform(self, X: Data) -> Array:
        """Return the numbers in one unit, without gaps."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return np.nan_to_num(np.clip((X - self.center_) / self.scale_, -self.limit, self.limit))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def understand_chosen(table: pd.DataFrame, drop: Sequence[str], keep: Sequence[str], *, coerce: bool) -> Columns:
    """Return what the columns are, without those to ``drop`` and with those to ``keep`` although they look like ids."""
    unknown = [name for name in (*drop, *keep) if name not in table.columns]
    if unknown:
        raise TableError(f"drop and keep must name columns of the table {list(table.columns)}, got {unknown}.")
    others = table.drop(columns=[*drop, *keep])
    found = understand(others, None, coerce=coerce) if len(others.columns) or not keep else Columns({}, {})
    kept = {name: NUMBER if pd.api.types.is_numeric_dtype(table[name]) else "words" for name in keep}
    return Columns({**found.kinds, **kept}, {**found.left_out, **dict.fromkeys(drop, "you said so")})
