"""Isomap: a map of the distances along the manifold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, MetricLike, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.decomposition.kernel_pca import KernelPCA
from pellucid.manifold.classical_mds.classical_mds import check_components
from pellucid.manifold.dissimilarities import is_given, listed, named, parts_of
from pellucid.manifold.embedding import Embedding
from pellucid.manifold.isomap.neighbor_graph_solvers import (
    distance_block,
    graph_metric,
    joined,
    neighbor_distances,
    undirected,
)
from pellucid.manifold.isomap.shortest_paths import all_shortest_paths
from pellucid.manifold.scalar_products import ScalarProducts, coordinates, main_axes, place_of
from pellucid.neighbors.metric import Metric


class Isomap(Embedding):
    r"""Classical scaling of the lengths of shortest paths over neighbors, which follow the manifold.

    .. math:: d_G(i, j) = \min_{i = v_0, \dots, v_m = j} \sum_l d(v_{l-1}, v_l),\qquad
       B = -\tfrac12 HD_G^{(2)}H = V\Lambda V',\qquad Z = V_k\Lambda_k^{1/2}

    Paths go over links of each row with its nearest rows, or with all within a radius. Where the links fall into
    parts, every two parts are joined by their closest rows, and a warning names the parts.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Nearest rows that each is linked with; None with ``radius``.
    radius : float or None, default=None
        Distance up to which rows are linked, instead of ``n_neighbors``.
    n_components : int, default=2
        Dimensions of the map, at most the number of rows.
    eigen_solver : {'auto', 'arpack', 'dense'}, default='auto'
        'dense' factors the whole matrix; otherwise a few axes of many rows are found by blocks of Lanczos.
    tol : float, default=0
        Residuals of the eigenvectors that suffice, in parts of the largest eigenvalue; 0 goes down to 1e-12.
    max_iter : int or None, default=None
        Most blocks multiplied; None sets no limit.
    path_method : {'auto', 'FW', 'D'}, default='auto'
        Nothing changes: the lengths are the same, to the bit, as Dijkstra's method gives.
    neighbors_algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Nothing changes: a tree is used for few columns.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.
    metric : str or callable, default='minkowski'
        A metric that scikit-learn has a name for, a function of two rows, or 'precomputed' for given distances, which
        may be a sparse graph of those between neighbors.
    p : float, default=2
        Power of the Minkowski metric, at least 1.
    metric_params : dict or None, default=None
        Keywords for the metric.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, the first of the largest entries of each column above 0.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        :math:`D_G`, the lengths of the shortest paths.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\Lambda_k`, falling; 0 for a dimension without extent.
    neighbor_graph_ : sparse matrix of shape (n_samples, n_samples)
        Lengths of the links, in both directions.
    squared_means_ : ndarray of shape (n_samples,)
        Mean squared length of the paths from each row, for the places of new ones.
    X_fit_ : ndarray or sparse matrix
        The training rows, or given distances.
    certificate_, trace_ : Certificate, Trace
        Links and some of the paths found again by other code, residuals of the eigenvectors, that none was missed.

    Examples
    --------
    Three points around a corner: along the sides the last is 3 from the first, and their mean is 5/3 from it.

    >>> model = Isomap(n_neighbors=None, radius=2, n_components=1).fit([[0, 0], [0, 2], [1, 2]])
    >>> model.dist_matrix_[0], model.embedding_.ravel().round(6)
    (array([0., 2., 3.]), array([ 1.666667, -0.333333, -1.333333]))
    """

    dist_matrix_: Array
    eigenvalues_: Array
    neighbor_graph_: Any
    squared_means_: Array
    X_fit_: Any

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: MetricLike = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), to distances, or to rows that scikit-learn's trees hold."""
        data = self._check(X)
        check_components(self.n_components, data.X.shape[0])
        metric = graph_metric(self)
        graph = self._linked(metric, data.X)
        paths = all_shortest_paths(graph).astype(data.X.dtype, copy=False)
        products = ScalarProducts.of(np.asarray(paths, dtype=np.float64))
        found = main_axes(
            products.matrix,
            self.n_components,
            tol=float(self.tol),
            most_steps=self.max_iter,
            whole=self.eigen_solver == "dense",
        )
        values, places = coordinates(found, products.unit)
        attributes = {
            "embedding_": places.astype(data.X.dtype, copy=False),
            "dist_matrix_": paths,
            "eigenvalues_": values,
            "neighbor_graph_": graph,
            "squared_means_": products.means / products.unit / products.unit,
            "X_fit_": data.X.copy(),
        }
        return self._adopt(Fit(attributes, found.trace, reached=False), data)

    def _linked(self, metric: Metric, X: SparseOrDense) -> Any:
        """Return the neighbor graph in one piece."""
        X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)  # some metrics would be rounded to float32
        graph = undirected(*neighbor_distances(self, metric, X, X, is_training=True), X.shape[0])
        parts = parts_of(graph)
        if len(parts) == 1:
            return graph
        count = f"The number of connected components of the neighbors graph is {len(parts)} > 1 (rows: {named(parts)})"
        if is_given(metric.name) and sparse.issparse(X):
            raise RuntimeError(
                f"{count}, and a given graph says nothing of the distances between them. Raise n_neighbors or radius, "
                "or give all distances."
            )
        graph, links = joined(graph, parts, metric, X)
        pairs = listed(f"{i} and {j}" for i, j in links)
        rule = f"every two parts are joined by their closest rows ({pairs})"
        warn_user(f"{count}: {rule}. Raise n_neighbors or radius.", ConvergenceWarning)
        return graph

    def transform(self, X: Data) -> Array:
        """Return the places of new rows, whose paths go by way of their neighbors among the training rows."""
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        rows, near, distances = neighbor_distances(self, graph_metric(self), X, self.X_fit_, is_training=False)
        counts = np.bincount(rows, minlength=X.shape[0])
        if not counts.all():
            raise ValueError(
                f"X must have rows within the radius of a training row, got none near row {int(counts.argmin())}. "
                "Raise radius, or use n_neighbors."
            )
        ends = np.concatenate([[0], np.cumsum(counts)])
        paths = np.empty((X.shape[0], len(self.embedding_)))
        for i in range(X.shape[0]):
            own = slice(ends[i], ends[i + 1])
            paths[i] = np.min(self.dist_matrix_[near[own]] + distances[own, None], axis=0)
        found = place_of(paths, self.embedding_, self.eigenvalues_, self.squared_means_)
        return found.astype(X.dtype, copy=False)

    def reconstruction_error(self) -> float:
        r"""Return :math:`\|B - ZZ'\|_F / n`: how much of the products of the paths the map leaves out."""
        check_is_fitted(self)
        products = ScalarProducts.of(np.asarray(self.dist_matrix_, dtype=np.float64))
        kept = self.eigenvalues_ * products.unit**2
        left = float(np.vdot(products.matrix, products.matrix)) - float(kept @ kept)
        return float(np.sqrt(max(left, 0.0))) / len(self.embedding_) / products.unit**2

    def input_distances(self) -> Array:
        """Return the distances of the training rows, not along the manifold; of a sparse graph, the paths."""
        if is_given(self.metric) and sparse.issparse(self.X_fit_):
            return self.dist_matrix_
        return distance_block(graph_metric(self), self.X_fit_, self.X_fit_)

    @property
    def nbrs_(self) -> NearestNeighbors:
        """Scikit-learn's search for neighbors among the training rows, made when asked for."""
        return NearestNeighbors(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        ).fit(self.X_fit_)

    @property
    def kernel_pca_(self) -> KernelPCA:
        """The same map as kernel PCA of the squared paths, made when asked for."""
        return KernelPCA(self.n_components, kernel="precomputed").fit(-0.5 * self.dist_matrix_**2)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_given(self.metric)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
