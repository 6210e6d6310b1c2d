"""The last few pairs of L-BFGS, side by side in memory so that one matrix product reads them all."""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace, device

from pellucid.core.types import Array

SPARE = 3
"""A buffer holds so many times the memory: the window moves through it and is copied only when it reaches the end."""


class Rows(NamedTuple):
    """A window of rows of a buffer. Appending never changes rows that an older window shows."""

    buffer: Array
    used: list[int]
    first: int
    last: int

    @property
    def matrix(self) -> Array:
        """The rows of the window."""
        return self.buffer[self.first : self.last]

    def appended(self, row: Array, capacity: int) -> Rows:
        """Return the window with one row more, without its oldest if there would be too many."""
        first = max(self.first, self.last + 1 - capacity)
        buffer, used, last = self.buffer, self.used, self.last
        if last == buffer.shape[0] or used[0] != last:  # at the end, or somebody else has appended here
            fresh = empty_rows(row, capacity)
            fresh.buffer[: last - first] = buffer[first:last]
            buffer, used, first, last = fresh.buffer, fresh.used, 0, last - first
        buffer[last] = row
        used[0] = last + 1
        return Rows(buffer, used, first, last + 1)


def empty_rows(like: Array, capacity: int) -> Rows:
    """Return a window without rows, for rows like this one."""
    xp = array_namespace(like)
    shape = (SPARE * capacity, like.shape[0])
    return Rows(xp.empty(shape, dtype=like.dtype, device=device(like)), [0], 0, 0)
