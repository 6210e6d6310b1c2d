"""Mean and scatter of rows, from blocks that fit in cache: no centered copy of all rows is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.rounding import EPSILON
from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array

BLOCK = 1 << 16
"""Numbers of a block of rows."""


def row_scatter(parts: Sequence[Any], weight: Array | None = None) -> tuple[Array, Array]:
    r"""Return the mean of the rows and :math:`\sum w (x - \bar x)(x - \bar x)'`, of columns that stand side by side.

    Each row is read once: deviations are taken from the mean of the first rows, which is so near the mean of all that
    correcting for it afterwards costs no digits.
    """
    n, p = parts[0].shape[0], sum(part.shape[1] for part in parts)
    height = max(1, BLOCK // p)
    near = _block(parts, slice(0, min(n, height))).mean(axis=0)

    def work(rows: slice) -> tuple[Array, Array]:
        total, scatter, product = np.zeros(p), np.zeros((p, p)), np.empty((p, p))
        for start in range(rows.start, rows.stop, height):
            some = slice(start, min(start + height, rows.stop))
            block = _block(parts, some)
            block -= near
            weighted = block if weight is None else block * weight[some, None]
            total += weighted.sum(axis=0)
            scatter += np.matmul(weighted.T, block, out=product)
        return total, scatter

    totals, scatters = zip(*run_blocks(work, shares(n, n * p * p)), strict=True)
    mass = float(n) if weight is None else float(weight.sum())
    shift = np.sum(totals, axis=0) / mass
    scatter = np.sum(scatters, axis=0) - mass * np.outer(shift, shift)
    return near + shift, (scatter + scatter.T) / 2.0


def without_constants(scatter: Array, mean: Array, mass: float) -> Array:
    """Return the scatter with 0 where a column is constant up to the rounding of its mean."""
    lost = mass * (4 * EPSILON * np.abs(mean)) ** 2
    is_constant = np.diagonal(scatter) <= lost
    return np.where(is_constant | is_constant[:, None], 0.0, scatter)


def _block(parts: Sequence[Any], rows: slice) -> Array:
    """Return some rows of all parts as a new array of float64."""
    taken = [np.asarray(part[rows]) for part in parts]
    return np.concatenate(taken, axis=1, dtype=np.float64) if len(taken) > 1 else taken[0].astype(np.float64)
