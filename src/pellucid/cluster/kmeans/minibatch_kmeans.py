"""MiniBatchKMeans: k-means from small batches of rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from pellucid.cluster.kmeans.center_answers import (
    FEW_ROWS,
    NOTHING,
    ClusterSums,
    labels_claim,
    mean_variance,
    nearest_centers,
    own_distances,
    with_gap,
)
from pellucid.cluster.kmeans.kmeans_base import CenteredClusters
from pellucid.cluster.kmeans.minibatch_kmeans_solvers import (
    Batches,
    BatchRules,
    BatchState,
    best_start,
    learn_batch,
    learn_batches,
)
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.partial_fit import partial_fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_user
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.training_data import TrainingData

STEP = 0.05
"""Part of the objective that one step over all rows may save after large batches."""
ONE_PASS = "The batches have drawn no more rows than there are: nothing is claimed of how far the centers have come."


class MiniBatchKMeans(CenteredClusters):
    r"""k-means from batches: each pulls the centers towards the means of its rows, so a center is a mean over time.

    Far less work than :class:`KMeans` for many rows, for an objective that is a little larger. Batches are drawn by
    the weights of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        :math:`K`, at least 1.
    init : str, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The start, as in :class:`KMeans`, from ``init_size`` rows.
    max_iter : int, default=100
        Most passes over the data, in rows drawn.
    batch_size : int, default=1024
        Rows of a batch.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    compute_labels : bool, default=True
        Whether to assign all rows in the end.
    random_state : int, RandomState instance or None, default=None
        Where start and batches come from.
    tol : float, default=0.0
        Sum of squared moves of the centers at which to stop, as a part of the mean variance of the features; 0: never.
    max_no_improvement : int or None, default=10
        Batches in a row that do not lower the smoothed objective after which to stop.
    init_size : int or None, default=None
        Rows that a start is made from; None is three batches, or three for each cluster if that is more.
    n_init : 'auto' or int, default='auto'
        Starts, of which the best is kept; 'auto' is 1 for 'k-means++' and given centers, 3 otherwise.
    reassignment_ratio : float, default=0.01
        Centers with less than this part of the rows of the largest are drawn anew.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        :math:`\mu_k`.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each training row; not there without ``compute_labels``.
    inertia_ : float
        The objective; without ``compute_labels`` guessed from the batches.
    counts_ : ndarray of shape (n_clusters,)
        The weight of the rows that each center is the mean of; ``partial_fit`` goes on from here.
    n_iter_, n_steps_ : int
        Passes over the data, and batches.
    certificate_ : Certificate
        Labels and objective are right, how much one step over all rows would save, and the best clustering of all.
    trace_ : Trace
        The mean squared distance of each batch, and how far the centers moved.

    Examples
    --------
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> sorted(MiniBatchKMeans(2, random_state=0, batch_size=4).fit(X).labels_.tolist())
    [0, 0, 1, 1]
    """

    _starts_of_random_kinds: ClassVar[int] = 3

    counts_: Array
    n_iter_: int
    n_steps_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: RandomState = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: Any = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    @fit_method
    def fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features); a row of weight k counts as k rows."""
        data = self._check_rows(X, y, sample_weight)
        rng, batches = check_random_state(self.random_state), Batches(data)
        n = batches.n_different  # neither repetitions nor the unit of the weights matter
        batch_size = min(self.batch_size, n)
        watch = self._watch(X, None, attributes=lambda centers: {"cluster_centers_": centers})
        centers = best_start(
            data, batches, lambda some: self._start(some, rng), self._start_count(), self._start_rows(n), rng
        )
        state = BatchState(centers, np.zeros(self.n_clusters))
        goal = self.tol * mean_variance(data) if self.tol > 0.0 else 0.0
        rules = BatchRules(batch_size, self.max_iter, goal, self.max_no_improvement, self.reassignment_ratio, watch)
        trace, progress, stopped = learn_batches(data, batches, state, rules, rng)
        rough, n_iter = (progress.mean or 0.0) * float(data.weights.sum()), math.ceil(len(trace) * batch_size / n)
        attributes, certificate = self._judged(data, state, rough, n_iter)
        attributes |= {"n_iter_": n_iter, "n_steps_": len(trace)}
        self._adopt(Fit(attributes, trace, stopped, certificate), data)
        return self

    @partial_fit_method
    def partial_fit(self, X: Data, y: Data = None, sample_weight: Data | None = None) -> Self:
        """Go on with one more batch; the first call makes the start from it. Labels are those of this batch."""
        is_first = not hasattr(self, "cluster_centers_")
        data = self._check(X, y, sample_weight, reset=is_first)
        rng = check_random_state(self.random_state)
        if is_first:
            data = self._check_rows(X, y, sample_weight)
            centers = best_start(
                data, Batches(data), lambda some: self._start(some, rng), self._start_count(), len(data.weights), rng
            )
            state = BatchState(centers, np.zeros(self.n_clusters))
        else:
            state = BatchState(self.cluster_centers_.astype(np.float64), self.counts_)
        objective = learn_batch(data.X, data.weight, state, self.reassignment_ratio, rng)
        trace, step = Trace(), getattr(self, "n_steps_", 0) + 1
        trace.add(iteration=step, objective=objective / float(data.weights.sum()))
        attributes, certificate = self._judged(data, state, objective, n_iter=1)
        attributes |= {"n_iter_": 1, "n_steps_": step}
        earlier = [self.trace_] if not is_first else []
        return self._adopt(Fit(attributes, Trace.joined([*earlier, trace]), "", certificate), data)

    def _judged(
        self, data: TrainingData, state: BatchState, rough: float, n_iter: int
    ) -> tuple[dict[str, Any], Certificate | None]:
        """Return the attributes, with the labels of all rows if asked, and what is known of them."""
        centers = state.centers.astype(data.X.dtype)
        attributes: dict[str, Any] = {"cluster_centers_": centers, "counts_": state.counts, "inertia_": rough}
        if not self.compute_labels:
            return attributes, None
        nearest = nearest_centers(data.X, centers)
        weight = NOTHING if data.weight is None else data.weight
        inertia = own_distances(nearest.rows, weight, nearest.centers, nearest.bounds.labels)
        sums = ClusterSums(nearest.rows, data.weight, self.n_clusters)
        sums.gather(nearest.bounds.labels)
        saved = float(sums.totals @ np.sum((sums.means(nearest.centers) - nearest.centers) ** 2, axis=1))
        attributes |= {"labels_": data.spread(nearest.names, fill=-1), "inertia_": inertia}
        if len(nearest.names) <= FEW_ROWS:
            return attributes, None
        claims = [labels_claim(data.X, centers, nearest.names)]
        certificate = Certificate("none", tuple(claims), ONE_PASS)
        if n_iter > 1:
            allowed = STEP + 0.5 * self.n_clusters / min(self.batch_size, len(nearest.names))
            statement = "part of the objective that moving the centers to the means of all their rows would save"
            value = saved / inertia if inertia > 0.0 else saved
            step = Claim("step", statement, value, allowed, "Raise max_iter, max_no_improvement or batch_size.")
            certificate = Certificate("bounded", (*claims, step))
        return attributes, with_gap(certificate, inertia, data.X, self.n_clusters, data.weight)

    def _start_rows(self, n: int) -> int:
        """Return how many rows a start is made from."""
        size = self.init_size
        if size is not None and size < self.n_clusters:
            warn_user(
                f"init_size should be at least n_clusters, got init_size={size} should be larger than n_clusters="
                f"{self.n_clusters}. Three rows for each cluster are taken.",
                RuntimeWarning,
            )
            size = 3 * self.n_clusters
        if size is None:
            size = 3 * min(self.batch_size, n)
            size = 3 * self.n_clusters if size < self.n_clusters else size
        return min(size, n)
