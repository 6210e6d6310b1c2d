"""The Gram matrix of the columns a working-set method has asked for so far."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.numerics.design import Design


class WorkingGram:
    """``A[:, columns]' A[:, columns]``, extended column by column and kept between solves.

    Only products with new columns are computed. ``matrix`` may be larger than needed; its leading block is the answer.
    """

    def __init__(self, design: Design, full: Array | None = None) -> None:
        self.design = design
        self.columns = np.empty(0, dtype=np.intp)
        self.matrix = np.empty((0, 0))
        self.holds = np.zeros(design.shape[1], dtype=bool)
        if full is not None:
            self.columns = np.arange(design.shape[1])
            self.matrix = np.ascontiguousarray(full, dtype=np.float64)
            self.holds[:] = True

    def __len__(self) -> int:
        return len(self.columns)

    def add(self, new: Array) -> None:
        """Extend by columns that are not held yet."""
        if len(new) == 0:
            return
        k, grown = len(self), len(self) + len(new)
        self._reserve(grown)
        self.columns = np.concatenate([self.columns, new])
        if k == 0:
            self.matrix[:grown, :grown] = self.design.gram(new if grown < self.design.shape[1] else None)
        else:
            cross = self.design.gram(new, self.columns)
            self.matrix[k:grown, :grown] = cross
            self.matrix[:k, k:grown] = cross[:, :k].T
        self.holds[new] = True

    def _reserve(self, size: int) -> None:
        if size <= len(self.matrix):
            return
        capacity = min(self.design.shape[1], max(size, 3 * len(self.matrix) // 2))
        larger = np.zeros((capacity, capacity))
        k = len(self)
        larger[:k, :k] = self.matrix[:k, :k]
        self.matrix = larger
