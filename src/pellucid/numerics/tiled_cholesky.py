"""Cholesky factors of large matrices, tile by tile on our own threads.

The threads of BLAS wait for each other at every column block by spinning, which on a busy machine takes longer than
the work; tiles handed to the pool do not. The order of all sums is fixed, so the bits do not depend on the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array

TILE = 256


def factor_in_place(A: Array) -> bool:
    """Put L with A = L L' in place of the lower half of a C-ordered matrix; return whether A was positive definite.

    What stands above the diagonal is neither read nor kept. O(n^3 / 3) multiplications.
    """
    n = len(A)
    potrf = get_lapack_funcs("potrf", (A,))
    trsm = get_blas_funcs("trsm", (A,))
    for start in range(0, n, TILE):
        tile = slice(start, min(start + TILE, n))
        before = A[tile, :start]
        own = A[tile, tile]
        if start:
            own -= before @ before.T
        factor, info = potrf(own, lower=1, clean=1)
        if info != 0 or not np.isfinite(factor[-1, -1]):
            return False
        own[...] = factor
        below = [slice(i, min(i + TILE, n)) for i in range(tile.stop, n, TILE)]
        run_blocks(_Panel(A, trsm, factor, before, tile), below)
    return True


class _Panel:
    """Finishes one tile below the diagonal of a column of tiles."""

    def __init__(self, A: Array, trsm: Any, factor: Array, before: Array, tile: slice) -> None:
        self.A, self.trsm, self.factor, self.before, self.tile = A, trsm, factor, before, tile

    def __call__(self, rows: slice) -> None:
        part = self.A[rows, self.tile]
        if self.tile.start:
            part -= self.A[rows, : self.tile.start] @ self.before.T
        self.A[rows, self.tile] = self.trsm(1.0, self.factor, part, side=1, lower=1, trans_a=1)


def solve_factored(L: Array, b: Array) -> Array:
    """Return the solution of L L' x = b for a C-ordered ``L``, whose upper half is not read."""
    potrs = get_lapack_funcs("potrs", (L, b))
    return np.asarray(potrs(L.T, b, lower=0)[0])
