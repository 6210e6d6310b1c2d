"""Products of rows in tiles that fit in the cache of a core, on all threads.

Tiles are cut in the same way whatever the number of threads, so that the bits of a result do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, SparseOrDense

HEIGHT = 256
WIDTH = 512
"""Rows and columns of a tile: a megabyte of products."""

DENSE_COLUMNS = 1 << 22
"""Entries up to which a block of sparse rows is spread out to be multiplied by sparse rows."""

Tile = Callable[[Any, Any], Array]
"""The products of a block of rows with a block of rows."""


def as_rows(X: SparseOrDense) -> Any:
    """Return rows as a float64 table, or as sparse rows."""
    if sparse.issparse(X):
        return X.tocsr().astype(np.float64, copy=False)
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got shape {rows.shape}.")
    return rows


def cut(n: int, size: int) -> list[slice]:
    """Return slices of this size, the last perhaps shorter, that cover ``range(n)``."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def inner_products(X: SparseOrDense, Z: Any) -> Array:
    """Return the inner products of the rows of a tile, as an array that may be changed."""
    if not sparse.issparse(X) and not sparse.issparse(Z):
        return np.asarray(X @ Z.T)
    if sparse.issparse(X) and sparse.issparse(Z) and Z.shape[0] * Z.shape[1] <= DENSE_COLUMNS:
        return np.asarray(X @ Z.toarray().T)
    found = X @ Z.T
    return np.asarray(found.toarray() if sparse.issparse(found) else found)


def squared_lengths(X: SparseOrDense) -> Array:
    """Return the squared length of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _run(work: Callable[[Any], None], items: list[Any], *, share: bool) -> None:
    """Do the work on all threads if it may be shared, on this one otherwise."""
    if share:
        run_blocks(work, items)
    else:
        for item in items:
            work(item)


def products_in_tiles(tile: Tile, X: SparseOrDense, Z: Any, *, share: bool = True) -> Array:
    """Return all products, of shape (n_rows of ``X``, n_rows of ``Z``)."""
    if X.shape[0] <= HEIGHT and Z.shape[0] <= WIDTH:
        return tile(X, Z)
    out = np.empty((X.shape[0], Z.shape[0]))
    columns = [(part, Z[part]) for part in cut(Z.shape[0], WIDTH)]

    def fill(rows: slice) -> None:
        block = X[rows]
        for part, other in columns:
            out[rows, part] = tile(block, other)

    _run(fill, cut(X.shape[0], HEIGHT), share=share)
    return out


def lower_products_in_tiles(
    tile: Tile, X: SparseOrDense, out: Array, *, mirror: bool = True, share: bool = True
) -> Array:
    """Write the products of rows with each other into ``out``, each pair once; above the diagonal if ``mirror``."""
    parts = [(part, X[part]) for part in cut(X.shape[0], WIDTH)]

    def fill(pair: tuple[int, int]) -> None:
        (rows, block), (columns, other) = parts[pair[0]], parts[pair[1]]
        products = tile(block, other)
        if pair[0] == pair[1] and mirror:  # the two halves of a tile on the diagonal may differ in the last bit
            products = np.tril(products) + np.tril(products, -1).T
        out[rows, columns] = products
        if mirror and pair[0] != pair[1]:
            out[columns, rows] = products.T

    _run(fill, [(i, j) for i in range(len(parts)) for j in range(i + 1)], share=share)
    return out


def products_times(tile: Tile, X: SparseOrDense, Z: Any, coef: Array, *, share: bool = True) -> Array:
    """Return the products times ``coef`` of shape (n_rows of ``Z``, ...); no more than a tile is held per thread."""
    out = np.zeros((X.shape[0], *coef.shape[1:]))
    columns = [(part, Z[part]) for part in cut(Z.shape[0], WIDTH)]

    def fill(rows: slice) -> None:
        block = X[rows]
        for part, other in columns:
            out[rows] += tile(block, other) @ coef[part]

    _run(fill, cut(X.shape[0], HEIGHT), share=share)
    return out
