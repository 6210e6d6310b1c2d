"""LocallyLinearEmbedding: every row keeps its place among its neighbors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.random_state import fixed_seed
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_user
from pellucid.manifold.dissimilarities import named, parts_of
from pellucid.manifold.embedding import Embedding, known_places
from pellucid.manifold.locally_linear.alignment import (
    WAYS,
    barycenter_weights,
    from_weights,
    nearest_training_rows,
    smallest_beside_constant,
)
from pellucid.neighbors.metric import Metric


class LocallyLinearEmbedding(Embedding):
    r"""Places in which every row is the same mean of its neighbors as in the data.

    .. math:: \min_W \sum_i \Bigl\|x_i - \sum_j w_{ij}x_j\Bigr\|^2,\ \sum_j w_{ij} = 1,\qquad
       \min_Z \sum_i \Bigl\|z_i - \sum_j w_{ij}z_j\Bigr\|^2,\ Z'Z = I,\ Z'1 = 0

    The first is a small system of equations for each row, the second the smallest eigenvectors of
    :math:`M = (I - W)'(I - W)` beside the constant one. The other methods put another matrix in the place of M.

    Parameters
    ----------
    n_neighbors : int, default=5
        Nearest rows of each; below the number of rows.
    n_components : int, default=2
        Dimensions of the map, at most those of the data.
    reg : float, default=1e-3
        Part of the trace that is added to the diagonal of the equations of the weights, at least 0.
    eigen_solver : {'auto', 'arpack', 'dense'}, default='auto'
        'dense' factors the whole matrix; otherwise many rows are factored as a sparse matrix.
    tol : float, default=1e-6
        Nothing changes: residuals go down to rounding, as the eigenvalues are small themselves.
    max_iter : int, default=100
        Nothing changes: eigenvectors are computed at once, not step by step.
    method : {'standard', 'hessian', 'modified', 'ltsa'}, default='standard'
        See the room ``pellucid.manifold.locally_linear``; 'hessian' needs more neighbors than
        ``n_components * (n_components + 3) / 2``.
    hessian_tol, modified_tol : float, default=1e-4, 1e-12
        Sums that count as 0 in these methods.
    neighbors_algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        Nothing changes: a tree is used for few columns.
    random_state : int, RandomState instance or None, default=None
        Where the first vector of the search comes from; the answer depends on it by rounding only.
    n_jobs : int or None, default=None
        Nothing changes: all threads are used.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        :math:`Z`, the first of the largest entries of each column above 0.
    reconstruction_error_ : float
        The sum of the eigenvalues, which is what the second problem leaves.
    eigenvalues_ : ndarray of shape (n_components,)
        The smallest of M beside that of constants, rising.
    neighbors_ : ndarray of shape (n_samples, n_neighbors)
        The nearest rows of each.
    weights_ : ndarray of shape (n_samples, n_neighbors)
        :math:`w`, for the standard method.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows.
    certificate_, trace_ : Certificate, Trace
        Neighbors and weights checked, residuals of the eigenvectors, none missed; solutions and residual.

    Examples
    --------
    Points on a line stay on one:

    >>> model = LocallyLinearEmbedding(n_neighbors=2, n_components=1, reg=1e-12).fit([[0.0], [1], [2], [3], [4]])
    >>> (model.embedding_.ravel() * 10**0.5).round(4)
    array([ 2.,  1.,  0., -1., -2.])
    """

    reconstruction_error_: float
    eigenvalues_: Array
    neighbors_: Array
    weights_: Array
    X_fit_: Array

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Data, y: Data = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features)."""
        data = self._check(X)
        _check_sizes(self, *data.X.shape)
        neighbors = nearest_training_rows(data.X, data.X, self.n_neighbors, is_training=True)
        attributes: dict[str, Any] = {"neighbors_": neighbors, "X_fit_": data.X.copy()}
        if self.method == "standard":
            attributes["weights_"] = barycenter_weights(data.X, data.X, neighbors, self.reg)
            M = from_weights(attributes["weights_"], neighbors)
        else:
            M = WAYS[self.method](data.X, neighbors, self)
        _warn_of_parts(M)
        seed = fixed_seed(self.random_state)
        found, places = smallest_beside_constant(M, self.n_components, whole=self.eigen_solver == "dense", seed=seed)
        attributes |= {
            "embedding_": places,
            "eigenvalues_": found.values,
            "reconstruction_error_": float(found.values.sum()),
        }
        return self._adopt(Fit(attributes, found.trace, reached=False), data)

    def transform(self, X: Data) -> Array:
        """Return the places of new rows: the mean of those of their neighbors by the weights of the standard method.

        A training row gets its place.
        """
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        near = nearest_training_rows(self.X_fit_, X, self.n_neighbors, is_training=False)
        weights = barycenter_weights(X, self.X_fit_, near, max(self.reg, np.finfo(float).eps))
        places = np.einsum("ij,ijk->ik", weights, self.embedding_[near])
        new, known = known_places(self.X_fit_, X)
        places[new] = self.embedding_[known]
        return places

    def input_distances(self) -> Array:
        """Return Euclidean distances of the training rows."""
        return Metric("euclidean").table(self.X_fit_, self.X_fit_)

    @property
    def nbrs_(self) -> NearestNeighbors:
        """Scikit-learn's search for neighbors among the training rows, made when asked for."""
        return NearestNeighbors(
            n_neighbors=self.n_neighbors, algorithm=self.neighbors_algorithm, n_jobs=self.n_jobs
        ).fit(self.X_fit_)


def locally_linear_embedding(X: Data, *, n_neighbors: int, n_components: int, **params: Any) -> tuple[Array, float]:
    """Return the places of rows, of shape (n_samples, n_components), and the reconstruction error.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or NearestNeighbors
        The rows, or a fitted search that knows them.
    n_neighbors : int
        Nearest rows of each, below the number of rows.
    n_components : int
        Dimensions of the map, at most those of the data.
    **params
        All other parameters of :class:`LocallyLinearEmbedding`.

    Examples
    --------
    >>> places, error = locally_linear_embedding([[0.0], [1], [2], [3]], n_neighbors=2, n_components=1)
    >>> places.shape, error < 1e-4
    ((4, 1), True)
    """
    rows = X._fit_X if isinstance(X, NearestNeighbors) else X
    model = LocallyLinearEmbedding(n_neighbors=n_neighbors, n_components=n_components, **params).fit(rows)
    return model.embedding_, model.reconstruction_error_


def _check_sizes(parameters: Any, n_rows: int, n_columns: int) -> None:
    k, d = parameters.n_neighbors, parameters.n_components
    if d > n_columns:
        raise ValueError(
            f"n_components must be at most the number of columns, got {d} for {n_columns}: output dimension must be "
            "less than or equal to input dimension."
        )
    if k >= n_rows:
        raise ValueError(
            f"n_neighbors must be below the number of rows, got {k} for n_samples = {n_rows}: Expected n_neighbors < "
            "n_samples. Ask for fewer."
        )
    if parameters.method == "hessian" and k <= d * (d + 3) // 2:
        raise ValueError(
            f"n_neighbors must be greater than [n_components * (n_components + 3) / 2] = {d * (d + 3) // 2} for "
            f"method='hessian', got {k}."
        )
    if parameters.method == "modified" and k < d:
        raise ValueError(f"n_neighbors must be at least n_components for modified LLE, got {k} for {d}.")


def _warn_of_parts(M: Any) -> None:
    parts = parts_of(M)
    if len(parts) > 1:
        warn_user(
            f"n_neighbors should link all rows: the graph of neighbors is in {len(parts)} parts ({named(parts)}), "
            "which the first dimensions tell apart. Raise n_neighbors.",
            ConvergenceWarning,
        )
