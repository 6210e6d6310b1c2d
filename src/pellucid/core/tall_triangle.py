"""The triangular factor of a table of many rows, made of few at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import qr

from pellucid.core.threads import shared_blas
from pellucid.core.types import Array

FEW_ROWS = 512
"""Rows of which a triangle is made at once."""


def tall_triangle(tables: Iterable[Array], width: int) -> Array:
    """Return ``R`` of ``A = QR`` for the rows of tables that come one after the other, all of so many columns.

    Triangles of few rows are joined in a tree. Where rows repeat, as indicators of groups do, rounding goes the same
    way each time and grows with the rows that are folded into one triangle; in a tree these stay few.

    Examples
    --------
    >>> np.abs(tall_triangle([np.array([[3.0], [4.0]]), np.array([[12.0]])], 1))
    array([[13.]])
    """
    height = max(FEW_ROWS, 2 * width)
    waiting: list[list[Array]] = [[]]
    for table in tables:
        for start in range(0, len(table), height):
            _join(waiting, _triangle(table[start : start + height], width), height // width)
    return _triangle(np.vstack([np.zeros((0, width)), *(part for level in waiting for part in level)]), width)


def _join(waiting: list[list[Array]], triangle: Array, joined: int) -> None:
    """Put a triangle beside those of its height; as many as are joined at once make one of the next height."""
    for level in waiting:
        level.append(triangle)
        if len(level) < joined:
            return
        triangle = _triangle(np.vstack(level), triangle.shape[1])
        level.clear()
    waiting.append([triangle])


def _triangle(table: Array, width: int) -> Array:
    if not len(table):
        return table
    with shared_blas(2.0 * width * table.size):
        return np.asarray(qr(table, mode="r", check_finite=False)[0][:width])
