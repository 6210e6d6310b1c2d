"""KMeans: clusters around means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_array, check_random_state

from pellucid.cluster.kmeans.kmeans_base import CenteredClusters
from pellucid.cluster.kmeans.kmeans_solvers import best_line_centers, best_lloyd, lloyd
from pellucid.cluster.kmeans.kmeans_starts import draw_far_rows
from pellucid.core.checks import check_whole
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Effort
from pellucid.core.input_rules import FLOATS, check_sample_weight
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data, RandomState
from pellucid.proofs.training_data import TrainingData


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
        Nothing is printed, whatever it is: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Where the start comes from.
    copy_x : bool, default=True
        Nothing changes: ``X`` is never changed.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Nothing changes: both names mean the same method, as both have the same answer.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        :math:`\mu_k`.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each training row; of rows in blocks, ``predict`` tells it.
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
        random_state: RandomState = None,
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


def k_means(
    X: Data,
    n_clusters: int,
    *,
    sample_weight: Data | None = None,
    init: Any = "k-means++",
    n_init: Any = "auto",
    max_iter: int = 300,
    verbose: int = 0,
    tol: float = 1e-4,
    random_state: RandomState = None,
    copy_x: bool = True,
    algorithm: str = "lloyd",
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """Return centers, labels and objective of :class:`KMeans`, and its rounds if asked.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        Centers to find, at least 1.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row stands there; None is once.
    init : str, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The start: one of the names, functions and tables that :class:`KMeans` knows.
    n_init : 'auto' or int, default='auto'
        Starts, of which the best end is kept; 'auto' goes by ``init``.
    max_iter : int, default=300
        Most rounds of a start.
    verbose : int, default=0
        Nothing changes: nothing is printed.
    tol : float, default=1e-4
        Squared moves of the centers, summed, that end the rounds, in parts of the mean variance of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    copy_x : bool, default=True
        Nothing changes: ``X`` is never changed.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Nothing changes: both are names of the same method.
    return_n_iter : bool, default=False
        Whether to return the rounds as well.

    Examples
    --------
    >>> k_means([[0.0], [1.0], [8.0], [9.0]], 2)[1].tolist()
    [0, 0, 1, 1]
    """
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        tol=tol,
        verbose=verbose,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)
    found = (model.cluster_centers_, model.labels_, model.inertia_)
    return (*found, model.n_iter_) if return_n_iter else found


def kmeans_plusplus(
    X: Data,
    n_clusters: int,
    *,
    sample_weight: Data | None = None,
    x_squared_norms: Data | None = None,
    random_state: RandomState = None,
    n_local_trials: int | None = None,
) -> tuple[Array, Array]:
    """Return rows drawn far from each other, and which rows of ``X`` they are.

    Each is drawn by its weight times its squared distance to those before, the best of a few.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        Rows to draw, at most as many as there are.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row stands there; one of weight 0 is never drawn.
    x_squared_norms : array-like of shape (n_samples,), default=None
        Nothing changes: only its length is checked.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    n_local_trials : int, default=None
        Rows tried for each center, at least 1; None is 4, or 8 from 55 clusters on.

    Examples
    --------
    >>> centers, rows = kmeans_plusplus([[0.0], [0.0], [9.0]], 2, random_state=0)
    >>> sorted(centers.ravel().tolist())
    [0.0, 9.0]
    """
    rows = check_array(X, accept_sparse="csr", dtype=FLOATS, order="C")
    weight = check_sample_weight(sample_weight, rows)
    check_whole(n_clusters=n_clusters, n_local_trials=1 if n_local_trials is None else n_local_trials)
    if rows.shape[0] < n_clusters:
        raise ValueError(
            f"n_samples must be at least n_clusters, got n_samples={rows.shape[0]} should be >= "
            f"n_clusters={n_clusters}. Ask for fewer clusters."
        )
    if x_squared_norms is not None and len(check_array(x_squared_norms, ensure_2d=False)) != rows.shape[0]:
        raise ValueError(
            f"x_squared_norms must have the length of X, {rows.shape[0]}, got {len(x_squared_norms)}. (The length of "
            "x_squared_norms should be equal to the length of n_samples.) Leave it out."
        )
    kept = np.arange(rows.shape[0]) if weight is None else np.flatnonzero(weight)
    if len(kept) < rows.shape[0]:
        rows, weight = rows[kept], weight[kept]  # type: ignore[index]  # there are weights, some of them 0
    with own_threads():
        drawn = draw_far_rows(
            TrainingData(rows, weight=weight), n_clusters, check_random_state(random_state), n_local_trials
        )
    return drawn.centers.astype(rows.dtype), kept[drawn.indices].astype(np.int64)
