"""Diana: divisive analysis, a tree of clusters from the top down."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.cluster.agglomerative.dendrogram import Dendrogram, cut, scipy_tree
from pellucid.cluster.agglomerative.distances import check_rows, distance_matrix
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, MetricLike
from pellucid.proofs.rounding import sum_error


class Diana(ClusterMixin, CertifiedEstimator):
    r"""A tree of clusters from the top: the widest cluster is split, again and again (Kaufman and Rousseeuw).

    The row with the largest mean distance to the others of its cluster leaves it. Then the row that is nearer to those
    that left than to those that stayed, by the largest difference of mean distances, follows, as long as there is one:

    .. math:: \max_{i \in R}\ \frac{1}{|R| - 1} \sum_{j \in R} d_{ij} - \frac{1}{|S|} \sum_{j \in S} d_{ij} > 0

    Of equal rows the first leaves; of equally wide clusters the one with the first row is split.

    Parameters
    ----------
    n_clusters : int, default=2
        Clusters to find, at least 1.
    metric : str or callable, default='euclidean'
        Distance of two rows, by scikit-learn's names; 'precomputed' for a distance matrix; or a function of all rows
        that returns one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    children_ : ndarray of shape (n_samples - 1, 2)
        The tree as that of AgglomerativeClustering: the last split comes first, and node ``n_samples + i`` has the two
        parts ``children_[i]``.
    distances_ : ndarray of shape (n_samples - 1,)
        The largest distance in the cluster that was split.
    divisive_coefficient_ : float
        Mean over the rows of 1 less the width at which a row is alone, as a part of the width of all: near 1 where
        there are clusters.
    n_leaves_ : int
        Rows of the tree.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        The tree as SciPy writes it.
    certificate_ : Certificate
        Every split is the one that the rules make, and the labels are the cut of the tree.
    trace_ : Trace
        Width and number of clusters, split by split.

    Examples
    --------
    >>> model = Diana().fit([[0.0], [1.0], [5.0], [6.0]])
    >>> model.labels_, model.distances_
    (array([0, 0, 1, 1]), array([1., 1., 6.]))
    """

    labels_: Array
    children_: Array
    distances_: Array
    divisive_coefficient_: float
    n_leaves_: int

    def __init__(self, n_clusters: int = 2, *, metric: MetricLike = "euclidean") -> None:
        self.n_clusters = n_clusters
        self.metric = metric

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances of shape (n_samples, n_samples)."""
        data = self._check(X, y)
        check_rows(data.X, self.n_clusters, self.metric)
        return self._adopt(divide(data.X, self.n_clusters, self.metric), data)

    @property
    def linkage_matrix_(self) -> Array:
        """The tree as SciPy writes it."""
        check_is_fitted(self)
        return scipy_tree(self.children_, self.distances_, self.n_leaves_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


MOST_TRACED = 500


def divide(X: Array, n_clusters: int, metric: MetricLike) -> Fit:
    """Return the tree of all splits and its cut."""
    tree, trace = divisive_tree(distance_matrix(X, metric))
    attributes = {
        "labels_": cut(tree, n_clusters),
        "children_": tree.children,
        "distances_": tree.heights,
        "divisive_coefficient_": divisive_coefficient(tree),
        "n_leaves_": tree.n_leaves,
    }
    return Fit(attributes, trace, "every row is alone")


def divisive_tree(D: Array) -> tuple[Dendrogram, Trace]:
    """Return the tree of splits, the widest cluster always first, of equally wide ones that with the first row."""
    n = len(D)
    children, heights, trace = np.empty((n - 1, 2), np.int64), np.empty(n - 1), Trace()
    waiting: list[tuple[float, int, int, int, Array]] = []  # the clusters that can be split, and whose child they are
    keep_every = max(1, n // MOST_TRACED)

    def put(rows: Array, merge: int, side: int) -> None:
        if len(rows) == 1:
            children[merge, side] = rows[0]
        else:
            heappush(waiting, (-float(D[np.ix_(rows, rows)].max()), int(rows[0]), merge, side, rows))

    put(np.arange(n), -1, 0)
    for merge in range(n - 2, -1, -1):
        width, _, above, side, rows = heappop(waiting)
        if above >= 0:
            children[above, side] = n + merge
        heights[merge] = -width
        leaves = splinter(D[np.ix_(rows, rows)])
        put(rows[leaves], merge, 0)
        put(rows[~leaves], merge, 1)
        if (n - 2 - merge) % keep_every == 0:
            trace.add(iteration=n - 1 - merge, height=-width, clusters=n - merge)
    return Dendrogram(np.sort(children, axis=1), heights, n), trace


def splinter(D: Array) -> Array:
    """Return which rows of a cluster leave it together, from the distances within it."""
    n = len(D)
    to_rest = D.sum(axis=1)
    first = int(to_rest.argmax())
    leaves, to_left = np.zeros(n, bool), D[first].copy()
    leaves[first] = True
    to_rest -= D[first]
    n_left, rounding = 1, sum_error(n)
    while n_left < n - 1:
        n_rest = n - n_left
        # the two means times both counts: a difference of products, which is exact for whole numbers
        stay, go = n_left * to_rest, (n_rest - 1) * to_left
        gains = np.where(leaves, -np.inf, stay - go)
        best = int(gains.argmax())
        if gains[best] <= rounding * (stay[best] + go[best]):
            break
        leaves[best] = True
        to_rest -= D[best]
        to_left += D[best]
        n_left += 1
    return leaves


def divisive_coefficient(tree: Dendrogram) -> float:
    """Return the mean over rows of 1 less the width of the last cluster they were in with others, in parts of all."""
    if tree.heights[-1] == 0.0:
        return 0.0
    alone = np.empty(tree.n_leaves)
    for height, pair in zip(tree.heights, tree.children, strict=True):
        rows = pair[pair < tree.n_leaves]
        alone[rows] = height
    return float(np.mean(1.0 - alone / tree.heights[-1]))
