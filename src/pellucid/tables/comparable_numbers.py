"""ComparableNumbers: columns in one unit, so that distances of rows mean something."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

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
    >>> ComparableNumbers(limit=1.5).fit_transform([[0.0], [2.0], [np.nan], [4.0], [4.0], [90.0]]).round(2).ravel()
    array([-0.12, -0.06,  0.  ,  0.  ,  0.  ,  1.5 ])
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
