"""Solvers of locally linear embedding: neighbors, and the smallest eigenvectors beside the constant one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.threads import shared_blas
from pellucid.core.types import Array
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_rows import build_tree, nearest_rows, tree_pays
from pellucid.numerics.leading_eigenvectors import EigenPairs, eigenpairs_at_once, signed
from pellucid.numerics.smallest_eigenvectors import beside, on_span, smallest_eigenpairs

EUCLIDEAN = Metric("euclidean")
LEAF = 30

LARGE = 300
"""Rows from which a few eigenvectors are found without all the others."""

FEW = 0.1
"""Part of the rows up to which dimensions are few."""

SHIFT = 1e-13
"""Added to the matrix before it is factored, in parts of its size: eigenvalues are small, and must stay far apart."""

GOAL = 1e-15
"""Residuals that are asked for, in parts of the size of the matrix."""


def nearest_training_rows(X: Array, queries: Array, k: int, *, is_training: bool) -> Array:
    """Return the nearest rows of ``X``; a training row is not its own neighbor."""
    tree = build_tree(X, EUCLIDEAN, LEAF) if tree_pays(X.shape[1], EUCLIDEAN) else None
    excluded = np.arange(len(queries)) if is_training else None
    return nearest_rows(X, queries, k, EUCLIDEAN, tree=tree, excluded=excluded)[1]


def smallest_beside_constant(M: Any, k: int, *, whole: bool, seed: int) -> tuple[EigenPairs, Array]:
    """Return the k smallest eigenvalues of M beside that of constants, rising, and vectors of one sign."""
    n = M.shape[0]
    size = max(float(abs(M).sum(axis=1).max()), np.finfo(float).tiny)
    if whole or n < LARGE or k > FEW * n:
        with shared_blas(float(n) ** 3 / 8):
            found = eigenpairs_at_once(-M.toarray(), min(k + 1, n))
    else:
        found = smallest_eigenpairs(M, k + 1, shift=SHIFT * size, goal=GOAL * size, seed=seed)
    vectors = beside(np.full(n, 1.0 / np.sqrt(n)), found.vectors)[:, :k]
    values, vectors, _ = on_span(M, vectors)
    return EigenPairs(np.maximum(values, 0.0), vectors, found.n_steps, found.trace), np.ascontiguousarray(
        signed(vectors)
    )
