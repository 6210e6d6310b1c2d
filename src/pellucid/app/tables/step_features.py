"""StepFeatures: numbers as steps, so that a linear method can follow any curve of one column."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data

STEP = " > "
"""Between the name of a column and a threshold."""


class StepFeatures(TransformerMixin, BaseEstimator):
    r"""Add to each number the indicators of exceeding the thresholds of its column.

    .. math:: x \mapsto (x, [x > t_1], \dots, [x > t_k])

    The thresholds lie halfway between neighboring values such that the rows between them are about equally many; a
    value held by many rows counts as one step's worth of them, so that the rest of the column gets steps too.

    Parameters
    ----------
    n_steps : int, default=40
        Most steps per column, at least 1.

    Attributes
    ----------
    thresholds_ : list of n_features ndarrays
        The thresholds of each column, rising; none for a column with two values, which is a step already.

    Examples
    --------
    >>> StepFeatures(n_steps=3).fit_transform([[0.0], [0.0], [1.0], [5.0]])
    array([[0., 0., 0.],
           [0., 0., 0.],
           [1., 1., 0.],
           [5., 1., 1.]])
    """

    thresholds_: list[Array]

    def __init__(self, n_steps: int = 40) -> None:
        self.n_steps = n_steps

    def fit(self, X: Data, y: Any = None) -> Self:
        """Choose the thresholds of every column."""
        check_whole(n_steps=self.n_steps)
        X = validate_data(self, X, dtype=np.float64)
        self.thresholds_ = [_thresholds(column, self.n_steps) for column in X.T]
        return self

    def transform(self, X: Data) -> Array:
        """Return the numbers and their steps, of shape (n_samples, n_features + number of thresholds)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        steps = [column[:, None] > edges for column, edges in zip(X.T, self.thresholds_, strict=True)]
        return np.hstack([X, *steps])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names: the columns', then ``name > threshold``."""
        given = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else [str(name) for name in given]
        pairs = zip(names, self.thresholds_, strict=True)
        return np.array([*names, *(f"{name}{STEP}{edge:.6g}" for name, edges in pairs for edge in edges)], dtype=object)


def _thresholds(column: Array, n_steps: int) -> Array:
    values, counts = np.unique(column, return_counts=True)
    if len(values) <= 2:
        return np.empty(0)
    reached = np.cumsum(np.minimum(counts, len(column) / n_steps))
    places = np.unique(np.searchsorted(reached, reached[-1] * np.arange(1, n_steps) / n_steps))
    places = places[places < len(values) - 1]
    return values[places] + (values[places + 1] - values[places]) / 2
