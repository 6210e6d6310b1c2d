r"""The matrix whose smallest eigenvectors keep what each row knows of its neighbors, in four ways.

Each is a sum :math:`\sum_i S_iM_iS_i'` of small matrices, one for each row, at the places of its neighbors; constants
are in the null space of all. Rows of ``neighbors`` (n, k) are those of the data.

standard
    :math:`M = (I - W)'(I - W)`, W the weights that best write a row as a mean of its neighbors (Roweis and Saul, 2000);
modified
    the same with several weights for each row, from the small eigenvectors of its neighbors (Zhang and Wang, 2006);
hessian
    what products of the main axes have beside constants and these axes: the part that bends (Donoho and Grimes, 2003);
ltsa
    what is left of them beside constants and main axes (Zhang and Zha, 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import shared_blas
from pellucid.core.types import Array
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_rows import build_tree, nearest_rows, tree_pays
from pellucid.solvers.leading_eigenvectors import EigenPairs, eigenpairs_at_once, signed
from pellucid.solvers.smallest_eigenvectors import beside, on_span, smallest_eigenpairs

MODIFIED_REG = 1e-3
"""Regularization of the weights of the modified method, as in scikit-learn."""


def barycenter_weights(X: Array, others: Array, neighbors: Array, reg: float) -> Array:
    """Return the weights, of sum 1 for each row, that best write ``X`` as means of rows of ``others``, (n, k).

    ``reg`` times the trace is added to the diagonal of the products of differences; ``reg`` itself if all are 0.
    """
    products, added = weight_equations(X, others, neighbors, reg)
    k = neighbors.shape[1]
    products[:, range(k), range(k)] += added[:, None]
    weights = np.linalg.solve(products, np.ones((len(products), k, 1)))[:, :, 0]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def weight_equations(X: Array, others: Array, neighbors: Array, reg: float) -> tuple[Array, Array]:
    """Return the products of the differences of each row to its neighbors, (n, k, k), and what is added to them.

    Differences are in units of the largest of a row, which changes no weight.
    """
    apart = others[neighbors] - X[:, None]
    size = np.abs(apart).max(axis=(1, 2), keepdims=True)
    apart = apart / np.where(size > 0.0, size, 1.0)
    products = apart @ apart.transpose(0, 2, 1)
    trace = np.trace(products, axis1=1, axis2=2)
    return products, np.where(trace > 0.0, reg * trace, reg)


def standard(X: Array, neighbors: Array, parameters: Any) -> Any:
    """Return M of the standard method."""
    return from_weights(barycenter_weights(X, X, neighbors, parameters.reg), neighbors)


def from_weights(weights: Array, neighbors: Array) -> Any:
    """Return M for given weights."""
    n, k = neighbors.shape
    W = sparse.csr_array((weights.ravel(), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    rest = sparse.eye_array(n, format="csr") - W
    return (rest.T @ rest).tocsr()


def hessian(X: Array, neighbors: Array, parameters: Any) -> Any:
    """Return M of the Hessian method."""
    d = parameters.n_components
    axes = _main_axes(X, neighbors)[:, :, :d]
    one = np.ones((*neighbors.shape, 1))
    pairs = [axes[:, :, i] * axes[:, :, j] for i in range(d) for j in range(i, d)]
    basis = np.concatenate([one, axes, np.stack(pairs, axis=2)], axis=2)
    Q = np.linalg.qr(basis, mode="reduced")[0]
    rest = Q[:, :, d + 1 :]
    sums = rest.sum(axis=1, keepdims=True)
    rest = rest / np.where(np.abs(sums) < parameters.hessian_tol, 1.0, sums)
    return assembled(neighbors, rest @ rest.transpose(0, 2, 1))


def ltsa(X: Array, neighbors: Array, parameters: Any) -> Any:
    """Return M of the local tangent space alignment."""
    n, k = neighbors.shape
    constant = np.full((n, k, 1), 1.0 / np.sqrt(k))
    kept = np.concatenate([constant, _main_axes(X, neighbors)[:, :, : parameters.n_components]], axis=2)
    return assembled(neighbors, np.eye(k) - kept @ kept.transpose(0, 2, 1))


def modified(X: Array, neighbors: Array, parameters: Any) -> Any:
    """Return M of the modified method."""
    n, k = neighbors.shape
    vectors, values = _directions(X[neighbors] - X[:, None])
    many = _small_directions(values, parameters.n_components, k)
    regular = _regular_weights(vectors, values)
    where = np.concatenate([neighbors, np.arange(n)[:, None]], axis=1)
    blocks = np.empty((n, k + 1, k + 1))
    for s in np.unique(many):
        rows = np.flatnonzero(many == s)
        small = vectors[rows][:, :, k - s :]
        sums = small.sum(axis=1)
        alpha = np.linalg.norm(sums, axis=1) / np.sqrt(s)
        h = alpha[:, None] - sums
        length = np.linalg.norm(h, axis=1, keepdims=True)
        h = np.where(length < parameters.modified_tol, 0.0, h / np.where(length > 0.0, length, 1.0))
        mirrored = small - 2.0 * (small @ h[:, :, None]) * h[:, None]
        weights = mirrored + (1.0 - alpha)[:, None, None] * regular[rows, :, None]
        whole = np.concatenate([weights, np.full((len(rows), 1, s), -1.0)], axis=1)
        blocks[rows] = whole @ whole.transpose(0, 2, 1)
    return assembled(where, blocks)


WAYS: dict[str, Callable[[Array, Array, Any], Any]] = {
    "standard": standard,
    "modified": modified,
    "hessian": hessian,
    "ltsa": ltsa,
}


def assembled(places: Array, blocks: Array) -> Any:
    """Return the sum of small matrices at their places, (n, m) and (n, m, m), as one sparse matrix."""
    n, m = places.shape
    rows, columns = np.repeat(places, m, axis=1).ravel(), np.tile(places, (1, m)).ravel()
    found = sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(n, n)).tocsr()
    return ((found + found.T) * 0.5).tocsr()


def _main_axes(X: Array, neighbors: Array) -> Array:
    """Return the main axes of the neighbors of each row about their mean, as columns, longest first."""
    apart = X[neighbors] - X[:, None]  # an offset of the rows then costs no digits
    return _directions(apart - apart.mean(axis=1, keepdims=True))[0]


def _directions(apart: Array) -> tuple[Array, Array]:
    """Return left singular vectors (n, k, k) of differences (n, k, d), and the squares of the singular values."""
    if apart.shape[1] > apart.shape[2]:
        vectors, roots, _ = np.linalg.svd(apart, full_matrices=True)
        return vectors, roots**2
    values, vectors = np.linalg.eigh(apart @ apart.transpose(0, 2, 1))
    return vectors[:, :, ::-1], np.maximum(values[:, ::-1], 0.0)


def _regular_weights(vectors: Array, values: Array) -> Array:
    """Return the regularized weights of each row from the singular vectors of its differences."""
    added = MODIFIED_REG * values.sum(axis=1, keepdims=True)
    added = np.where(added > 0.0, added, MODIFIED_REG)
    toward = vectors.sum(axis=1)
    scale = np.concatenate([values, np.zeros((len(values), vectors.shape[2] - values.shape[1]))], axis=1) + added
    weights = (vectors @ (toward / scale)[:, :, None])[:, :, 0]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _small_directions(values: Array, d: int, k: int) -> Array:
    """Return how many directions of each row are small: their sum is below the usual share of the others."""
    large = np.maximum(values[:, :d].sum(axis=1), np.finfo(float).tiny)
    usual = float(np.median(values[:, d:].sum(axis=1) / large))
    sums = np.cumsum(values, axis=1)
    share = sums[:, -1:] / np.maximum(sums[:, :-1], np.finfo(float).tiny) - 1.0
    return np.maximum(np.sum(share < usual, axis=1) + k - values.shape[1], 1)


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
