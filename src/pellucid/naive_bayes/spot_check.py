"""Spot checks: a few columns counted again by other code, so that a fit measures its errors at little cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data

FEW = 4
"""Columns that a fit counts again; ``verify`` counts all."""


def few_columns(p: int) -> Array:
    """Return the first, the last and some columns between, of ``p``."""
    return np.unique(np.linspace(0, p - 1, FEW).round().astype(np.intp))


def spot_remark(p: int) -> str:
    """Return what a certificate must say about columns that were not counted again."""
    checked = len(few_columns(p))
    return "" if checked == p else f"Measured on {checked} of {p} columns; verify measures all."


def parts_remark(n_parts: int) -> str:
    """Return what the certificate of a fit must say about a model that saw its data in several parts."""
    return "" if n_parts == 1 else f"Fitted in {n_parts} parts: verify needs all the data seen, in one piece."


def spot_sums(X: Data, columns: Array, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the weighted sums of the rows of each class, of shape (n_classes, len(columns))."""
    taken = _taken(X, columns) if weight is None else _taken(X, columns) * weight[:, None]
    return np.stack([np.bincount(codes, weights=column, minlength=n_classes) for column in taken.T], axis=1)


def spot_tables(
    X: Array, columns: Array, codes: Array, weight: Array | None, shapes: Sequence[tuple[int, int]]
) -> list[Array]:
    """Return the weight of every class and category of some columns, in tables of these shapes."""
    tables = [np.zeros(shape) for shape in shapes]
    for j, table in zip(columns, tables, strict=True):
        np.add.at(table, (codes, X[:, j]), 1.0 if weight is None else weight)
    return tables


def spot_moments(
    X: Array, columns: Array, codes: Array, weight: Array | None, n_classes: int
) -> tuple[Array, Array, Array]:
    """Return weight, mean and variance of each class, the last two of shape (n_classes, len(columns)); 0 if empty."""
    counts = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
    share = (1.0 / np.where(counts > 0, counts, 1.0))[:, None]
    every = np.arange(len(columns))
    taken = _taken(X, columns)
    guess = spot_sums(taken, every, codes, weight, n_classes) * share
    centered = taken - guess[codes]
    shift = spot_sums(centered, every, codes, weight, n_classes) * share
    square = spot_sums(centered**2, every, codes, weight, n_classes) * share
    return counts, guess + shift, np.maximum(square - shift**2, 0.0)  # as the guess is rounded


def _taken(X: Data, columns: Array) -> Array:
    taken = X[:, columns]
    return np.asarray(taken.toarray() if sparse.issparse(taken) else taken, dtype=np.float64)
