"""SpectralEmbedding: rows that are linked stay together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.kernels.formulas import RBF
from pellucid.manifold.dissimilarities import named, parts_of
from pellucid.manifold.embedding import Embedding, known_places
from pellucid.manifold.spectral.spectral_embedding_solvers import (
    GIVEN,
    GIVEN_NEIGHBORS,
    NEIGHBORS,
    embed,
    gamma_meant,
    is_one_of,
    links_of,
    neighbors_meant,
    unnormalized,
)
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_rows import nearest_rows
from pellucid.solvers.laplacian import asymmetry, is_connected, normalized
from pellucid.solvers.laplacian_eigenvectors import leading_vectors
from pellucid.solvers.leading_eigenvectors import signed

MERE_ROUNDING = 1e-6
"""Asymmetry of given affinities that nobody is told of: products in float32 have it."""

LEAST = 0.05
"""One minus an eigenvalue, by which new rows are stretched, is at least this."""

EUCLIDEAN = Metric("euclidean")


class SpectralEmbedding(Embedding):
    r"""Places in which linked rows stay together: eigenvectors of the Laplacian of a graph (Laplacian eigenmaps).

    .. math:: L = I - D^{-1/2}(A - \mathrm{diag}\,A)D^{-1/2},\qquad Lv_j = \lambda_j v_j,\qquad
       z_i = (v_{i1}, \dots, v_{ik}) / \sqrt{d_i}

    :math:`A` are the affinities of all rows, :math:`d` the sums of its rows. The trivial vector, the same place for all
    rows, is left out. Without any link all places are 0. A new row with affinities a to the training rows stands at
    :math:`\sum_i a_i z_{ij} / ((1 - \lambda_j)\sum_i a_i)`, which is the eigenvector's own equation.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map, below the number of rows.
    affinity : str or callable, default='nearest_neighbors'
        'nearest_neighbors' links each row with its nearest ones; 'rbf' is the Gaussian kernel; 'precomputed' takes
        ``X`` for affinities, 'precomputed_nearest_neighbors' for distances, of which the smallest are links; a
        function gets all rows and returns their affinities.
    gamma : float or None, default=None
        Factor of the Gaussian kernel; None is one over the number of columns.
    random_state : int, RandomState instance or None, default=None
        Where the first vector of the search comes from; the answer depends on it by rounding only.
    eigen_solver : {'arpack', 'lobpcg', 'amg'} or None, default=None
        'lobpcg' and 'amg' never factor sparse links, which takes much memory if there are very many, and need no
        further library.
    eigen_tol : float or 'auto', default='auto'
        Residuals that suffice; 'auto' goes down to 1e-12.
    n_neighbors : int or None, default=None
        Nearest rows of each, itself one of them; None is a tenth of the rows.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`z`, the first of the largest entries of each column above 0.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, rising; 0 if the links fall into parts.
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        :math:`A`.
    n_neighbors_, gamma_ : int, float
        What ``n_neighbors`` and ``gamma`` meant, where they are used.
    X_fit_ : ndarray or sparse matrix
        The training rows, or what was given.
    certificate_, trace_ : Certificate, Trace
        Links found again, residuals of the eigenvectors, that none was missed; residuals along the way.

    Examples
    --------
    A chain of three: the ends on both sides of the middle. A new row with the links of the first stands there.

    >>> chain = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> model = SpectralEmbedding(1, affinity="precomputed").fit(chain)
    >>> model.eigenvalues_.round(3), model.embedding_.ravel().round(3) + 0.0
    (array([1.]), array([ 0.707,  0.   , -0.707]))
    """

    eigenvalues_: Array
    affinity_matrix_: Any
    n_neighbors_: int
    gamma_: float
    X_fit_: Any

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Any = "nearest_neighbors",
        gamma: float | None = None,
        random_state: RandomState = None,
        eigen_solver: str | None = None,
        eigen_tol: Any = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or to affinities or distances of all rows."""
        data = self._check(X)
        n = data.X.shape[0]
        if self.n_components >= n:
            raise ValueError(
                f"n_components must be below the number of rows, got {self.n_components} for n_samples={n}. "
                "Ask for fewer dimensions."
            )
        if is_one_of(self.affinity, GIVEN) and asymmetry(data.X) > MERE_ROUNDING:
            warn_user("X should be symmetric for given affinities: it is not, and both orders are averaged.")
        links = links_of(self, data.X)
        _warn_of_parts(links)
        found, places = embed(
            links, self.n_components, eigen_solver=self.eigen_solver, tol=_tolerance(self), seed=_seed(self)
        )
        attributes = {
            "embedding_": places.astype(data.X.dtype, copy=False),
            "eigenvalues_": found.values,
            "affinity_matrix_": links,
            "X_fit_": data.X.copy(),
        }
        if is_one_of(self.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
            attributes["n_neighbors_"] = neighbors_meant(self.n_neighbors, n)
        if is_one_of(self.affinity, "rbf"):
            attributes["gamma_"] = gamma_meant(self.gamma, data.X.shape[1])
        return self._adopt(Fit(attributes, found.trace, reached=False), data)

    def transform(self, X: Data) -> Array:
        """Return the places of new rows, or of rows with given affinities or distances to all training rows.

        A training row gets its place. Where one minus an eigenvalue is below 0.05, new rows are stretched no further.
        """
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        weights = self._weights(X)
        total = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
        mean = np.asarray(weights @ self.embedding_) / np.where(total > 0.0, total, 1.0)
        places = mean / np.maximum(1.0 - self.eigenvalues_, LEAST)
        if not self._is_pairwise:
            new, known = known_places(self.X_fit_, X)
            places[new] = self.embedding_[known]
        return places.astype(X.dtype, copy=False)

    def _weights(self, X: SparseOrDense) -> Any:
        """Return the affinities of new rows to the training rows."""
        if is_one_of(self.affinity, GIVEN):
            return X
        if is_one_of(self.affinity, "rbf"):
            return RBF(self.gamma_)(X, self.X_fit_)
        if not isinstance(self.affinity, str):
            both = (sparse.vstack if sparse.issparse(X) else np.vstack)([self.X_fit_, X])
            return np.asarray(self.affinity(both))[self.X_fit_.shape[0] :, : self.X_fit_.shape[0]]
        metric = Metric("precomputed") if self._is_pairwise else EUCLIDEAN
        n, k = self.X_fit_.shape[0], self.n_neighbors_
        near = nearest_rows(self.X_fit_, X, k, metric, tree=None, excluded=None)[1]
        ends = np.arange(0, near.size + 1, k)
        return sparse.csr_array((np.ones(near.size), near.ravel(), ends), shape=(X.shape[0], n))

    def input_distances(self) -> Array:
        """Return Euclidean distances of the training rows, given distances, or those that belong to given products."""
        if is_one_of(self.affinity, GIVEN):
            A = self.affinity_matrix_
            A = np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)
            own = np.maximum(A.diagonal(), A.max(axis=1))
            return np.sqrt(np.maximum(own[:, None] + own - 2.0 * A, 0.0)) * (1.0 - np.eye(len(A)))
        X = self.X_fit_
        if is_one_of(self.affinity, GIVEN_NEIGHBORS):
            if sparse.issparse(X):
                raise ValueError("distances must be given for the quality of a map of a sparse graph, got None.")
            return np.asarray(X)
        return EUCLIDEAN.table(X, X)

    @property
    def _is_pairwise(self) -> bool:
        return is_one_of(self.affinity, GIVEN, GIVEN_NEIGHBORS)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def spectral_embedding(
    adjacency: Data,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: RandomState = None,
    eigen_tol: Any = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Array:
    """Return places for the rows of given affinities, of shape (n_samples, n_components).

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n_samples, n_samples)
        How strongly each two rows are linked; its diagonal does not count.
    n_components : int, default=8
        Dimensions of the map, one eigenvector each.
    eigen_solver : {'arpack', 'lobpcg', 'amg'} or None, default=None
        'lobpcg' and 'amg' save memory with very many sparse links, which they never factor.
    random_state : int, RandomState instance or None, default=None
        Seed of the search; the answer depends on it by rounding only.
    eigen_tol : float or 'auto', default='auto'
        Residuals that suffice; 'auto' goes down to 1e-12.
    norm_laplacian : bool, default=True
        Whether the Laplacian is divided by the roots of the sums of its rows and columns.
    drop_first : bool, default=True
        Whether to leave out the trivial vector, which has all rows at one place.

    Examples
    --------
    >>> spectral_embedding([[0, 1, 0], [1, 0, 1], [0, 1, 0]], n_components=1).ravel().round(3) + 0.0
    array([ 0.707,  0.   , -0.707])
    """
    links = check_array(adjacency, accept_sparse="csr", dtype=np.float64)
    if links.shape[0] != links.shape[1]:
        raise ValueError(f"adjacency must be square, got shape {links.shape}.")
    model = SpectralEmbedding(
        n_components, affinity=GIVEN, eigen_solver=eigen_solver, random_state=random_state, eigen_tol=eigen_tol
    )
    if norm_laplacian and drop_first:
        return model.fit(links).embedding_
    _warn_of_parts(links)
    M, roots = normalized(links) if norm_laplacian else (unnormalized(links)[0], np.ones(links.shape[0]))
    k = min(n_components + drop_first, links.shape[0])
    found = leading_vectors(M, k, eigen_solver=eigen_solver, tol=_tolerance(model), seed=_seed(model))
    return signed(found.vectors / roots[:, None])[:, int(drop_first) :]


def _warn_of_parts(links: Any) -> None:
    if is_connected(links):
        return
    parts = parts_of(links)
    warn_user(
        f"affinity should link all rows: Graph is not fully connected but in {len(parts)} parts ({named(parts)}). "
        "The first dimensions tell these apart and little else. Raise n_neighbors, or lower gamma.",
        ConvergenceWarning,
    )


def _tolerance(parameters: Any) -> float:
    return 0.0 if isinstance(parameters.eigen_tol, str) else float(parameters.eigen_tol)


def _seed(parameters: Any) -> int:
    return int(check_random_state(0 if parameters.random_state is None else parameters.random_state).randint(2**31 - 1))
