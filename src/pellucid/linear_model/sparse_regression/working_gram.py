"""The Gram matrix of the columns a working-set method has asked for so far."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from pellucid.core.threads import shared_blas
from pellucid.core.types import Array
from pellucid.solvers.dense_design import DenseDesign
from pellucid.solvers.design import Design

WORTH_SHARING = 1 << 27
"""Multiplications from which a product is split between threads: waking them costs as much as fewer."""

GROWTH = 1.3
"""Factor by which the space for columns grows."""

KEPT_PART = 0.1
"""Part of the columns of a tall matrix up to which they are kept."""


class WorkingGram:
    """``A[:, columns]' A[:, columns]``, extended column by column and kept between solves.

    Only products with new columns are computed. ``matrix`` may be larger than needed; its leading block is the answer.
    The columns of a dense design are kept as well, while they are few or ``X`` is wide: gathering them from ``X`` every
    time would cost more than multiplying them.
    """

    def __init__(self, design: Design, full: Array | None = None) -> None:
        n, p = design.shape
        self.design = design
        self.columns = np.empty(0, dtype=np.intp)
        self.matrix = np.empty((0, 0))
        self.holds = np.zeros(p, dtype=bool)
        self._kept: Array | None = np.empty((n, 0), order="F") if isinstance(design, DenseDesign) else None
        if full is not None:
            self._hold_all(np.ascontiguousarray(full, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.columns)

    def add(self, new: Array) -> None:
        """Extend by columns that are not held yet."""
        if len(new) == 0:
            return
        if len(new) == self.design.shape[1]:
            self._hold_all(self.design.gram())
            return
        k, grown = len(self), len(self) + len(new)
        self._reserve(grown)
        self.columns = np.concatenate([self.columns, new])
        self.holds[new] = True
        if self._kept is None:
            cross = self.design.gram(new, self.columns)
        else:
            self._kept[:, k:grown] = self.design.columns(new)
            with nullcontext() if len(new) * self._kept[:, :grown].size < WORTH_SHARING else shared_blas(np.inf):
                cross = self._kept[:, k:grown].T @ self._kept[:, :grown]
        self.matrix[k:grown, :grown] = cross
        self.matrix[:k, k:grown] = cross[:, :k].T

    def times(self, w: Array) -> Array:
        """Return ``A w`` for a ``w`` that is 0 outside the columns held."""
        if self._kept is None or len(self) == 0 or np.any(w[~self.holds]):
            return self.design.times(w)
        return self._kept[:, : len(self)] @ w[self.columns]

    def _hold_all(self, matrix: Array) -> None:
        self.columns = np.arange(self.design.shape[1])
        self.matrix = matrix
        self.holds[:] = True
        self._kept = None

    def _reserve(self, size: int) -> None:
        if size <= len(self.matrix):
            return
        n, p = self.design.shape
        room = GROWTH if 8 * size**2 < 0.02 * 8 * n * p else 1.0
        k, capacity = len(self), min(p, max(size, int(room * len(self.matrix))))
        if n > p and capacity > KEPT_PART * p:
            self._kept = None  # they would be a large part of X; a Gram matrix is then the small part
        matrix = np.zeros((capacity, capacity))
        matrix[:k, :k] = self.matrix[:k, :k]
        self.matrix = matrix
        if self._kept is not None:
            kept = np.empty((len(self._kept), capacity), order="F")
            kept[:, :k] = self._kept[:, :k]
            self._kept = kept
