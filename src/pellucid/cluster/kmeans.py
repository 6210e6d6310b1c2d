"""KMeans: clusters around means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.cluster.kmeans_line import best_line_centers
from pellucid.cluster.kmeans_solvers import assign_rows, best_lloyd, center_distances, lloyd, score_rows
from pellucid.cluster.kmeans_starts import STARTS
from pellucid.core.effort import Effort
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.threads import own_threads
from pellucid.core.training_data import FLOATS, TrainingData
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.core.weights import check_sample_weight


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CertifiedEstimator):
    r"""Clusters whose rows are near their mean, by Lloyd's method.

    .. math:: \min_{\mu_1, \dots, \mu_K}\ \sum_i w_i \min_k \|x_i - \mu_k\|^2

    Of centers at the same distance the first is the nearest. A cluster that loses all its rows gets the row that is
    farthest from its own center. The answer is a local minimum: which one depends on the start.

    Parameters
    ----------
    n_clusters : int, default=8
        :math:`K`, at least 1.
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The start: rows drawn far from each other, rows drawn at random, what ``init(X, n_clusters, random_state)``
        returns, or given centers.
    n_init : 'auto' or int, default='auto'
        Starts, of which the best end is kept; 'auto' is 10 for 'random' or a callable, 1 otherwise.
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
        Every row is with its nearest center, every center is the mean of its rows.
    trace_ : Trace
        Objective, rows that changed their cluster and how far centers moved, round by round.

    Examples
    --------
    >>> model = KMeans(2, init=[[0.0], [1.0]]).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([0.5, 8.5]), 1.0)
    """

    cluster_centers_: Array
    labels_: Array
    inertia_: float
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
        data = self._check(X, y, sample_weight)
        if data.X.shape[0] < self.n_clusters:
            raise ValueError(
                f"n_samples must be at least n_clusters, got n_samples={data.X.shape[0]} and "
                f"n_clusters={self.n_clusters}. Ask for fewer clusters."
            )
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

    def predict(self, X: Data) -> Array:
        """Return the nearest center of each row; of equally near ones the first."""
        X = self._check_new(X)
        with own_threads():
            return assign_rows(X, self.cluster_centers_)

    def transform(self, X: Data) -> Array:
        """Return the distance of each row to each center, of shape (n_samples, n_clusters)."""
        X = self._check_new(X)
        return center_distances(X, self.cluster_centers_).astype(X.dtype)

    def score(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> float:
        """Return minus the objective of the rows: the larger, the nearer they are to their centers."""
        X = self._check_new(X)
        weight = check_sample_weight(sample_weight, X)
        with own_threads():
            return -score_rows(X, weight, self.cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _check_new(self, X: Data) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, order="C", reset=False)

    def _start_count(self) -> int:
        if hasattr(self.init, "__array__") or isinstance(self.init, (list, tuple)):
            if self.n_init not in ("auto", 1):
                warn_user(
                    f"n_init should be 1 for given centers, got {self.n_init}. One start is made.", RuntimeWarning
                )
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init == "k-means++" else 10
        return int(self.n_init)

    def _start(self, data: TrainingData, rng: np.random.RandomState) -> Array:
        if isinstance(self.init, str):
            return STARTS[self.init](data, self.n_clusters, rng)
        given = self.init(data.X, self.n_clusters, random_state=rng) if callable(self.init) else self.init
        centers = np.array(given, dtype=np.float64)
        if centers.shape != (self.n_clusters, data.X.shape[1]) or not np.isfinite(centers).all():
            raise ValueError(
                f"init must be finite numbers of shape ({self.n_clusters}, {data.X.shape[1]}), got shape "
                f"{centers.shape}. The shape of the initial centers must match n_clusters and the features of X."
            )
        return centers

    def _warn_of_empty_clusters(self) -> None:
        used = len(np.unique(self.labels_[self.labels_ >= 0]))
        if used < self.n_clusters and self.inertia_ == 0.0:
            warn_user(
                f"n_clusters should be at most the number of different rows: only {used} of {self.n_clusters} clusters "
                "have rows. Ask for fewer clusters.",
                ConvergenceWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
