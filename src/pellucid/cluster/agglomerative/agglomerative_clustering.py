"""AgglomerativeClustering: the nearest two clusters become one, until enough are left."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted, check_memory

from pellucid.cluster.agglomerative.agglomerative_solvers import merge_tree
from pellucid.cluster.agglomerative.dendrogram import Dendrogram, cut, forest_labels, scipy_tree
from pellucid.cluster.agglomerative.distances import check_rows
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, MetricLike
from pellucid.core.user_warnings import warn_user

MOST_TRACED = 100
"""Merges that the trace lists; of more, so many evenly spaced."""


class AgglomerativeClustering(ClusterMixin, CertifiedEstimator):
    r"""A tree of clusters: at first every row is one, then the nearest two merge, again and again.

    Between clusters the distance is the least (single), the largest (complete) or the mean (average) distance of their
    rows, or Ward's, which grows the sum of squared distances to the means by as little as possible:

    .. math:: d(A, B)^2 = \frac{2\,|A|\,|B|}{|A| + |B|}\,\|\bar{a} - \bar{b}\|^2

    **Ties.** A cluster is named by its last row. Of equally near pairs the one with the lower first name merges, then
    the one with the lower second name. Single linkage looks at rows instead: of equally near pairs of rows the first.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Clusters to find, at least 1; None with ``distance_threshold``.
    metric : str or callable, default='euclidean'
        Distance of two rows, by scikit-learn's names; 'precomputed' for a distance matrix; or a function of all rows
        that returns one. Ward takes 'euclidean' and 'l2' only.
    memory : str, object with the joblib.Memory interface or None, default=None
        Where to keep the tree for other cuts of it.
    connectivity : array-like, sparse matrix, callable or None, default=None
        Which rows are neighbors; only neighbors merge. A function gets ``X`` and returns the matrix.
    compute_full_tree : 'auto' or bool, default='auto'
        Whether to go on to one cluster, with a connectivity; 'auto' stops early only for many clusters.
    linkage : {'ward', 'complete', 'average', 'single'}, default='ward'
        The distance between clusters.
    distance_threshold : float or None, default=None
        Clusters at this distance or farther do not merge.
    compute_distances : bool, default=False
        Nothing changes: ``distances_`` is always there.

    Attributes
    ----------
    n_clusters_ : int
        Clusters found.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    n_leaves_ : int
        Rows of the tree.
    n_connected_components_ : int
        Pieces of the connectivity; 1 without one.
    children_ : ndarray of shape (n_merges, 2)
        The two nodes of each merge; merge i makes node ``n_samples + i``, lower numbers are rows.
    distances_ : ndarray of shape (n_merges,)
        The distance of the two clusters of each merge.
    linkage_matrix_ : ndarray of shape (n_merges, 4)
        The tree as SciPy writes it: both nodes, their distance, and the rows of the new cluster.
    certificate_ : Certificate
        Every merge was one of nearest clusters, and the labels are the cut of the tree.
    trace_ : Trace
        Height, size and number of clusters, merge by merge.

    Examples
    --------
    >>> model = AgglomerativeClustering(linkage="single").fit([[0.0], [1.0], [3.0], [7.0]])
    >>> model.labels_, model.distances_
    (array([0, 0, 0, 1]), array([1., 2., 4.]))
    """

    n_clusters_: int
    labels_: Array
    n_leaves_: int
    n_connected_components_: int
    children_: Array
    distances_: Array

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: MetricLike = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.metric = metric
        self.compute_distances = compute_distances

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to distances of shape (n_samples, n_samples)."""
        data = self._check(X, y)
        check_rows(data.X, self.n_clusters, self.metric)
        tree = self._tree(data.X)
        if tree.n_connected_components > 1:
            warn_user(
                "connectivity should have one connected component, got "
                f"{tree.n_connected_components}: the number of connected components of the connectivity matrix is "
                f"{tree.n_connected_components} > 1. Completing it to avoid stopping the tree early.",
                UserWarning,
            )
        return self._adopt(self._fit_of(tree), data)

    @property
    def linkage_matrix_(self) -> Array:
        """The tree as SciPy writes it."""
        check_is_fitted(self)
        return scipy_tree(self.children_, self.distances_, self.n_leaves_)

    def _tree(self, X: Array) -> Dendrogram:
        connectivity = self.connectivity(X) if callable(self.connectivity) else self.connectivity
        n_merges = X.shape[0] - (1 if self._is_whole(X) else int(self.n_clusters or 1))
        build = check_memory(self.memory).cache(merge_tree)
        tree: Dendrogram = build(X, self.linkage, self.metric, connectivity, n_merges)
        return tree

    def _is_whole(self, X: Array) -> bool:
        """Return whether the tree goes on to one cluster."""
        if self.connectivity is None or self.n_clusters is None:
            return True
        if isinstance(self.compute_full_tree, str):
            return self.n_clusters < max(100, 0.02 * X.shape[0])
        return bool(self.compute_full_tree)

    def _fit_of(self, tree: Dendrogram) -> Fit:
        n_clusters = self.n_clusters
        if n_clusters is None:
            n_clusters = int(np.count_nonzero(tree.heights >= self.distance_threshold)) + 1
        is_finished = len(tree.children) == tree.n_leaves - 1
        attributes = {
            "n_clusters_": n_clusters,
            "labels_": cut(tree, n_clusters) if is_finished else forest_labels(tree),
            "n_leaves_": tree.n_leaves,
            "n_connected_components_": tree.n_connected_components,
            "children_": tree.children,
            "distances_": tree.heights,
        }
        stopped, later = "one cluster is left" if is_finished else "n_clusters", {"trace_": partial(_trace, tree)}
        return Fit(attributes, stopped=stopped, later=later)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


def _trace(tree: Dendrogram) -> Trace:
    """Return the heights at which the clusters became fewer."""
    n_merges, heights = len(tree.children), tree.heights.tolist()
    trace = Trace()
    for k in np.unique(np.linspace(0, n_merges - 1, min(MOST_TRACED, n_merges)).astype(int)).tolist():
        trace.add(iteration=k + 1, height=heights[k], clusters=tree.n_leaves - k - 1)
    return trace
