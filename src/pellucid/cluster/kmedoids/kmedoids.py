"""KMedoids: clusters around rows, by partitioning around medoids."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.cluster.agglomerative.distances import check_rows, distances_between
from pellucid.cluster.kmedoids.kmedoids_solvers import all_distances, build, partition
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.input_rules import FLOATS
from pellucid.core.types import Array, Data, MetricLike, RandomState
from pellucid.proofs.training_data import TrainingData


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CertifiedEstimator):
    r"""Clusters around rows of the data: any distance will do, as no means are taken.

    .. math:: \min_{m_1, \dots, m_K \in \{x_1, \dots, x_n\}}\ \sum_i w_i \min_k d(x_i, m_k)

    BUILD chooses rows one by one, each lowering the objective most; then a row takes the place of a medoid wherever
    that lowers the objective, until no swap does. Rows are tried in the order of their values, those of a distance
    matrix as they stand; of equal rows and equal medoids the first in this order counts.

    Parameters
    ----------
    n_clusters : int, default=8
        :math:`K`, at least 1.
    metric : str or callable, default='euclidean'
        Distance of two rows, by scikit-learn's names; 'precomputed' for a distance matrix; or a function of two rows.
    init : {'build', 'random'} or array-like of shape (n_clusters,), default='build'
        The start: by BUILD, rows drawn at random, or the numbers of given rows.
    max_iter : int, default=300
        Most sweeps over all rows.
    random_state : int, RandomState instance or None, default=None
        Where a random start comes from.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        The rows that are medoids, in the order of their values.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        These rows; not there for a distance matrix.
    labels_ : ndarray of shape (n_samples,)
        The nearest medoid of each training row; -1 for rows of weight 0.
    inertia_ : float
        The objective.
    n_iter_ : int
        Sweeps done; the last one found nothing to swap.
    certificate_ : Certificate
        No swap of a medoid with a row lowers the objective.
    trace_ : Trace
        Objective and swaps, sweep by sweep.

    Examples
    --------
    >>> model = KMedoids(2).fit([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> model.medoid_indices_, model.inertia_
    (array([1, 3]), 3.0)
    """

    medoid_indices_: Array
    cluster_centers_: Array
    labels_: Array
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: MetricLike = "euclidean",
        init: Any = "build",
        max_iter: int = 300,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances; a row of weight k counts as k rows."""
        data = self._check(X, y, sample_weight)
        check_rows(data.X, self.n_clusters, self.metric if data.kept is None else "none")
        order = self._order(data)
        weight, D = data.weights[order], all_distances(self._square(data, order), self.metric)

        def fitted(medoids: Array) -> dict[str, Any]:
            return self._found(data, order, D, medoids)

        effort = Effort(0.0, self.max_iter, self._watch(X, None, attributes=fitted, max_iter=self.max_iter))
        return self._adopt(partition(D, weight, self._start(data, order, D), effort, fitted), data)

    def predict(self, X: Data) -> Array:
        """Return the nearest medoid of each row, of equally near ones the first; X as in ``fit``."""
        return self._to_medoids(X).argmin(axis=1)

    def transform(self, X: Data) -> Array:
        """Return the distance of each row to each medoid, of shape (n_samples, n_clusters)."""
        gaps = self._to_medoids(X)
        return gaps.astype(getattr(X, "dtype", np.float64)) if getattr(X, "dtype", None) == np.float32 else gaps

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _to_medoids(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        if self._is_precomputed:
            return np.asarray(X[:, self.medoid_indices_], dtype=np.float64)
        return distances_between(X, self.cluster_centers_, self.metric)

    def _order(self, data: TrainingData) -> Array:
        """Return the rows in the order of their values, so that it does not matter how they were given."""
        return np.arange(len(data.X)) if self._is_precomputed else np.lexsort(data.X.T[::-1])

    def _square(self, data: TrainingData, order: Array) -> Array:
        """Return the rows in this order, or the distances among those that count."""
        return data.X[:, data.given_rows(order)] if self._is_precomputed else data.X[order]

    def _start(self, data: TrainingData, order: Array, D: Array) -> Array:
        if isinstance(self.init, str) and self.init == "build":
            return build(D, data.weights[order], self.n_clusters)
        if isinstance(self.init, str):
            return check_random_state(self.random_state).permutation(len(D))[: self.n_clusters].astype(np.int64)
        given = np.asarray(self.init)
        places = data.places(given.astype(np.int64)) if given.dtype.kind in "iu" and given.ndim == 1 else given
        is_right = given.shape == places.shape == (self.n_clusters,) and given.dtype.kind in "iu"
        if not is_right or len(set(given.tolist())) < len(given) or given.min() < 0 or given.max() >= data.n_given:
            raise ValueError(
                f"init must be the numbers of {self.n_clusters} different rows that have a weight, got {self.init!r}."
            )
        return np.argsort(order)[places]

    def _found(self, data: TrainingData, order: Array, D: Array, medoids: Array) -> dict[str, Any]:
        """Return the fitted attributes of some medoids, given by their places in the order of values."""
        places = np.sort(medoids)
        gaps, rows, labels = D[places], order[places], np.empty(len(order), np.int64)
        labels[order] = gaps.argmin(axis=0)
        centers = {} if self._is_precomputed else {"cluster_centers_": data.X[rows].copy()}
        return {
            "medoid_indices_": data.given_rows(rows),
            "labels_": data.spread(labels, fill=-1),
            "inertia_": float(data.weights[order] @ gaps.min(axis=0)),
            **centers,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
