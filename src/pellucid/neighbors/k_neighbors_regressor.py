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
    n_neighbors : int, default=5
        k, at least 1.
    weights : {'uniform', 'distance', 'exponential'}, callable or None, default='uniform'
        v: 1, 1/d, exp(-rate d), or a function that maps distances of shape (n_queries, k) to weights.
    algorithm : {'auto', 'ball_tree', 'kd_tree', 'brute'}, default='auto'
        'auto' takes a kd-tree for up to 8 features, 15 if p is not 2. 'ball_tree' is answered by a kd-tree, or by brute
        force where the metric is no norm.
    leaf_size : int, default=30
        Most rows in a leaf of the tree.
    p : float, default=2
        Power of the Minkowski metric, above 0 and possibly infinite.
    metric : str, callable or :class:`Similarity`, default='minkowski'
        A name in ``sklearn.neighbors.VALID_METRICS``, 'precomputed', or a function of two rows.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        For compatibility; searches use all threads (see ``OMP_NUM_THREADS``).
    rate : float, default=1.0
        Of ``weights='exponential'``, above 0.

    Attributes
    ----------
    effective_metric_, effective_metric_params_ : str or callable, dict
        The metric as it is used: 'minkowski' with p = 2 is 'euclidean'.
    n_samples_fit_ : int
        Training rows.
    certificate_
        That data and tree are whole (``verify`` also rechecks neighbors by brute force); a row per level of the tree.
    trace_
        That data and tree are whole (``verify`` also rechecks neighbors by brute force); a row per level of the tree.

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
