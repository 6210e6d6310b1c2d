"""Rows of products that a solver asks for again and again, kept while there is room."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.svm.kernel_machine.kernel_sums import SumBlocks
from pellucid.svm.kernel_machine.machine_kernels import add_rows, compact, pick

NOWHERE = -1


class ProductRows:
    """The products of some rows with all active ones, in ``size`` bytes; the rows unused for longest give way.

    A row is named by its place among the active ones, which are the columns. It takes at least ``least`` rows.
    """

    def __init__(self, blocks: SumBlocks, n: int, *, size: float, least: int, dtype: np.dtype) -> None:
        self.blocks, self.n, self.least = blocks, n, least
        entries = int(size) // np.dtype(dtype).itemsize
        self._room = np.empty(max(entries, least * n), dtype=dtype) if n * n > entries else np.empty(n * n, dtype)
        self.restore()

    def restore(self) -> None:
        """Make all rows active and forget every product."""
        self.active = np.arange(self.n)
        self.blocks.narrow(None)
        self._lay_out(self.n)
        self._forget()

    def _lay_out(self, width: int) -> None:
        capacity = max(1, min(len(self._room) // max(width, 1), self.n))
        self.products = self._room[: capacity * width].reshape(capacity, width)

    def _forget(self) -> None:
        self._clock = 0
        self._slot = np.full(self.n, NOWHERE)
        self._owner = np.full(len(self.products), NOWHERE)
        self._used = np.zeros(len(self.products), dtype=np.int64)

    def take(self, places: Array) -> Array:
        """Return the slots of the products of the rows at these places among the active ones."""
        names = self.active[places]
        self._clock += 1
        missing = names[self._slot[names] == NOWHERE]
        kept = self._slot[names[self._slot[names] != NOWHERE]]
        self._used[kept] = self._clock
        if len(missing):
            slots = np.argsort(self._used, kind="stable")[: len(missing)]
            slots.sort()
            gone = self._owner[slots]
            self._slot[gone[gone != NOWHERE]] = NOWHERE
            self._compute(missing, slots)
            self._owner[slots], self._slot[missing], self._used[slots] = missing, slots, self._clock
        return self._slot[names]

    def _compute(self, names: Array, slots: Array) -> None:
        width = self.products.shape[1]
        columns = getattr(self.blocks.rows, "shape", (0, 0))[1]
        together = slots[-1] - slots[0] + 1 == len(slots)

        def fill(span: slice) -> None:
            if together:
                self.blocks.fill(names, span, self.products[slots[0] : slots[-1] + 1, span])
            else:
                block = np.empty((len(names), span.stop - span.start), dtype=self.products.dtype)
                self.blocks.fill(names, span, block)
                self.products[slots, span] = block

        run_blocks(fill, shares(width, len(names) * width * (columns + 10)))

    def among(self, slots: Array, places: Array, size: int) -> Array:
        """Return the products of the rows of these slots with those at these places, and zeros up to a size."""
        block = np.empty((size, size), dtype=self.products.dtype)
        run_blocks(
            lambda span: pick(self.products, slots, places, block, span.start, span.stop), shares(size, size * size)
        )
        return block

    def add_to(self, gradient: Array, slots: Array, change: Array) -> None:
        """Add the rows of these slots, times the change of their coefficients, to the gradient of the active rows."""
        width = len(gradient)

        def add(span: slice) -> None:
            for start in range(span.start, span.stop, CHUNK):
                add_rows(self.products, slots, change, gradient, start, min(start + CHUNK, span.stop))

        run_blocks(add, shares(width, len(slots) * width))

    def narrow(self, keep: Array) -> None:
        """Leave only the active rows where ``keep`` is true; the products that were there stay."""
        places = np.flatnonzero(keep)
        old, owner, slot_of = self.products, self._owner, np.full(self.n, NOWHERE)
        self.active = self.active[places]
        self.blocks.narrow(self.active)
        still = np.flatnonzero((owner != NOWHERE) & np.isin(owner, self.active))
        self._lay_out(len(places))
        compact(old, still, places, self._room)
        used = self._used[still]
        self._owner = np.full(len(self.products), NOWHERE)
        self._used = np.zeros(len(self.products), dtype=np.int64)
        self._owner[: len(still)], self._used[: len(still)] = owner[still], used
        slot_of[owner[still]] = np.arange(len(still))
        self._slot = slot_of


class GivenRows:
    """What a solver asks of products, answered from the matrix of all of them; see ``ProductRows``."""

    def __init__(self, products: Array) -> None:
        self._all = products
        self.restore()

    def restore(self) -> None:
        """Make all rows active."""
        self.active, self._products = np.arange(len(self._all)), self._all

    def narrow(self, keep: Array) -> None:
        """Leave only the active rows where ``keep`` is true."""
        self.active = self.active[keep]
        self._products = self._all[np.ix_(self.active, self.active)]

    def take(self, places: Array) -> Array:
        """Return what names the rows at these places: the places."""
        return places

    def among(self, slots: Array, places: Array, size: int) -> Array:
        """Return the products of the rows at the first places with those at the second, and zeros up to a size."""
        if len(slots) == len(places) == len(self._products):  # all of them: a third of the time
            block = np.zeros((size, size))
            block[: len(slots), : len(slots)] = self._products
        else:
            block = np.empty((size, size))
            pick(self._products, slots, places, block, 0, size)
        return block

    def add_to(self, gradient: Array, slots: Array, change: Array) -> None:
        """Add the products of these rows, times the change of their coefficients, to the gradient."""
        add_rows(self._products, slots, change, gradient, 0, len(gradient))


CHUNK = 2048
"""Entries of the gradient that stay in the nearest cache while rows are added to them."""


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
