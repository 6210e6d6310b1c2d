"""Two factors improved in turn: how far beyond the last ones a round begins, and entries of their product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array, SparseOrDense

FIRST, FASTER, SLOWER, MOST = 0.5, 1.05, 0.5, 1.0


@dataclass
class FactorMomentum:
    """The part of the last change by which a round goes on before it begins; more after good rounds, less after bad.

    A round that raises the objective is taken back by its solver, so that the objective still never rises (Ang and
    Gillis).
    """

    part: float = FIRST

    def speed_up(self) -> None:
        """Go a little farther: the round was good."""
        self.part = min(self.part * FASTER, MOST)

    def slow_down(self) -> None:
        """Go half as far: the round was taken back."""
        self.part *= SLOWER


NUMBERS_AT_ONCE = 1 << 18


def product_entries(X: SparseOrDense, W: Array, H: Array) -> Array:
    """Return the entries of ``WH`` where a CSR matrix has one."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    found, columns = np.empty(X.nnz), np.ascontiguousarray(H.T)
    step = max(1, NUMBERS_AT_ONCE // max(1, W.shape[1]))
    for start in range(0, X.nnz, step):
        part = slice(start, start + step)
        np.einsum("ij,ij->i", W[rows[part]], columns[X.indices[part]], out=found[part])
    return found
