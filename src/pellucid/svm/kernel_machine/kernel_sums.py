"""Sums of kernels over support vectors: what a solver checks itself by, and what predictions are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from pellucid.core.rounding import EPSILON
from pellucid.core.threads import run_blocks
from pellucid.core.types import Array
from pellucid.kernels import RBF, Kernel, Linear
from pellucid.numerics.exponential_kernels import double_exponentials

HEIGHT, WIDTH = 256, 1024
"""Rows and columns of products held at once: 2 MB."""

PRECISE = 1e-11
"""Error of a value that rounding may cause; if it could be larger, the kernel computes its values itself."""

DENSE_ROOM = 1 << 24
"""Entries up to which sparse support vectors are spread out."""


def kernel_sums(kernel: Kernel, X: Any, Z: Any, coef: Array) -> Array:
    """Return the products of the rows of ``X`` and ``Z`` times ``coef``, in float64 and on all threads."""
    if isinstance(kernel, Linear):
        return np.asarray(X @ (Z.T @ coef))
    if isinstance(kernel, RBF) and not sp.issparse(X) and len(Z):
        Z = Z.toarray() if sp.issparse(Z) else Z
        center = Z.mean(axis=0, dtype=np.float64)
        rows, vectors = X - center, Z - center
        lengths, own = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", vectors, vectors)
        if kernel.gamma * (lengths.max(initial=0.0) + own.max()) * (4.0 + math.sqrt(Z.shape[1])) * EPSILON <= PRECISE:
            return _gaussian_sums(kernel.gamma, rows, lengths, vectors, own, coef)
    return np.asarray(kernel.times(X, Z, coef))


def _gaussian_sums(gamma: float, X: Array, lengths: Array, Z: Array, own: Array, coef: Array) -> Array:
    out = np.zeros((len(X), *coef.shape[1:]))
    rate = gamma / math.log(2.0)

    def fill(start: int) -> None:
        rows = slice(start, start + HEIGHT)
        powers = np.empty(min(WIDTH, len(Z)))
        for left in range(0, len(Z), WIDTH):
            columns = slice(left, left + WIDTH)
            products = X[rows] @ Z[columns].T
            double_exponentials(products, lengths[rows], own[columns], rate, powers[: products.shape[1]])
            out[rows] += products @ coef[columns]

    run_blocks(fill, range(0, len(X), HEIGHT))
    return out
