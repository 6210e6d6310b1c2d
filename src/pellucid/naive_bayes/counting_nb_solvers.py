r"""Counts of the rows of each class, their smoothed shares, and scores by log probabilities; dense and sparse.

The shares :math:`(n_j + \alpha_j) / \sum_i (n_i + \alpha_i)` are the posterior mode of a Categorical or Bernoulli
density under a Dirichlet, or Beta, prior with parameters :math:`\alpha_j + 1`
(:class:`pellucid.probability.Dirichlet`), taken for all classes and columns at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.proofs.rounding import ROUNDING

BLOCK_ROWS = 4096


def class_totals(codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the weight of the rows of each class."""
    return np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)


def class_sums(X: Data, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the weighted sum of the rows of each class, of shape (K, p)."""
    if sparse.issparse(X):
        return _sparse_sums(X, codes, weight, n_classes)

    def work(part: slice) -> Array:
        total = np.zeros((n_classes, X.shape[1]))
        for start in range(part.start, part.stop, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, part.stop))
            members = np.zeros((n_classes, rows.stop - rows.start))
            members[codes[rows], np.arange(members.shape[1])] = 1.0 if weight is None else weight[rows]
            total += members @ X[rows].astype(np.float64, copy=False)
        return total

    return np.asarray(np.sum(run_blocks(work, shares(len(codes), X.size * n_classes)), axis=0))


def category_counts(X: Array, codes: Array, weight: Array | None, n_classes: int, sizes: Array) -> list[Array]:
    """Return the weight of every class and category, a table of shape (n_classes, size) for each column."""
    tables = []
    for j, size in enumerate(sizes.tolist()):
        place = codes * size + X[:, j]
        table = np.bincount(place, weights=weight, minlength=n_classes * size).reshape(n_classes, size)
        tables.append(table.astype(np.float64))
    return tables


def log_smoothed(counts: Array, alpha: Array, total: Array, usual: Array | None = None) -> Array:
    """Return ``log((counts + alpha) / total)`` for counts of shape (K, p), alpha (p,) and total (K, 1) or (K, p).

    Counts of words are mostly 0, counts of missing words mostly the number of rows: ``usual``, of shape (K, 1), says
    what most are, 0 by default. Where counts are as usual the logarithm is taken once, not for each of them.
    """
    usual = np.zeros((len(counts), 1)) if usual is None else usual
    special = np.flatnonzero(counts != usual)
    total = np.where(total > 0, total, 1.0)  # a class without counts has no shares: all are 0
    with np.errstate(divide="ignore"):
        if 2 * len(special) > counts.size:
            return np.asarray(np.log((counts + alpha) / total))
        logs = np.empty(counts.shape)
        logs[...] = np.log((usual + alpha) / total)
        row, column = np.divmod(special, counts.shape[1])
        share = counts.ravel()[special] + np.broadcast_to(alpha, counts.shape[1])[column]
        logs.ravel()[special] = np.log(share / np.broadcast_to(total, counts.shape)[row, column])
    return logs


def one_if_equal(alpha: Array) -> Array:
    """Return pseudo-counts that are all the same as one, of shape (1,), so that it is worked with once."""
    return alpha[:1] if (alpha == alpha[0]).all() else alpha


def product_loss(counts: Array, logs: Array) -> float:
    """Return ``-sum(counts * logs)``; what never occurs may be impossible."""
    with np.errstate(invalid="ignore"):
        loss = -float(counts.ravel() @ logs.ravel())
    if np.isnan(loss):  # 0 times -inf
        seen = counts > 0
        return -float(counts[seen] @ logs[seen])
    return loss


def row_scores(X: Data, table: Array) -> Array:
    """Return ``X @ table.T`` in float64, of shape (n, K); the rows of ``table`` belong to the classes."""
    columns = np.ascontiguousarray(table.T)
    if not sparse.issparse(X):
        return np.asarray(X.astype(np.float64, copy=False) @ columns)
    scores = np.empty((X.shape[0], len(table)))

    def work(rows: slice) -> None:
        scores[rows] = _row_slice(X, rows) @ columns

    run_blocks(work, shares(X.shape[0], X.nnz * len(table)))
    return scores


def _sparse_sums(X: SparseOrDense, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the sums in one pass over the stored values: each goes to the place of its class and column."""
    lengths = np.diff(X.indptr)
    place = np.repeat(codes.astype(np.int64) * X.shape[1], lengths)
    place += X.indices
    values = X.data if weight is None else X.data * np.repeat(weight, lengths)
    return np.bincount(place, weights=values, minlength=n_classes * X.shape[1]).reshape(n_classes, X.shape[1])


def _row_slice(X: SparseOrDense, rows: slice) -> Any:
    """Return some rows of a CSR matrix without copying their values."""
    start, stop = X.indptr[rows.start], X.indptr[rows.stop]
    pointers = X.indptr[rows.start : rows.stop + 1] - start
    return sparse.csr_array(
        (X.data[start:stop], X.indices[start:stop], pointers), shape=(rows.stop - rows.start, X.shape[1]), copy=False
    )


SMALLEST_ALPHA = 1e-10
"""What a smaller alpha is raised to unless it is forced."""


def pseudo_counts(alpha: Any, force_alpha: bool, n_features: int) -> Array:
    """Return the pseudo-count of every column, of shape (n_features,)."""
    values = np.asarray(alpha, dtype=np.float64)
    if values.ndim and values.shape != (n_features,):
        raise ValueError(
            f"alpha must be a number or have {n_features} entries, got shape {values.shape}. "
            "When alpha is an array, it should contains `n_features` numbers."
        )
    if not (values >= 0).all():
        raise ValueError(
            f"alpha must be at least 0, got {float(values.min())!r}. All values in alpha must be greater than 0."
        )
    return np.broadcast_to(values if force_alpha else np.maximum(values, SMALLEST_ALPHA), (n_features,))


def warn_of_raised_alpha(estimator: Any) -> None:
    """Warn if an alpha is too small and not forced."""
    if not estimator.force_alpha and np.min(np.asarray(estimator.alpha, dtype=np.float64)) < SMALLEST_ALPHA:
        warn_user(
            f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged."
        )


def absences(class_count: Array, feature_count: Array) -> Array:
    """Return the weight of zeros of each class and column; what rounding alone may leave is none."""
    zeros = class_count[:, None] - feature_count
    return np.where(zeros > ROUNDING * class_count[:, None], zeros, 0.0)


def category_sizes(X: Array, min_categories: Any) -> Array:
    """Return the number of categories of every column, of shape (n_features,)."""
    sizes = X.max(axis=0).astype(np.int64) + 1
    if min_categories is None:
        return np.asarray(sizes)
    least = np.asarray(min_categories)
    if least.dtype.kind != "i":
        raise ValueError(
            f"min_categories must hold whole numbers, got {least.dtype}. "
            f"'min_categories' should have integral type. Got {least.dtype} instead."
        )
    if least.ndim and least.shape != sizes.shape:
        raise ValueError(
            f"min_categories must be a number or have {len(sizes)} entries, got shape {least.shape}. "
            f"'min_categories' should have shape ({len(sizes)},) when an array-like is provided. "
            f"Got {least.shape} instead."
        )
    return np.asarray(np.maximum(sizes, least))


def log_class_prior(class_count: Array, parameters: Any) -> Array:
    """Return the logarithm of the given prior, of the smoothed shares of the classes, or of a uniform prior."""
    n_classes, pseudo = len(class_count), parameters.prior_alpha
    if parameters.class_prior is not None:
        given = np.asarray(parameters.class_prior, dtype=np.float64)
        if given.shape != (n_classes,):
            raise ValueError(
                f"class_prior must have {n_classes} entries, got shape {given.shape}. "
                "Number of priors must match number of classes."
            )
        if not (given >= 0).all():
            raise ValueError(f"class_prior must be at least 0, got {float(given.min())!r}.")
    else:
        shares = (class_count + pseudo) / (class_count.sum() + pseudo * n_classes)
        given = shares if parameters.fit_prior else np.full(n_classes, 1 / n_classes)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(given))
