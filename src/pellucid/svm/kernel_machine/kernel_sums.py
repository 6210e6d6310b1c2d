"""Sums of kernels over support vectors: what a solver checks itself by, and what predictions are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array
from pellucid.kernels import RBF, Kernel, Linear
from pellucid.kernels.product_blocks import squared_lengths
from pellucid.numerics.exponential_kernels import double_exponentials
from pellucid.proofs.rounding import EPSILON

HEIGHT, WIDTH = 256, 1024
"""Rows and columns of products held at once: 2 MB."""

PRECISE = 1e-11
"""Error of a value that rounding may cause; if it could be larger, the kernel computes its values itself."""

MANY_COLUMNS = 4096
"""Columns from which sparse rows stay sparse: spread out, they would be mostly zeros."""


def kernel_matrix(kernel: Kernel, X: Any) -> Array:
    """Return the products of few rows with each other, in float64, the same for sparse rows and for dense ones."""
    if isinstance(kernel, RBF) and X.shape[1] <= MANY_COLUMNS:
        rows = _dense(X)
        rows -= rows.mean(axis=0)
        lengths = squared_lengths(rows)
        if _is_precise(kernel.gamma, 2.0 * float(lengths.max(initial=0.0)), X.shape[1]):
            products = rows @ rows.T
            double_exponentials(products, lengths, lengths, kernel.gamma / math.log(2.0), np.empty(len(rows)))
            return products
    return kernel(X)


def kernel_sums(kernel: Kernel, X: Any, Z: Any, coef: Array) -> Array:
    """Return the products of the rows of ``X`` and ``Z`` times ``coef``, in float64 and on all threads."""
    if isinstance(kernel, Linear):
        return np.asarray(X @ (Z.T @ coef))
    if isinstance(kernel, RBF) and Z.shape[0] > 0 and not (sp.issparse(X) and X.shape[1] > MANY_COLUMNS):
        vectors = _dense(Z)
        center = vectors.mean(axis=0)
        vectors -= center
        lengths = squared_lengths(vectors)
        far = (_longest(X) + float(np.linalg.norm(center))) ** 2 + float(lengths.max())
        if _is_precise(kernel.gamma, far, Z.shape[1]):
            return _gaussian_sums(kernel.gamma, X, center, vectors, lengths, coef)
    return np.asarray(kernel.times(X, Z, coef))


def _is_precise(gamma: float, far: float, n_columns: int) -> bool:
    """Return whether distances may come from products: ``far`` is the sum of the largest squared lengths."""
    return gamma * far * (4.0 + math.sqrt(n_columns)) * EPSILON <= PRECISE


def _gaussian_sums(gamma: float, X: Any, center: Array, vectors: Array, lengths: Array, coef: Array) -> Array:
    out = np.zeros((X.shape[0], *coef.shape[1:]))
    rate = gamma / math.log(2.0)

    def fill(start: int) -> None:
        rows = slice(start, start + HEIGHT)
        block = _dense(X[rows])
        block -= center
        own, powers = squared_lengths(block), np.empty(min(WIDTH, len(vectors)))
        for left in range(0, len(vectors), WIDTH):
            columns = slice(left, left + WIDTH)
            products = block @ vectors[columns].T
            double_exponentials(products, own, lengths[columns], rate, powers[: products.shape[1]])
            out[rows] += products @ coef[columns]

    run_blocks(fill, range(0, X.shape[0], HEIGHT))
    return out


def _dense(rows: Any) -> Array:
    """Return a float64 copy of the rows, spread out if they are sparse."""
    return np.array(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _longest(X: Any) -> float:
    """Return the length of the longest row."""
    return math.sqrt(float(squared_lengths(X).max(initial=0.0)))
