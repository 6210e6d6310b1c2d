r"""Links between rows: those with nearest rows, recomputed from all distances, and the matrix that embeds a graph.

.. math:: M_{ij} = A_{ij} / \sqrt{d_i d_j}, \qquad M_{ii} = 1, \qquad d_i = \sum_{j \ne i} A_{ij}

Its largest eigenvalues, none of them above 2, are 2 less the smallest of the normalized Laplacian of the affinities A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.certificate import Claim
from pellucid.proofs.distances import GIVEN, distances, distances_from
from pellucid.proofs.matrices.eigenpairs import SymmetricMatrix, leading_claims, wrong_signs
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import at_most_wrong

RESIDUAL = 1e-10
"""Residuals accepted, of a matrix whose largest eigenvalue is 2, where ``eigen_tol`` allows no more."""

UNLINKED = 1e-200
"""Part of the largest sum of links that counts as none: the squares of what is divided by its root would overflow."""


def normalized_links(affinity: Any) -> tuple[Any, Array]:
    """Return :math:`M`, sparse if the affinities are, and the roots of the sums of links, 1 for a row without links."""
    n = affinity.shape[0]
    if sparse.issparse(affinity):
        links = affinity.tocoo()
        apart = links.row != links.col
        rows, columns, values = links.row[apart], links.col[apart], links.data[apart].astype(np.float64)
        roots = _roots(np.bincount(rows, weights=values, minlength=n))
        parts = sparse.coo_array((values / roots[rows] / roots[columns], (rows, columns)), shape=(n, n))
        return (parts + sparse.eye_array(n)).tocsr(), roots
    values = np.array(affinity, dtype=np.float64)
    np.fill_diagonal(values, 0.0)
    roots = _roots(values.sum(axis=1))
    values /= roots[:, None]
    values /= roots
    np.fill_diagonal(values, 1.0)
    return values, roots


def _roots(degrees: Array) -> Array:
    """Return the roots of sums of links; NaN below 0, which no claim survives."""
    return np.where(np.abs(degrees) > UNLINKED * degrees.max(initial=0.0), np.sqrt(degrees), 1.0)


def halved(affinity: Any) -> Any:
    """Return given affinities, of two orders of the same rows the mean."""
    both = (affinity + affinity.T) / 2.0
    return both.tocsr() if sparse.issparse(both) else both


def link_vector_claims(
    M: Any, values: Array, vectors: Array, places: Array, tol: Any, rounding: float = 0.0
) -> list[Claim]:
    """Return the claims about eigenvectors of M and the ``places`` made of them; ``tol`` in words allows nothing."""
    tol = 0.0 if isinstance(tol, str) else float(tol)
    noise = max(RESIDUAL, 8 * sum_error(len(vectors)), 4 * tol) + 4 * rounding
    disorder = int(np.sum(~(np.diff(values) <= noise))) + wrong_signs(places, max(1e-9, 8 * rounding))
    is_positive = bool(np.all((M.data if sparse.issparse(M) else M) >= 0.0))
    return leading_claims(
        SymmetricMatrix(M), values, vectors, level=2.0, noise=noise, disorder=disorder, is_positive=is_positive,
        remedy="Lower eigen_tol.",
    )  # fmt: skip


def affinity_claim(stored: Any, expected: Any, rows: Array, bound: float) -> Claim:
    """Return the claim that some rows of the stored affinities are these."""
    said = f"largest distance of a stored affinity of {len(rows):,} rows from that of the data, in parts of the largest"
    off = float(abs(stored[rows] - expected).max()) / max(float(abs(expected).max()), TINY)
    return Claim("affinity", said + at_most_wrong(len(rows), stored.shape[0]), off, bound)


def neighbors_claim(stored: Any, X: SparseOrDense, rows: Array, k: int, *, is_given: bool) -> Claim:
    """Return the claim that links among some rows are those with their nearest rows."""
    said = f"links among {len(rows):,} rows that are not those with their nearest rows"
    wrong = wrong_links(stored, X, rows, k, is_given=is_given)
    return Claim("affinity", said + at_most_wrong(len(rows), X.shape[0]), wrong, 0.0)


def wrong_links(stored: Any, X: SparseOrDense, rows: Array, k: int, *, is_given: bool) -> float:
    """Return how many entries of some rows of the links are not half of who has the other among its nearest rows.

    Of rows at distances that rounding cannot tell apart, either may be among the nearest. Whether a row is among the
    nearest of another needs all distances of that one: where only some rows are looked at, links among them count.
    """
    links = sparse.csr_array(stored)[rows][:, rows].toarray()
    surely, perhaps = (np.zeros(links.shape) for _ in range(2))
    for i, row in enumerate(rows):
        apart = _distances_of(row, X, is_given=is_given)
        radius = np.sort(apart)[min(k, len(apart)) - 1]
        slack = 4 * EPSILON * (X.shape[1] + 4)
        surely[i] = apart[rows] < radius * (1.0 - slack)
        perhaps[i] = np.isfinite(apart[rows]) & (apart[rows] <= radius * (1.0 + slack))
    low, high = (surely + surely.T) / 2.0, (perhaps + perhaps.T) / 2.0
    is_half = np.isin(links, (0.0, 0.5, 1.0))
    return float(np.sum(~((links >= low) & (links <= high) & is_half)))


def _distances_of(row: int, X: SparseOrDense, *, is_given: bool) -> Array:
    """Return the distances of one row to all; of given ones, infinite where none is stored."""
    return distances(X[[row]], X, GIVEN)[0] if is_given else distances_from(X, row)
