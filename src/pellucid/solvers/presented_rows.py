"""Which rows a method that learns row by row is shown, and how much each weighs.

In a random order equal rows of one class may as well be shown once with their weights added, and the order before the
shuffles may be taken from what the rows hold. Then a weight of k is k repetitions exactly, and the same seed gives the
same bits whatever the order of the rows. Rows of weight 0 are not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, SparseOrDense
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.design import make_design


@dataclass(frozen=True)
class Presentation:
    """The rows shown, each once, and what stands for the others."""

    order: Array
    """Positions of the rows shown, in the order of an epoch that is not shuffled."""
    weight: Array
    """Of every row: what it weighs when it is shown, with the rows it stands for; 0 for the others."""
    shown_as: Array
    """Of every row: the position of the row that is shown in its place."""


def present_as_given(weight: Array) -> Presentation:
    """Return the rows as they stand, each with its own weight."""
    return Presentation(np.flatnonzero(weight > 0.0), weight, np.arange(len(weight)))


def present_by_content(X: SparseOrDense, codes: Array, weight: Array) -> Presentation:
    """Return equal rows of one class once, in an order that depends on what they hold. O(n p + n log n).

    ``X`` is C-ordered, or CSR without repeated entries; ``codes`` are the positions of the labels.
    """
    used = np.flatnonzero(weight > 0.0)
    hashes = content_hashes(X, codes)[used]
    rank = np.lexsort((weight[used], hashes))  # by weight among equal rows: their sum must not depend on their order
    order, hashes = used[rank], hashes[rank]
    alike = np.flatnonzero(hashes[1:] == hashes[:-1])
    first = np.ones(len(order), dtype=bool)
    if len(alike):
        if _rows_equal(X, codes, order[alike], order[alike + 1]).all():
            first[alike + 1] = False
        else:  # two different rows share 64 bits: a matter of 1 in 10^10, but the answer must be right
            order, first = _order_by_content(X, codes, weight, used)
    starts = np.flatnonzero(first)
    shown = order[starts]
    total, shown_as = np.zeros(len(weight)), np.arange(len(weight))
    total[shown] = np.add.reduceat(weight[order], starts)
    shown_as[order] = shown[np.cumsum(first) - 1]
    return Presentation(shown, total, shown_as)


def content_hashes(X: SparseOrDense, codes: Array) -> Array:
    """Return a number of 64 bits for each row, the same for equal rows with the same code, dense or sparse."""
    from pellucid.solvers.presented_rows_kernels import dense_hashes, sparse_hashes

    hashes = np.empty(X.shape[0], dtype=np.uint64)
    if sparse.issparse(X):
        sparse_hashes(X.data, X.indices, X.indptr, codes, hashes)
    else:
        dense_hashes(X, codes, hashes)
    return hashes


def _rows_equal(X: SparseOrDense, codes: Array, these: Array, those: Array) -> Array:
    same = codes[these] == codes[those]
    if sparse.issparse(X):
        different = (X[these] != X[those]).sum(axis=1)
        return np.asarray(same & (np.asarray(different).ravel() == 0))
    return np.asarray(same & (X[these] == X[those]).all(axis=1))


def _order_by_content(X: SparseOrDense, codes: Array, weight: Array, used: Array) -> tuple[Array, Array]:
    """Return the rows sorted by label, entries and weight, and which are the first of their kind."""

    def content(i: int) -> tuple[Any, ...]:
        row = X[[i]].toarray()[0] if sparse.issparse(X) else X[i]
        places = np.flatnonzero(row)
        return int(codes[i]), tuple(places.tolist()), tuple(row[places].tolist())

    contents = {int(i): content(int(i)) for i in used}
    order = sorted(contents, key=lambda i: (contents[i], weight[i]))
    first = [k == 0 or contents[i] != contents[order[k - 1]] for k, i in enumerate(order)]
    return np.array(order), np.array(first)


def row_scatter(X: Array, targets: Array | None = None, weight: Array | None = None) -> tuple[Array, Array]:
    r"""Return the mean of the rows and :math:`\sum w (x - \bar x)(x - \bar x)'`; targets count as further columns."""
    design = make_design(X, fit_intercept=True, sample_weight=weight)
    if targets is None:
        scatter = design.gram()
        return design.mean, scatter
    b, target_mean = design.center(targets)
    own, cross = design.normal_equations(b)
    return np.concatenate([design.mean, target_mean]), np.block([[own, cross], [cross.T, b.T @ b]])


def without_constants(scatter: Array, mean: Array, mass: float) -> Array:
    """Return the scatter with 0 where a column is constant up to the rounding of its mean."""
    lost = mass * (4 * EPSILON * np.abs(mean)) ** 2
    is_constant = np.diagonal(scatter) <= lost
    return np.where(is_constant | is_constant[:, None], 0.0, scatter)
