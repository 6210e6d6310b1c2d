"""Rows of which some stand there several times, stored and multiplied once."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.augmented_rows import AugmentedRows


class RepeatedRows:
    """The rows ``base[which]``: what costs something is done with the base, and with each of its rows once."""

    def __init__(self, base: AugmentedRows, which: Array) -> None:
        self.base, self.which = base, which
        self.n, self.width, self.constant, self.is_sparse = len(which), base.width, base.constant, base.is_sparse

    def scores(self, u: Array) -> Array:
        """Return ``A u``."""
        return self.base.scores(u)[self.which]

    def pull(self, r: Array) -> Array:
        """Return ``A' r``."""
        return self.base.pull(self.summed(r))

    def gram(self, h: Array) -> Array:
        """Return ``A' diag(h) A`` for weights of at least 0."""
        return self.base.gram(self.summed(h))

    def curve(self, h: Array, d: Array) -> Array:
        """Return ``A' diag(h) A d``."""
        return self.base.curve(self.summed(h), d)

    def gram_diagonal(self, h: Array) -> Array:
        """Return the diagonal of ``A' diag(h) A``."""
        return self.base.gram_diagonal(self.summed(h))

    def summed(self, values: Array) -> Array:
        """Return for each row of the base the sum over its repetitions."""
        return np.bincount(self.which, values, minlength=self.base.n)

    def sq_lengths(self) -> Array:
        """Return the squared length of each row."""
        return self.base.sq_lengths()[self.which]

    def inner_products(self) -> Array:
        """Return ``A A'``, of shape (n, n)."""
        return self.base.inner_products()[np.ix_(self.which, self.which)]

    def part(self, chosen: Array) -> RepeatedRows:
        """Return some of the rows."""
        used, which = np.unique(self.which[chosen], return_inverse=True)
        return RepeatedRows(self.base.part(used), which)

    def sampled(self, one_in: int) -> Array:
        """Return the numbers of a random sample of the rows, all repetitions of a row or none, the same each time."""
        is_chosen = np.zeros(self.base.n, dtype=bool)
        is_chosen[self.base.sampled(one_in)] = True
        return np.flatnonzero(is_chosen[self.which])

    def written_out(self) -> Array:
        """Return ``A``, dense."""
        return self.base.written_out()[self.which]

    def by_column(self) -> Any:
        """Return ``A`` as a CSC matrix."""
        return self.base.by_column().tocsr()[self.which].tocsc()
