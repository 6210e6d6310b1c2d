"""RidgeCV on a device: the left-out errors of all rows and penalties, in double precision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.device.device_moments import NUMBERS_AT_ONCE, block_weights, summarize_block, triangles_of_block
from pellucid.core.device.places import Place
from pellucid.core.scale.moments import BlockSummary
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.core.types import Array
from pellucid.linear_model.ridge.ridge_cv_passes import LeftOutFit, LeftOutSums, LoneRow
from pellucid.linear_model.ridge.ridge_cv_solvers import LEAST_FREE


def left_out_block(block: RowBlock, fit: LeftOutFit) -> LeftOutSums:
    """Return the sums of a block; ``fit`` was made from all rows, which are finite."""
    place, weight = Place.of(block.X), block_weights(block)
    xp = place.xp
    p, t, a = fit.directions.weights.shape
    vectors, inverses, weights, mean, y_mean = (
        place.holding(part, xp.float64)
        for part in (fit.directions.vectors, fit.directions.inverses, fit.directions.weights, fit.mean, fit.y_mean)
    )
    y = xp.reshape(block.y, (block.X.shape[0], -1))
    total, lone, counted = np.zeros((t, a)), list[LoneRow](), 0
    height = max(1, NUMBERS_AT_ONCE // (p + t * a))
    for start in range(0, block.X.shape[0], height):
        rows = slice(start, start + height)
        own = xp.ones(block.X[rows].shape[0], dtype=xp.float64, device=place.device) if weight is None else weight[rows]
        root = xp.sqrt(own)[:, None]
        z = (root * (block.X[rows] - mean)) @ vectors
        fitted = xp.reshape(z @ xp.reshape(weights, (p, t * a)), (-1, t, a))
        free = 1.0 - (own / fit.shared_weight)[:, None] - (z * z) @ inverses
        is_lone = (free < LEAST_FREE) & (own > 0.0)[:, None]
        errors = (root * (xp.astype(y[rows], xp.float64) - y_mean))[:, :, None] - fitted
        errors = errors / xp.where(free < LEAST_FREE, xp.full_like(free, LEAST_FREE), free)[:, None, :]
        errors = xp.where(is_lone[:, None, :], xp.zeros_like(errors), errors)
        total += on_host(xp.sum(errors * errors, axis=0))
        counted += int(xp.count_nonzero(own > 0.0))
        lone += [_lone_row(block, start + k, is_lone[k], own[k]) for k in _places(xp.any(is_lone, axis=1))]
    return LeftOutSums(total, counted, tuple(lone))


def _places(which: Any) -> list[int]:
    return [int(k) for k in np.flatnonzero(on_host(which))]


def _lone_row(block: RowBlock, i: int, is_lone: Any, weight: Any) -> LoneRow:
    x, y = (np.atleast_1d(on_host(part)).astype(np.float64) for part in (block.X[i], block.y[i]))  # type: ignore[index]
    return LoneRow(block.number, i, x, y, float(weight), on_host(is_lone))


def summary_without(block: RowBlock, places: dict[int, list[int]]) -> BlockSummary:
    """Return the moments of a block without some of its rows."""
    return summarize_block(_without(block, places), "numbers")


def triangles_without(block: RowBlock, places: dict[int, list[int]], means: dict[Any, Array]) -> dict[Any, Array]:
    """Return the triangle of a block without some of its rows."""
    return triangles_of_block(_without(block, places), "numbers", None, means)


def _without(block: RowBlock, places: dict[int, list[int]]) -> RowBlock:
    if block.number not in places:
        return block
    weight = np.ones(block.X.shape[0]) if block.weight is None else on_host(block.weight).astype(np.float64)
    weight[places[block.number]] = 0.0
    return replace(block, weight=Place.of(block.X).holding(weight))
