"""Solvers of Laplacian eigenmaps: the links, and their eigenvectors beside the trivial one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.kernels.functions import check_symmetric
from pellucid.manifold.spectral.links import (
    GIVEN,
    GIVEN_NEIGHBORS,
    NEIGHBORS,
    is_one_of,
    kernel_links,
    neighbors_meant,
    trivial_vector,
)
from pellucid.numerics.laplacian import normalized, symmetric_links, without_diagonal
from pellucid.numerics.laplacian_eigenvectors import leading_vectors
from pellucid.numerics.leading_eigenvectors import EigenPairs, signed
from pellucid.numerics.neighbor_links import neighbor_links
from pellucid.numerics.smallest_eigenvectors import beside, on_span


def links_of(parameters: Any, X: Any) -> Any:
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
