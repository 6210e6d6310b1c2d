"""KMedians: clusters around medians, in Manhattan distance."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils import check_random_state

from pellucid.cluster.kmeans.kmeans_base import CenteredClusters
from pellucid.cluster.kmedians_solvers import best_medians, manhattan_distances
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Effort
from pellucid.core.input_rules import check_sample_weight
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState


class KMedians(CenteredClusters):
    r"""Clusters whose rows are near their median: k-means in Manhattan distance, which far rows pull less.

    .. math:: \min_{\mu_1, \dots, \mu_K}\ \sum_i w_i \min_k \|x_i - \mu_k\|_1

    Of centers at the same distance the first is the nearest. Between two middle values the median is halfway. A cluster
    that loses all its rows gets the row that is farthest from its own center. The answer is a local minimum.

    Parameters
    ----------
    n_clusters : int, default=8
        :math:`K`, at least 1.
    init : str, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The start: 'k-means++', 'random', 'random-partition', 'furthest-first', 'k-log-k' as in KMeans, a function of
        rows, number and random state, or centers.
    n_init : 'auto' or int, default='auto'
        Starts, of which the best end is kept; 'auto' is 1 for 'k-means++' or given centers, 10 otherwise.
    max_iter : int, default=300
        Most rounds of each start.
    random_state : int, RandomState instance or None, default=None
        Where the start comes from.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        :math:`\mu_k`.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each training row; -1 for rows of weight 0.
    inertia_ : float
        The objective.
    n_iter_ : int
        Rounds of the best start.
    certificate_ : Certificate
        Every row is with its nearest center, every center is the median of its rows.
    trace_ : Trace
        Objective and rows that changed their cluster, round by round.

    Examples
    --------
    >>> model = KMedians(2, init=[[0.0], [9.0]]).fit([[0.0], [1.0], [2.0], [8.0], [90.0]])
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([ 1.5, 90. ]), 9.0)
    """

    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); a row of weight k counts as k rows."""
        data = self._check_rows(X, y, sample_weight)
        watch = self._watch(X, None, attributes=lambda centers: {"cluster_centers_": centers}, max_iter=self.max_iter)
        rng = check_random_state(self.random_state)
        effort = Effort(0.0, self.max_iter, watch)
        self._adopt(best_medians(data, lambda: self._start(data, rng), self._start_count(), effort), data)
        self._warn_of_empty_clusters()
        return self

    def predict(self, X: Data) -> Array:
        """Return the nearest center of each row; of equally near ones the first."""
        return self._to_centers(X).argmin(axis=1).astype("int32")

    def transform(self, X: Data) -> Array:
        """Return the Manhattan distance of each row to each center, of shape (n_samples, n_clusters)."""
        return self._to_centers(X).astype(self._check_new(X).dtype)

    def score(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> float:
        """Return minus the objective of the rows: the larger, the nearer they are to their centers."""
        nearest = self._to_centers(X).min(axis=1)
        weight = check_sample_weight(sample_weight, nearest[:, None])
        return -float(nearest.sum() if weight is None else weight @ nearest)

    def _to_centers(self, X: Data) -> Array:
        X = self._check_new(X)
        with own_threads():
            return manhattan_distances(X, self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
