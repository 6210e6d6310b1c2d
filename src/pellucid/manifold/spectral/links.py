"""What links the rows, by the parameters, and the vector that every graph has."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.kernels.formulas import RBF
from pellucid.numerics.laplacian import without_diagonal

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


def kernel_links(parameters: Any, X: Any) -> Array:
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
