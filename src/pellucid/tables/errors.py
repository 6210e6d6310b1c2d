"""What is wrong with a table, in one sentence."""

from __future__ import annotations


class TableError(ValueError):
    """A table that cannot be read, or does not fit what is asked of it."""
