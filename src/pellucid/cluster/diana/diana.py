"""Diana: divisive analysis, a tree of clusters from the top down."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.cluster.agglomerative.dendrogram import scipy_tree
from pellucid.cluster.agglomerative.distances import check_rows
from pellucid.cluster.diana.diana_solvers import divide
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data


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

    def __init__(self, n_clusters: int = 2, *, metric: Any = "euclidean") -> None:
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
