"""KMeans: clusters around means."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils import check_random_state

from pellucid.cluster.kmeans.kmeans_base import CenteredClusters
from pellucid.cluster.kmeans.kmeans_line import best_line_centers
from pellucid.cluster.kmeans.kmeans_solvers import best_lloyd, lloyd
from pellucid.core.effort import Effort
from pellucid.core.estimator import fit_method
from pellucid.core.types import Data


class KMeans(CenteredClusters):
    r"""Clusters whose rows are near their mean, by Lloyd's method.

    .. math:: \min_{\mu_1, \dots, \mu_K}\ \sum_i w_i \min_k \|x_i - \mu_k\|^2

    Of centers at the same distance the first is the nearest. A cluster that loses all its rows gets the row that is
    farthest from its own center. The answer is a local minimum: which one depends on the start.

    Parameters
    ----------
    n_clusters : int, default=8
        :math:`K`, at least 1.
    init : str, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The start: 'k-means++', rows drawn far from each other; 'random', rows drawn at random; 'random-partition',
        the means of clusters that rows are thrown into; 'furthest-first', again and again the row farthest from all
        before it; 'k-log-k', the means of K log K random rows merged to K groups; what
        ``init(X, n_clusters, random_state)`` returns; or given centers. One column needs no start: unless centers
        are given, its best clustering of all is found by dynamic programming.
    n_init : 'auto' or int, default='auto'
        Starts, of which the best end is kept; 'auto' is 1 for 'k-means++' and given centers, 10 otherwise.
    max_iter : int, default=300
        Most rounds of each start.
    tol : float, default=1e-4
        Sum of squared moves of the centers at which to stop, as a part of the mean variance of the features.
    verbose : int, default=0
        Kept for compatibility: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Where the start comes from.
    copy_x : bool, default=True
        Kept for compatibility: ``X`` is never changed.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Kept for compatibility: both names mean the same method, as both have the same answer.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        :math:`\mu_k`.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each training row.
    inertia_ : float
        The objective.
    n_iter_ : int
        Rounds of the best start.
    certificate_ : Certificate
        Every row is with its nearest center, every center is the mean of its rows; and how much, at most, the best
        clustering of all could save. ``pellucid.verify`` finds a tighter bound than the fit takes time for.
    trace_ : Trace
        Objective, rows that changed their cluster and how far centers moved, round by round.

    Examples
    --------
    >>> model = KMeans(2, init=[[0.0], [1.0]]).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([0.5, 8.5]), 1.0)
    """

    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); a row of weight k counts as k rows."""
        data = self._check_rows(X, y, sample_weight)
        watch = self._watch(X, None, attributes=lambda centers: {"cluster_centers_": centers}, max_iter=self.max_iter)
        effort = Effort(self.tol, self.max_iter, watch)
        rng = check_random_state(self.random_state)
        best = best_line_centers(data, self.n_clusters) if isinstance(self.init, str) else None
        if best is None:
            self._adopt(best_lloyd(data, lambda: self._start(data, rng), self._start_count(), effort), data)
        else:
            self._adopt(lloyd(data, best[0], effort, least=best[1]), data)
        self._warn_of_empty_clusters()
        return self
