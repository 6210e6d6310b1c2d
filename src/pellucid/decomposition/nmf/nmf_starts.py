"""Where a nonnegative factorization starts: random factors, or the nonnegative parts of singular vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid.core.types import Array
from pellucid.numerics.leading_eigenvectors import eigenpairs_at_once, leading_eigenpairs

AT_ONCE = 500
"""Rows or columns, whichever are fewer, up to which all singular vectors are found at once."""

FEW = 0.1
"""Part of these up to which the components wanted are few."""

GOAL = 1e-4
"""Residuals of singular vectors, in parts of the largest squared singular value: they are a start."""

NOTHING = 1e-6
"""Entries below this part of 1, or of the largest if that is less, count as 0, as in scikit-learn."""


def start_factors(X: Any, q: int, init: str | None, random_state: Any) -> tuple[Array, Array]:
    """Return ``W`` of shape (n, q) and ``H`` of shape (q, d), in float64; ``X`` has no missing entries."""
    n, d = X.shape
    if init not in (None, "random") and q > min(n, d):
        raise ValueError(
            f"init = '{init}' can only be used when n_components <= min(n_samples, n_features), got {q} components of "
            f"{n} rows and {d} columns. Use init='random'."
        )
    if init == "random" or q > min(n, d):
        return _random_factors(X, q, random_state)
    W, H = _singular_parts(X, q)
    mean = float(X.mean())
    if init == "nndsvdar":
        rng = check_random_state(random_state)
        for factor in (W, H):
            empty = factor == 0.0
            factor[empty] = np.abs(mean * rng.standard_normal(size=int(empty.sum())) / 100)
    elif init != "nndsvd":
        W[W == 0.0], H[H == 0.0] = mean, mean
    return W, H


def _random_factors(X: Any, q: int, random_state: Any) -> tuple[Array, Array]:
    """Return the absolute values of normal numbers whose product is about as large as the data."""
    rng, size = check_random_state(random_state), float(np.sqrt(X.mean() / q))
    H = size * rng.standard_normal(size=(q, X.shape[1])).astype(X.dtype, copy=False)
    W = size * rng.standard_normal(size=(X.shape[0], q)).astype(X.dtype, copy=False)
    return np.abs(W).astype(np.float64), np.abs(H).astype(np.float64)


def _singular_parts(X: Any, q: int) -> tuple[Array, Array]:
    """Return, of each pair of singular vectors, those parts of one sign whose product is larger (NNDSVD)."""
    U, values, V = leading_singular_vectors(X, q)
    W, H = np.zeros_like(U), np.zeros_like(V.T)
    for k in range(q):
        parts = [(np.maximum(sign * U[:, k], 0.0), np.maximum(sign * V[:, k], 0.0)) for sign in (1.0, -1.0)]
        sizes = [float(np.linalg.norm(u) * np.linalg.norm(v)) for u, v in parts]
        largest = int(sizes[1] > sizes[0])
        (u, v), size = parts[largest], sizes[largest]
        if size > 0.0:
            length = np.sqrt(values[k] * size)
            W[:, k], H[k] = length * u / np.linalg.norm(u), length * v / np.linalg.norm(v)
    for factor in (W, H):
        factor[factor < NOTHING * min(1.0, float(factor.max(initial=0.0)))] = 0.0
    return W, H


def leading_singular_vectors(X: Any, q: int) -> tuple[Array, Array, Array]:
    """Return the first singular vectors, as columns, and values, from the products of the rows or of the columns.

    The vectors of values that are 0 are 0.
    """
    n, d = X.shape
    is_wide = d > n
    rows = X.T if is_wide else X
    m = min(n, d)
    if m <= AT_ONCE or q > FEW * m:
        gram = rows.T @ rows
        gram = np.asarray(gram.toarray() if sparse.issparse(gram) else gram, dtype=np.float64)
        found = eigenpairs_at_once((gram + gram.T) / 2.0, q)
    else:
        narrow = X.dtype.type

        def times(block: Array) -> Array:
            return np.asarray(rows.T @ (rows @ block.astype(narrow)), dtype=np.float64)

        found = leading_eigenpairs(times, m, q, goal=GOAL)
    values = np.sqrt(np.maximum(found.values, 0.0))
    own = found.vectors * (values > 1e-7 * values.max(initial=0.0))
    other = np.asarray(rows @ own, dtype=np.float64) / np.where(values > 0.0, values, 1.0)
    return (own, values, other) if is_wide else (other, values, own)
