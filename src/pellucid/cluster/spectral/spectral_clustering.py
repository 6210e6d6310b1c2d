"""SpectralClustering: rows joined by many and strong links belong together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_array, check_random_state

from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.spectral.spectral_clustering_solvers import GIVEN, cluster_qr, discretize, is_pairwise, links_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.solvers.laplacian import asymmetry, is_connected, normalized
from pellucid.solvers.laplacian_eigenvectors import leading_vectors
from pellucid.solvers.leading_eigenvectors import signed

MERE_ROUNDING = 1e-10
"""Asymmetry of given affinities that nobody is told of."""


class SpectralClustering(ClusterMixin, CertifiedEstimator):
    r"""Clusters that few and weak links join, whatever their shape.

    .. math:: L = I - D^{-1/2}(A - \mathrm{diag}\,A)D^{-1/2},\qquad Lv_j = \lambda_j v_j,\qquad
       z_i = (v_{i1}, \dots, v_{ik}) / \sqrt{d_i}

    :math:`A` are the affinities of all rows, :math:`d` the sums of its rows without the diagonal. The eigenvectors of
    the smallest eigenvalues nearly solve the problem to cut the fewest links, as a part of all links of each cluster;
    clusters are then found among the rows of the embedding :math:`z`.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters to find.
    eigen_solver : {'arpack', 'lobpcg', 'amg'} or None, default=None
        'lobpcg' and 'amg' never factor sparse links, which takes much memory if there are very many; whichever it is,
        eigenvectors come from blocks of Lanczos, and need no further library.
    n_components : int or None, default=None
        Eigenvectors of the embedding; None takes as many as clusters.
    random_state : int, RandomState instance or None, default=None
        Where the first block of vectors and the starts of k-means come from.
    n_init : int, default=10
        Starts of k-means.
    gamma, degree, coef0 : float, default=1.0, 3, 1
        Factor, power and constant of the named kernels that have them.
    affinity : str, Kernel or callable, default='rbf'
        A kernel by name, an object of :mod:`pellucid.kernels` or a function of two rows; 'nearest_neighbors' links
        each row with its nearest ones; 'precomputed' takes ``X`` for affinities, which are averaged where they are not
        symmetric, and 'precomputed_nearest_neighbors' for distances, of which the smallest are links.
    n_neighbors : int, default=10
        Nearest rows of each, itself one of them.
    eigen_tol : float or 'auto', default='auto'
        Residuals that suffice; 'auto' goes down to 1e-12.
    assign_labels : {'kmeans', 'discretize', 'cluster_qr'}, default='kmeans'
        How clusters are found in the embedding: k-means, a rotation found round by round, or one from the rows that
        stand out most.
    kernel_params : dict or None, default=None
        Keywords for a function.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.
    verbose : bool, default=False
        Nothing is printed, whatever it is: see ``trace_``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        :math:`A`.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, rising from 0; as many zeros as the links have pieces.
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`z`, the first of the largest entries of each column above 0.
    embedding_centers_, embedding_inertia_ : ndarray of shape (n_clusters, n_components), float
        Centers and objective of k-means in the embedding.
    certificate_, trace_ : Certificate, Trace
        Residuals of the eigenvectors, a bound on what was missed, claims about the labels; residuals along the way.

    Examples
    --------
    Two pairs of points: the second eigenvector tells them apart.

    >>> model = SpectralClustering(2, random_state=0).fit([[0.0], [1.0], [3.0], [4.0]])
    >>> model.eigenvalues_.round(3), bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    (array([0.   , 0.048]), True)
    """

    labels_: Array
    affinity_matrix_: Any
    eigenvalues_: Array
    embedding_: Array
    embedding_centers_: Array
    embedding_inertia_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        n_components: int | None = None,
        random_state: RandomState = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to given affinities or distances of all rows."""
        data = self._check(X)
        _check_enough_rows(data.X.shape[0], self.n_clusters)
        _warn_of_square(data.X, self.affinity)
        rng = check_random_state(self.random_state)
        links = links_of(self, data.X)
        if not is_connected(links):
            warn_user(
                "affinity should link all rows: the graph is not fully connected, so the first eigenvectors tell its "
                "pieces apart and little else. Raise n_neighbors, or lower gamma."
            )
        M, roots = normalized(links)
        found = leading_vectors(
            M,
            min(len(roots), self.n_components or self.n_clusters),
            eigen_solver=self.eigen_solver,
            tol=0.0 if isinstance(self.eigen_tol, str) else float(self.eigen_tol),
            seed=int(rng.randint(np.iinfo(np.int32).max)),
        )
        embedding = np.ascontiguousarray(signed(found.vectors / roots[:, None]))
        attributes = {
            "affinity_matrix_": links,
            "eigenvalues_": np.maximum(2.0 - found.values, 0.0),
            "embedding_": embedding,
        }
        return self._adopt(Fit(self._with_labels(attributes, rng), found.trace, reached=False), data)

    def _with_labels(self, attributes: dict[str, Any], rng: np.random.RandomState) -> dict[str, Any]:
        """Return the attributes with the labels."""
        embedding = attributes["embedding_"]
        if self.assign_labels == "kmeans":
            model = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng).fit(embedding)
            attributes |= {
                "labels_": model.labels_,
                "embedding_centers_": model.cluster_centers_,
                "embedding_inertia_": model.inertia_,
            }
        elif self.assign_labels == "discretize":
            attributes["labels_"] = discretize(embedding, random_state=rng).astype(np.int32)
        else:
            attributes["labels_"] = cluster_qr(embedding).astype(np.int32)
        return attributes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_pairwise(self.affinity)
        return tags


def spectral_clustering(
    affinity: Data,
    *,
    n_clusters: int = 8,
    n_components: int | None = None,
    eigen_solver: str | None = None,
    random_state: RandomState = None,
    n_init: int = 10,
    eigen_tol: Any = "auto",
    assign_labels: str = "kmeans",
    verbose: bool = False,
) -> Array:
    """Return the clusters of rows with given affinities, as :class:`SpectralClustering` finds them.

    Parameters
    ----------
    affinity : array-like or sparse matrix of shape (n_samples, n_samples)
        How strongly each two rows are linked, averaged where it is not symmetric; no sum of a row may be below 0.
    n_clusters : int, default=8
        Clusters to find.
    n_components : int or None, default=None
        Eigenvectors to use; None takes one for each cluster.
    eigen_solver : {'arpack', 'lobpcg', 'amg'} or None, default=None
        'lobpcg' and 'amg' save memory with very many sparse links, which they never factor.
    random_state : int, RandomState instance or None, default=None
        Seed of the eigenvectors and of the starts of k-means.
    n_init : int, default=10
        Starts of k-means.
    eigen_tol : float or 'auto', default='auto'
        Residuals of the eigenvectors that suffice; 'auto' goes down to 1e-12.
    assign_labels : {'kmeans', 'discretize', 'cluster_qr'}, default='kmeans'
        How clusters are read off the eigenvectors.
    verbose : bool, default=False
        Nothing changes: nothing is printed.

    Examples
    --------
    >>> spectral_clustering([[1, 1, 0], [1, 1, 0.1], [0, 0.1, 1]], n_clusters=2, assign_labels="cluster_qr")
    array([1, 1, 0], dtype=int32)
    """
    model = SpectralClustering(
        n_clusters,
        n_components=n_components,
        eigen_solver=eigen_solver,
        random_state=random_state,
        n_init=n_init,
        affinity="precomputed",
        eigen_tol=eigen_tol,
        assign_labels=assign_labels,
        verbose=verbose,
    )
    return model.fit(check_array(affinity, accept_sparse="csr", dtype=np.float64)).labels_


def _check_enough_rows(n_rows: int, n_clusters: int) -> None:
    if n_rows < n_clusters:
        raise ValueError(
            f"n_samples must be at least n_clusters, got n_samples={n_rows} and n_clusters={n_clusters}. "
            "Ask for fewer clusters."
        )


def _warn_of_square(X: SparseOrDense, affinity: Any) -> None:
    if is_pairwise(affinity):
        if affinity == GIVEN and asymmetry(X) > MERE_ROUNDING:
            warn_user("X should be symmetric for given affinities: it is not, and both orders are averaged.")
    elif X.shape[0] == X.shape[1]:
        warn_user(
            "X should have one row per sample and one column per feature: it is square. If it holds affinities, use "
            "affinity='precomputed'."
        )
