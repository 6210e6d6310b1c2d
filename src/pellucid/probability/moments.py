"""Weighted means and covariances in one pass over blocks that fit in cache, without a centered copy of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.threads import own_threads, run_blocks, shares
from pellucid.core.types import Array, Data
from pellucid.probability.gaussian import NEAR_CONSTANT
from pellucid.probability.sample_data import SampleData, refuse_nonfinite

ROWS_AT_LEAST = 256

SMALL = 1 << 14
"""Fewer numbers than this are centered in one go: threads would cost more than they bring."""


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Number of rows, their mean, and their scatter ``sum w (x - mean)(x - mean)'`` or its diagonal."""

    total: float
    mean: Array
    scatter: Array


def moments(data: SampleData, *, full: bool) -> RowMoments:
    """Return the moments of rows of shape (n, p), centered before they are multiplied; refuse what is not finite."""
    if data.values.size < SMALL:
        return _checked(data, full, _in_one_go)
    with own_threads():
        return _checked(data, full, _in_blocks)


def moments_in_blocks(X: Data, sample_weight: Data | None, *, full: bool) -> RowMoments:
    """Return the same of rows in blocks, in one pass over them."""
    from pellucid.core.scale.moments import join_summaries, summarize_block
    from pellucid.core.scale.row_blocks import row_blocks

    found = row_blocks(X, None, sample_weight).reduce(summarize_block, join_summaries, "rows").moments
    if not found:
        raise ValueError("sample_weight must be above 0 for a row, got 0 for all of them.")
    own = found[None]
    return RowMoments(own.weight, own.mean, own.scatter if full else own.scatter.diagonal().copy())


def _checked(data: SampleData, full: bool, compute: Callable[[SampleData, bool], RowMoments]) -> RowMoments:
    with np.errstate(over="ignore", invalid="ignore"):
        found = compute(data, full)
        if not np.isfinite(found.scatter).all():
            refuse_nonfinite(data.values)
        variance = (found.scatter.diagonal() if full else found.scatter) / found.total
        if (variance <= (NEAR_CONSTANT * found.mean) ** 2).any():
            origin = data.values[0].astype(np.float64)
            found = compute(SampleData(data.values - origin, data.weight), full)
            found = RowMoments(found.total, found.mean + origin, found.scatter)
    return found


def _in_one_go(data: SampleData, full: bool) -> RowMoments:
    data = SampleData(data.values.astype(np.float64, copy=False), data.weight)
    mean = data.sum(data.values) / data.total
    centered = data.values - mean
    weighted = centered if data.weight is None else centered * data.weight[:, None]
    return RowMoments(data.total, mean, weighted.T @ centered if full else (weighted * centered).sum(axis=0))


def _in_blocks(data: SampleData, full: bool) -> RowMoments:
    from pellucid.solvers.dense_design import DenseDesign

    design = DenseDesign(data.values, sample_weight=data.weight)
    p = design.shape[1]

    def work(part: slice) -> Array:
        scatter = np.zeros((p, p) if full else p)
        with np.errstate(over="ignore", invalid="ignore"):  # each thread has its own; what is not finite is refused
            for _, block in design.row_blocks(part, rows_at_least=ROWS_AT_LEAST):
                scatter += block.T @ block if full else np.einsum("ij,ij->j", block, block)
        return scatter

    scatter: Any = sum(run_blocks(work, shares(len(data.values), data.values.size * p)))
    return RowMoments(data.total, design.mean, scatter)
