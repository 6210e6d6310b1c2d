r"""Silhouettes: how much nearer a row is to its own cluster than to the next one.

.. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)}

:math:`a_i` is the mean distance of row i to the other rows of its cluster, :math:`b_i` the least mean distance to the
rows of another one. All pairs are looked at, each once: squared distances come from products of blocks of rows, and
from differences where rounding would show. What is held are the sums of distances by cluster, never all distances.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, check_X_y

from pellucid.core.input_rules import unit_for
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.types import Array, Data, MetricLike, RandomState, SparseOrDense
from pellucid.proofs.rounding import EPSILON

BLOCK_ROWS = 512
"""Rows of a block: the products of two blocks take two megabytes."""

MOST_SUMS = 1 << 25
"""Sums of distances, rows times clusters, up to which each pair of blocks is looked at once, for both."""

WANTED = 1e-10
"""Relative error that a distance may have."""

EUCLIDEAN = ("euclidean", "l2")


def silhouette_score(
    X: Data,
    labels: Data,
    *,
    metric: str | Callable[..., Any] = "euclidean",
    sample_size: int | None = None,
    random_state: RandomState = None,
    **kwds: Any,
) -> float:
    """Return the mean silhouette of all rows, or of some drawn at random.

    1 is the best, -1 the worst, and near 0 clusters overlap.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows, or for ``metric='precomputed'`` their distances to each other.
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least 2 clusters, and fewer than there are rows.
    metric : str or callable, default='euclidean'
        A metric of ``sklearn.metrics.pairwise_distances``.
    sample_size : int, default=None
        Rows to draw, each at most once; None takes all.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.
    **kwds
        Settings of the metric.

    Examples
    --------
    >>> round(silhouette_score([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]), 5)  # mean of 7.5/8.5 and 6.5/7.5
    0.87451
    """
    if sample_size is not None:
        X, labels = check_X_y(X, labels, accept_sparse=["csc", "csr"])
        drawn = check_random_state(random_state).permutation(X.shape[0])[:sample_size]
        X, labels = (X[drawn][:, drawn] if _is_given(metric) else X[drawn]), labels[drawn]
    return float(np.mean(silhouette_samples(X, labels, metric=metric, **kwds)))


def silhouette_samples(X: Data, labels: Data, *, metric: str | Callable[..., Any] = "euclidean", **kwds: Any) -> Array:
    """Return the silhouette of each row; that of a row alone in its cluster is 0.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows, or for ``metric='precomputed'`` the distances of all rows to each other.
    labels : array-like of shape (n_samples,)
        The cluster of each row: from 2 clusters to one less than there are rows.
    metric : str or callable, default='euclidean'
        Any metric of ``sklearn.metrics.pairwise_distances``, which is passed ``kwds``.
    **kwds
        Settings of the metric.

    Examples
    --------
    >>> silhouette_samples([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).round(3)
    array([0.882, 0.867, 0.867, 0.882])
    """
    X, labels = check_X_y(X, labels, accept_sparse=["csr"])
    if _is_given(metric):
        _check_diagonal(X)
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    if not 1 < len(counts) < len(codes):
        raise ValueError(
            f"labels must name from 2 to n_samples - 1 clusters, got {len(counts)} for {len(codes)} rows. "
            "A silhouette compares a row's own cluster with another one."
        )
    is_plain = isinstance(metric, str) and metric in EUCLIDEAN and not kwds and not sparse.issparse(X)
    a, b = _euclidean_means(X, codes, counts) if is_plain else _means_by_table(X, codes, counts, metric, kwds)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (b - a) / np.maximum(a, b)
    dtype = X.dtype if X.dtype.kind == "f" else np.float64
    return np.asarray(np.nan_to_num(np.where(counts[codes] > 1, found, 0.0)), dtype=dtype)


def _is_given(metric: MetricLike) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def _check_diagonal(distances: Any) -> None:
    diagonal = np.abs(distances.diagonal())
    most = 100 * np.finfo(distances.dtype).eps if distances.dtype.kind == "f" else 0
    if np.any(diagonal > most):
        raise ValueError(
            f"X must have 0 on the diagonal, got {diagonal.max():g}: a row is at distance 0 from itself "
            "(non-zero elements on the diagonal). Use np.fill_diagonal(X, 0)."
        )


def _means(sums: Array, codes: Array, counts: Array) -> tuple[Array, Array]:
    """Return the mean distance to the rest of the own cluster, and the least to another one, from sums (k, n)."""
    rows = np.arange(sums.shape[1])
    own = sums[codes, rows] / np.maximum(counts[codes] - 1, 1)
    sums[codes, rows] = np.inf
    return own, np.min(sums / counts[:, None], axis=0)


def _means_by_table(
    X: SparseOrDense, codes: Array, counts: Array, metric: MetricLike, kwds: dict[str, Any]
) -> tuple[Array, Array]:
    """Return both means from blocks of distances that scikit-learn measures."""
    from sklearn.metrics import pairwise_distances_chunked  # a tenth of a second that few need

    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    members = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))

    def reduced(distances: Any, start: int) -> tuple[Array, Array]:
        if sparse.issparse(distances):  # what is not stored is a distance of 0
            sums = (sparse.csr_array(distances) @ members).toarray()
        else:
            sums = np.add.reduceat(distances[:, order], starts, axis=1, dtype=np.float64)
        own = codes[start : start + sums.shape[0]]
        return _means(np.ascontiguousarray(sums.T), own, counts)

    parts = pairwise_distances_chunked(X, reduce_func=reduced, metric=metric, **kwds)
    a, b = (np.concatenate(part) for part in zip(*parts, strict=True))
    return a, b


def _euclidean_means(X: Array, codes: Array, counts: Array) -> tuple[Array, Array]:
    """Return both means, with the rows in order of their clusters, about their mean and with entries of at most 1."""
    order = np.argsort(codes, kind="stable")
    rows = np.subtract(X[order], X.mean(axis=0, dtype=np.float64), dtype=np.float64)
    rows *= unit_for(float(np.abs(rows).max(initial=0.0)))  # silhouettes have no unit
    blocks = _Blocks(np.ascontiguousarray(rows), codes[order], len(counts))
    a, b = np.empty(len(codes)), np.empty(len(codes))

    def finish(block: int, sums: Array) -> None:
        part = blocks.part(block)
        mine = order[part]
        a[mine], b[mine] = _means(sums[:, : len(mine)], codes[mine], counts)

    with own_threads():
        if len(codes) * len(counts) <= MOST_SUMS:
            sums = blocks.sums_of_all()
            run_blocks(lambda block: finish(block, sums[block]), range(blocks.count))
        else:
            run_blocks(lambda block: finish(block, blocks.sums_of_one(block)), range(blocks.count))
    return a, b


class _Blocks:
    """Rows in order of their clusters, in blocks, and sums of their distances to the rows of each cluster."""

    def __init__(self, rows: Array, codes: Array, n_clusters: int) -> None:
        self.rows, self.codes, self.n_clusters = rows, codes, n_clusters
        self.squares = np.einsum("ij,ij->i", rows, rows)
        self.limit = (4.0 + sqrt(rows.shape[1])) * EPSILON / (2.0 * WANTED)
        self.count = -(-len(rows) // BLOCK_ROWS)

    def part(self, block: int) -> slice:
        return slice(block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, len(self.rows)))

    def sums_of_all(self) -> Array:
        """Return the sums of all blocks, (n_blocks, n_clusters, BLOCK_ROWS), each pair of blocks looked at once.

        In one round each block meets one other, so that no two threads add to the same sums, and the order in which
        sums grow does not depend on the number of threads.
        """
        sums = np.zeros((self.count, self.n_clusters, BLOCK_ROWS))
        run_blocks(lambda block: self.add(block, block, sums[block]), range(self.count))
        for pairs in rounds_of_pairs(self.count):
            run_blocks(lambda pair: self.add(*pair, sums[pair[0]], sums[pair[1]]), pairs)
        return sums

    def sums_of_one(self, block: int) -> Array:
        """Return the sums of one block, where those of all would take too much memory."""
        sums = np.zeros((self.n_clusters, BLOCK_ROWS))
        for other in range(self.count):
            self.add(block, other, sums)
        return sums

    def add(self, a: int, b: int, a_sums: Array, b_sums: Array | None = None) -> None:
        """Add the distances of the rows of two blocks to the sums of the first, and of the second if given."""
        from pellucid.cluster.silhouette_kernels import add_distances

        here, there = self.part(a), self.part(b)
        A, B, codes = self.rows[here], self.rows[there], self.codes[there]
        ends = np.append(np.flatnonzero(np.diff(codes)) + 1, len(codes))
        a_codes = self.codes[here]
        if b_sums is None:  # of no interest: added up in one row that nobody looks at
            b_sums, a_codes = np.zeros((1, BLOCK_ROWS)), np.zeros_like(a_codes)
        lengths = self.squares[here], self.squares[there]
        add_distances(A @ (-2.0 * B.T), A, B, *lengths, self.limit, a_codes, ends, codes[ends - 1], a_sums, b_sums)


def rounds_of_pairs(n: int) -> list[list[tuple[int, int]]]:
    """Return rounds in which each of n meets one other at most, such that every two meet once.

    All but the first stand in a circle that turns by one place from round to round.

    Examples
    --------
    >>> rounds_of_pairs(4)
    [[(0, 3), (1, 2)], [(0, 2), (3, 1)], [(0, 1), (2, 3)]]
    """
    places = list(range(n + n % 2))
    rounds = []
    for _ in range(len(places) - 1):
        half = len(places) // 2
        met = zip(places[:half], places[: half - 1 : -1], strict=True)
        rounds.append([pair for pair in met if max(pair) < n])
        places = [places[0], places[-1], *places[1:-1]]
    return rounds
