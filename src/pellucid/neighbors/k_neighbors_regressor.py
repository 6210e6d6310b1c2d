"""KNeighborsRegressor: the mean target of the nearest training rows."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import RegressorMixin

from pellucid.core.estimator import fit_method
from pellucid.core.types import Array, Data
from pellucid.neighbors.k_neighbors import KNeighbors
from pellucid.neighbors.metric import vote_weights
from pellucid.neighbors.rows_in_blocks import Neighbors


class KNeighborsRegressor(RegressorMixin, KNeighbors):
    r"""Regression by a weighted mean over the k nearest training rows.

    .. math:: \hat{y}(q) = \frac{\sum_{i \in N_k(q)} v(d(q, x_i))\, y_i}{\sum_{i \in N_k(q)} v(d(q, x_i))}

    Of equal distances the lower row number is nearer.

    Parameters
    ----------
    n_neighbors, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs, rate
        As in :class:`KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_, effective_metric_params_, n_samples_fit_, certificate_, trace_
        As in :class:`KNeighborsClassifier`.

    Examples
    --------
    >>> model = KNeighborsRegressor(2, weights="distance").fit([[0.0], [3.0], [9.0]], [0.0, 6.0, 9.0])
    >>> model.predict([[1.0]])  # distances 1 and 2, weights 1 and 1/2
    array([2.])
    """

    @fit_method
    def fit(self, X: Data, y: Data) -> Self:
        """Store ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_outputs)."""
        data = self._check(X, y)
        targets = data.y if data.y.dtype.kind == "f" else data.y.astype(np.float64)
        return self._adopt(self._stored(data, _y=targets), data)

    def predict(self, X: Data) -> Array:
        """Return the means, of shape (n_queries,) or (n_queries, n_outputs).

        With ``X=None`` each training row is predicted from the others.
        """
        return self._predict_of(self._nearest(X))

    def _predict_of(self, found: Neighbors) -> Array:
        weights = vote_weights(found.distances, self.weights, self.rate)
        targets = found.targets  # (n_queries, k) or (n_queries, k, n_outputs)
        if weights is None:
            return targets.mean(axis=1)
        weights = weights if targets.ndim == 2 else weights[:, :, None]
        return (targets * weights).sum(axis=1) / weights.sum(axis=1)

    def score(self, X: Data, y: Data, sample_weight: Data | None = None) -> float:
        """Return R squared; with ``X=None``, by leaving out one training row at a time."""
        return float(super().score(X, y, sample_weight))
