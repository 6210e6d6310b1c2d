"""Solvers of Laplacian eigenmaps: the links, and their eigenvectors beside the trivial one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.formulas import RBF
from pellucid.kernels.functions import check_symmetric
from pellucid.solvers.laplacian import neighbor_links, normalized, symmetric_links, without_diagonal
from pellucid.solvers.laplacian_eigenvectors import leading_vectors
from pellucid.solvers.leading_eigenvectors import EigenPairs, signed
from pellucid.solvers.smallest_eigenvectors import beside, on_span


def links_of(parameters: Any, X: SparseOrDense) -> Any:
    """Return the affinities of all rows, of the kind of the data."""
    if is_one_of(parameters.affinity, NEIGHBORS, GIVEN_NEIGHBORS):
        k = neighbors_meant(parameters.n_neighbors, X.shape[0])
        return neighbor_links(X, k, is_given=parameters.affinity == GIVEN_NEIGHBORS)
    if is_one_of(parameters.affinity, GIVEN):
        return symmetric_links(X)
    return check_symmetric(kernel_links(parameters, X)).astype(X.dtype, copy=False)


def embed(affinity: Any, k: int, *, eigen_solver: str | None, tol: float, seed: int) -> tuple[EigenPairs, Array]:
    """Return the k smallest eigenvalues of the normalized Laplacian beside the trivial one, and their places."""
    trivial = trivial_vector(affinity)
    if not trivial.any():  # no links: any places would do
        trace = Trace()
        trace.add(iteration=0, captured=0.0)
        return EigenPairs(np.zeros(k), np.zeros((len(trivial), k)), 0, trace), np.zeros((len(trivial), k))
    M, roots = normalized(affinity)
    found = leading_vectors(M, min(k + 1, len(roots)), eigen_solver=eigen_solver, tol=tol, seed=seed)
    vectors = beside(trivial, found.vectors)[:, :k]
    values, vectors, _ = on_span(M, vectors)
    values, vectors = values[::-1], vectors[:, ::-1]
    pairs = EigenPairs(np.maximum(2.0 - values, 0.0), vectors, found.n_steps, found.trace)
    return pairs, np.ascontiguousarray(signed(vectors / roots[:, None]))


def unnormalized(affinity: Any) -> tuple[Any, float]:
    """Return 2I - L / c with the plain Laplacian L and the largest degree c, whose eigenvalues are between 0 and 2."""
    links = without_diagonal(affinity)
    degrees = np.asarray(links.sum(axis=1)).ravel()
    largest = max(float(degrees.max(initial=0.0)), np.finfo(float).tiny)
    diagonal = 2.0 - degrees / largest
    if sparse.issparse(links):
        return (links / largest + sparse.diags_array(diagonal)).tocsr(), largest
    return links / largest + np.diag(diagonal), largest


NEIGHBORS, GIVEN, GIVEN_NEIGHBORS = "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"


def is_one_of(affinity: Any, *names: str) -> bool:
    """Return whether an affinity is one of these names; a function is none."""
    return isinstance(affinity, str) and affinity in names


def neighbors_meant(n_neighbors: int | None, n_rows: int) -> int:
    """Return how many neighbors the parameter means: None is a tenth of the rows."""
    return max(n_rows // 10, 1) if n_neighbors is None else int(n_neighbors)


def gamma_meant(gamma: float | None, n_features: int) -> float:
    """Return the factor of the Gaussian kernel that the parameter means."""
    return 1.0 / n_features if gamma is None else float(gamma)


def kernel_links(parameters: Any, X: SparseOrDense) -> Array:
    """Return the affinities that the Gaussian kernel or the function of the user gives."""
    if is_one_of(parameters.affinity, "rbf"):
        return RBF(gamma_meant(parameters.gamma, X.shape[1]))(X)
    found = parameters.affinity(X)
    links = np.array(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)
    if links.shape != (X.shape[0], X.shape[0]) or not np.isfinite(links).all():
        raise ValueError(
            f"affinity must return a finite matrix of shape {(X.shape[0], X.shape[0])}, got shape {links.shape}."
        )
    return links


def trivial_vector(affinity: Any) -> Array:
    """Return the eigenvector of eigenvalue 0 that the normalized links always have, the roots of the sums of the rows.

    Rows without links have no part in it.
    """
    degrees = np.maximum(np.asarray(without_diagonal(affinity).sum(axis=1)).ravel(), 0.0)
    roots = np.sqrt(degrees)
    return np.asarray(roots / max(float(np.linalg.norm(roots)), np.finfo(float).tiny))
