r"""Proof of locally linear embedding: neighbors, weights, eigenvectors, and that none smaller was missed.

The neighbors are compared with all distances. Weights of the standard method solve their equations: the products of
differences times the weights are the same for all neighbors. How many eigenvalues of M are below a number :math:`s` is
the count of negative pivots of :math:`M - sI` (Sylvester's law of inertia): below the largest one found there may be no
more than those found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.distances import distances
from pellucid.proofs.kernels.ridge_equations import rows_claim
from pellucid.proofs.matrices.eigenpairs import SymmetricMatrix, eigenpair_claims, wrong_signs
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_FIT = 16
BLOCK_ENTRIES = 2**21

MODIFIED_REG = 1e-3
"""Regularization of the weights of the modified method, as in scikit-learn."""

RESIDUAL = 1e-13
"""Residuals accepted, in parts of the size of the matrix."""

DENSE_UP_TO = 4000
"""Rows up to which eigenvalues are counted by LAPACK if the pivots of a sparse factor do not tell."""


def prove_locally_linear_embedding(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n, d, k, near = data.X.shape[0], parameters.n_components, parameters.n_neighbors, fitted.neighbors_
    is_standard = parameters.method == "standard"
    also = {"neighbors_": np.all((near >= 0) & (near < n)), "weights_": hasattr(fitted, "weights_") == is_standard}
    weights = {"weights_": (n, k)} if is_standard and hasattr(fitted, "weights_") else {}
    if wrong := misshapen("exact", fitted, also, embedding_=(n, d), eigenvalues_=(d,), neighbors_=(n, k), **weights):
        return wrong
    M = _matrix(fitted, parameters, data.X)
    rows = drawn(n, ROWS_AT_FIT if is_fitting() else n)
    claims = [rows_claim(fitted.X_fit_, data.X), _neighbors_claim(fitted.neighbors_, data.X, rows)]
    if is_standard:
        claims.append(_weights_claim(fitted, parameters, data.X, rows))
    values = np.concatenate([[0.0], fitted.eigenvalues_])
    vectors = np.column_stack([np.full(n, 1.0 / np.sqrt(n)), fitted.embedding_])
    size = max(float(abs(M).sum(axis=1).max()), TINY)
    noise = max(RESIDUAL, 8 * sum_error(n))
    disorder = int(np.sum(~(np.diff(values) >= -noise * size))) + wrong_signs(fitted.embedding_)
    total = float(fitted.eigenvalues_.sum())
    claims += [
        *eigenpair_claims(SymmetricMatrix(M), values, vectors, level=size, noise=noise),
        Claim("order", "eigenvalues out of order, and vectors of the other sign", float(disorder), 0.0),
        Claim(
            "reconstruction error",
            "difference of reconstruction_error_ from the sum of the eigenvalues, in parts of the size of the matrix",
            abs(fitted.reconstruction_error_ - total) / size,
            8 * EPSILON,
        ),
    ]
    if not is_fitting():
        claims.append(_missed_claim(M, values, noise * size))
    return graded("exact", claims)


def _neighbors_claim(stored: Array, X: Array, rows: Array) -> Claim:
    """Return the claim that the stored neighbors are the nearest rows, in order, up to what rounding can tell apart."""
    k, wrong = stored.shape[1], 0
    seen = at_most_wrong(len(rows), len(X))
    slack = 1e-12 + 64 * EPSILON * np.sqrt(X.shape[1])
    for part in np.array_split(rows, -(-len(rows) * len(X) // BLOCK_ENTRIES)):
        table = distances(X[part], X, "euclidean")
        table[np.arange(len(part)), part] = np.inf
        own = np.take_along_axis(table, stored[part], axis=1)
        reach = np.partition(table, k - 1, axis=1)[:, k - 1 : k]
        ordered = np.sort(stored[part], axis=1)
        wrong += int(
            np.sum(~np.all(own <= reach * (1.0 + slack), axis=1) | np.any(np.diff(ordered, axis=1) == 0, axis=1))
        )
        wrong += int(np.sum(np.any(np.diff(own, axis=1) < -slack * reach, axis=1)))
    return Claim(
        "neighbors", f"of {len(rows):,} rows, those whose neighbors_ are not the nearest{seen}", float(wrong), 0.0
    )


def _weights_claim(fitted: Seen, parameters: Seen, X: Array, rows: Array) -> Claim:
    """Return the claim that weights sum to 1 and solve their equations."""
    weights = fitted.weights_[rows]
    apart = X[fitted.neighbors_[rows]].astype(np.float64) - X[rows, None]
    apart = apart / np.maximum(np.abs(apart).max(axis=(1, 2), keepdims=True), TINY)  # which changes no weight
    products = apart @ apart.transpose(0, 2, 1)
    trace = np.trace(products, axis1=1, axis2=2)
    added = parameters.reg * np.where(trace > 0.0, trace, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        left = (products @ weights[:, :, None])[:, :, 0] + added[:, None] * weights
        off = np.abs(left - left.mean(axis=1, keepdims=True)).max(axis=1)
        size = (np.trace(products, axis1=1, axis2=2) + added) * np.abs(weights).max(axis=1)
        worst = np.max(np.maximum(off / np.maximum(size, TINY), np.abs(weights.sum(axis=1) - 1.0)), initial=0.0)
    statement = f"largest residual of the equations of the weights of {len(rows):,} rows, or of their sum from 1"
    statement += at_most_wrong(len(rows), len(X))
    return Claim("weights", statement, float(worst), 1e-10)


def _missed_claim(M: Any, values: Array, margin: float) -> Claim:
    """Return the claim that no more eigenvalues are below the largest one found than were found."""
    level = float(values[-1]) - 2.0 * margin
    known = int(np.sum(values < level))
    return Claim("missed",
                 "eigenvalues below the largest one found that were not found, counted by the signs of pivots",
                 float(abs(_count_below(M, level) - known)), 0.0, "Use eigen_solver='dense'.")  # fmt: skip


def _count_below(M: Any, level: float) -> float:
    """Return how many eigenvalues are below a level; infinite if that cannot be told."""
    n = M.shape[0]
    shifted = (M - level * sparse.eye_array(n)).tocsc()
    if not np.isfinite(shifted.data).all():
        return float("inf")
    try:
        factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        if np.array_equal(factor.perm_r, factor.perm_c):
            return float(np.sum(factor.U.diagonal() < 0.0))
    except RuntimeError:  # a pivot of 0
        pass
    return float(np.sum(np.linalg.eigvalsh(shifted.toarray()) < 0.0)) if n <= DENSE_UP_TO else float("inf")


def _matrix(fitted: Seen, parameters: Seen, X: Array) -> Any:
    r"""Return the sum of a small matrix for each row at the places of its neighbors, whose small eigenvectors are kept.

    standard
        :math:`(I - W)'(I - W)`, W the weights that best write a row as a mean of its neighbors (Roweis and Saul, 2000);
    modified
        the same with several weights for each row, from the small eigenvectors of its neighbors (Zhang and Wang, 2006);
    hessian
        what products of main axes have beside constants and these axes: the part that bends (Donoho and Grimes, 2003);
    ltsa
        what is left of them beside constants and main axes (Zhang and Zha, 2004).
    """
    neighbors, n = fitted.neighbors_, len(X)
    if parameters.method == "standard":
        ends = (np.repeat(np.arange(n), neighbors.shape[1]), neighbors.ravel())
        rest = sparse.eye_array(n) - sparse.coo_array((fitted.weights_.ravel(), ends), shape=(n, n))
        return sparse.csr_array(rest.T @ rest)
    apart = X[neighbors].astype(np.float64) - X[:, None]
    if parameters.method == "modified":
        places, blocks = np.column_stack([neighbors, np.arange(n)]), _modified_blocks(apart, parameters)
    else:
        block = _hessian_block if parameters.method == "hessian" else _tangent_block
        vectors, _ = _axes(apart - apart.mean(axis=1, keepdims=True))
        places, blocks = neighbors, [block(axes[:, : parameters.n_components], parameters) for axes in vectors]
    m = places.shape[1]
    rows, columns = np.repeat(places, m, axis=1).ravel(), np.tile(places, (1, m)).ravel()
    found = sparse.coo_array((np.ravel(blocks), (rows, columns)), shape=(n, n)).tocsr()
    return sparse.csr_array((found + found.T) / 2.0)


def _axes(apart: Array) -> tuple[Array, Array]:
    """Return the axes along which neighbors of a row lie apart, of shape (n, k, k), widest first, and their squares."""
    if apart.shape[1] > apart.shape[2]:
        vectors, roots, _ = np.linalg.svd(apart)
        return vectors, roots**2
    values, vectors = np.linalg.eigh(apart @ apart.transpose(0, 2, 1))
    return vectors[:, :, ::-1], np.maximum(values[:, ::-1], 0.0)


def _tangent_block(axes: Array, _: Any) -> Array:
    k = len(axes)
    kept = np.column_stack([np.full(k, 1.0 / np.sqrt(k)), axes])
    return np.eye(k) - kept @ kept.T


def _hessian_block(axes: Array, parameters: Seen) -> Array:
    k, d = axes.shape
    pairs = [axes[:, i] * axes[:, j] for i in range(d) for j in range(i, d)]
    rest = np.linalg.qr(np.column_stack([np.ones(k), axes, *pairs]))[0][:, d + 1 :]
    sums = rest.sum(axis=0)
    rest = rest / np.where(np.abs(sums) < parameters.hessian_tol, 1.0, sums)
    return np.asarray(rest @ rest.T)


def _modified_blocks(apart: Array, parameters: Seen) -> list[Array]:
    """Return for each row the products of its weights, which its small axes, mirrored, and regular weights make."""
    (_, k, _), d = apart.shape, parameters.n_components
    found = list(zip(*_axes(apart), strict=True))
    usual = float(np.median([values[d:].sum() / max(float(values[:d].sum()), TINY) for _, values in found]))
    blocks = []
    for vectors, values in found:
        added = MODIFIED_REG * (float(values.sum()) or 1.0)
        scale = np.append(values, np.zeros(k - len(values))) + added
        regular = vectors @ (vectors.sum(axis=0) / scale)
        regular = regular / regular.sum()
        held = np.cumsum(values)
        s = max(int(np.sum(held[-1] / np.maximum(held[:-1], TINY) - 1.0 < usual)) + k - len(values), 1)
        small = vectors[:, k - s :]
        sums = small.sum(axis=0)
        alpha = float(np.linalg.norm(sums)) / np.sqrt(s)
        h = alpha - sums
        length = float(np.linalg.norm(h))
        h = np.zeros(s) if length < parameters.modified_tol else h / length
        weights = small - 2.0 * np.outer(small @ h, h) + (1.0 - alpha) * regular[:, None]
        whole = np.vstack([weights, np.full(s, -1.0)])
        blocks.append(whole @ whole.T)
    return blocks


PROVES = {"LocallyLinearEmbedding": prove_locally_linear_embedding}
