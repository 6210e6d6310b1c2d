"""SoftKMeans: clusters to which every row belongs in part."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from pellucid.cluster.kmeans.kmeans_base import CenteredClusters
from pellucid.cluster.soft_kmeans_solvers import best_soft_kmeans, soft_answers
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Effort
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState


class SoftKMeans(CenteredClusters):
    r"""Clusters that share out every row: Gaussians of equal weights and the covariance :math:`I/\beta`, by EM.

    .. math:: \max_{\mu}\ \frac1n \sum_i \log \frac1K \sum_k N(x_i;\, \mu_k, I/\beta), \qquad
              r_{ik} = \frac{e^{-\beta \|x_i - \mu_k\|^2 / 2}}{\sum_l e^{-\beta \|x_i - \mu_l\|^2 / 2}}

    A step takes the responsibilities :math:`r_{ik}`, then the means of the rows so shared out. The larger the stiffness
    :math:`\beta`, the nearer this is to :class:`KMeans`; where :math:`1/\beta` is above the largest variance of the
    data, all centers meet in their mean. The answer is a local maximum: which one depends on the start.

    Parameters
    ----------
    n_clusters : int, default=8
        :math:`K`, at least 1.
    beta : float, default=1.0
        The stiffness :math:`\beta`, above 0: one over the variance of each cluster, in the units of the data.
    init : str, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The start, as in :class:`KMeans`.
    n_init : 'auto' or int, default='auto'
        Starts, of which the best end is kept; 'auto' is 1 for 'k-means++' or given centers, 10 otherwise.
    max_iter : int, default=1000
        Most steps of each start.
    tol : float, default=1e-7
        Rise of the mean log likelihood by a step at which to stop.
    random_state : int, RandomState instance or None, default=None
        Where the start comes from.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        :math:`\mu_k`.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows of each cluster, parts of rows added up, from which its center was taken.
    labels_ : ndarray of shape (n_samples,)
        The most responsible center of each training row, which is the nearest; -1 for a row of weight 0.
    log_likelihood_, lower_bound_, lower_bounds_ : float, float, list of float
        Mean log density of the training rows, the same before the last step, and before each.
    n_iter_ : int
        Steps done.
    certificate_ : Certificate
        One more step gains no more than ``tol``, and the likelihood does not curve upward.
    trace_ : Trace
        Minus the lower bound, its rise and how far the centers moved, step by step.

    Examples
    --------
    >>> model = SoftKMeans(2, init=[[0.0], [9.0]]).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> model.cluster_centers_.ravel().round(3)
    array([0.5, 8.5])
    >>> model.predict_proba([[4.5], [4.0]]).round(3).tolist()
    [[0.5, 0.5], [0.982, 0.018]]
    """

    cluster_sizes_: Array
    log_likelihood_: float
    lower_bound_: float
    lower_bounds_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        beta: float = 1.0,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta = beta
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); a row of weight k counts as k rows."""
        data = self._check_rows(X, y, sample_weight)
        watch = self._watch(X, None, attributes=lambda centers: {"cluster_centers_": centers}, max_iter=self.max_iter)
        rng = check_random_state(self.random_state)
        effort = Effort(self.tol, self.max_iter, watch)
        found = best_soft_kmeans(data, lambda: self._start(data, rng), self._start_count(), self, effort)
        return self._adopt(found, data)

    def predict_proba(self, X: Data) -> Array:
        """Return the responsibilities of shape (n_samples, n_clusters)."""
        return self._answers(self._check_new(X))

    def score_samples(self, X: Data) -> Array:
        """Return the log density of each row."""
        X = self._check_new(X)
        with own_threads():
            return soft_answers(X, self.cluster_centers_, self.beta)[0]

    def score(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> float:
        """Return the mean log density of the rows, weighted."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

    def _answers(self, X: Array) -> Array:
        with own_threads():
            return np.asarray(soft_answers(X, self.cluster_centers_, self.beta)[1].astype(X.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
