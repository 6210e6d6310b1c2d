"""Products of the linear kernel: never kept, since one pass over the data adds any number of them up."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array


class FeatureRows:
    """What a solver asks of products, answered from the rows themselves in float64; see ``ProductRows``."""

    def __init__(self, rows: Any) -> None:
        self._all = rows if sp.issparse(rows) else np.asarray(rows, dtype=np.float64) - np.mean(rows, axis=0)
        self.restore()

    def restore(self) -> None:
        """Make all rows active."""
        self.active, self._rows = np.arange(self._all.shape[0]), self._all

    def narrow(self, keep: Array) -> None:
        """Leave only the active rows where ``keep`` is true."""
        self.active = self.active[keep]
        self._rows = self._all[self.active]

    def take(self, places: Array) -> Array:
        """Return what names the rows at these places: the places."""
        return places

    def among(self, slots: Array, places: Array, size: int) -> Array:
        """Return the products of the rows at the first places with those at the second, and zeros up to a size."""
        product = self._rows[slots] @ self._rows[places].T
        block = np.zeros((size, size))
        block[: len(slots), : len(places)] = product.toarray() if sp.issparse(product) else product
        return block

    def add_to(self, gradient: Array, slots: Array, change: Array) -> None:
        """Add the products of these rows, times the change of their coefficients, to the gradient."""
        direction = self._rows[slots].T @ change
        rows = self._rows

        def add(span: slice) -> None:
            gradient[span] += rows[span] @ direction

        run_blocks(add, shares(len(gradient), int(rows.size if sp.issparse(rows) else rows.shape[0] * rows.shape[1])))
