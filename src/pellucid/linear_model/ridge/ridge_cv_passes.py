"""RidgeCV on rows in blocks: one pass for the moments, one for the left-out errors of all rows and penalties.

A row that has the fit to itself, up to rounding, is left out indeed: two more passes find the moments of all rows but
the few of this kind, which are kept here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.scale.block_data import numbers_like
from pellucid.core.scale.equivalent_rows import rows_with
from pellucid.core.scale.moments import (
    BlockSummary,
    block_weights,
    join_summaries,
    join_triangles,
    summarize_block,
    triangles_of_block,
)
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks, made_on_device
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.linear_model.least_squares.least_squares_fits import fit_directly
from pellucid.linear_model.ridge.ridge_cv_solvers import FeatureDirections
from pellucid.solvers.design import make_design

NUMBERS_AT_ONCE = 1 << 18
"""Of rows, turned and squared for all penalties in one go."""


@dataclass(frozen=True, eq=False)
class LeftOutFit:
    """What a pass needs to know: the means, the weight that an intercept shares, and the fit along directions."""

    directions: FeatureDirections
    mean: Array
    y_mean: Array
    shared_weight: float
    """Of all rows; infinite without an intercept."""


@dataclass(frozen=True, eq=False)
class LoneRow:
    """A row that has the fit to itself at some penalties."""

    block: int
    number: int
    x: Array
    y: Array
    weight: float
    is_lone: Array  # (a,)


@dataclass(frozen=True, eq=False)
class LeftOutSums:
    """Sums of squared errors, of shape (t, a), over so many rows; those of lone rows are missing where they are."""

    squares: Array
    n_rows: int
    lone: tuple[LoneRow, ...]


def ridge_cv_in_passes(estimator: Any, blocks: RowBlocks, _watch: Watch) -> Fit:
    """Return the fit with the penalty that predicts left-out rows best."""
    data, alphas = numbers_like(blocks), estimator._alphas()
    design = make_design(data.X, fit_intercept=estimator.fit_intercept, sample_weight=data.weight)
    b, y_mean = design.center(data.y.reshape(len(data.y), -1))
    gram = design.gram()
    total = design.total_weight if estimator.fit_intercept else np.inf
    fit = LeftOutFit(FeatureDirections.of(design, b, alphas, gram), design.mean, y_mean, total)
    found = blocks.reduce(left_out_block, join_left_out, fit)
    if found.n_rows <= blocks.n_features + 1:
        raise ValueError(
            f"X must have more rows than columns, and one more, to leave out rows of blocks, "
            f"got n_samples={found.n_rows} and {blocks.n_features} columns. Take X.compute()."
        )
    squares = found.squares + _lone_squares(blocks, found.lone, alphas, fit_intercept=estimator.fit_intercept)
    scores, chosen = estimator._best_of(-squares / found.n_rows)
    return estimator._final_fit(data, design, gram, scores, chosen)  # type: ignore[no-any-return]


@made_on_device("pellucid.linear_model.ridge.ridge_cv_on_device:left_out_block")
def left_out_block(block: RowBlock, fit: LeftOutFit) -> LeftOutSums:
    """Return the sums of a block; ``fit`` was made from all rows, which are finite."""
    weight = block_weights(block)
    weight = np.ones(len(block)) if weight is None else weight
    assert block.y is not None
    X, y, kept = block.X, block.y.reshape(len(block), -1), np.flatnonzero(weight)
    _, t, a = fit.directions.weights.shape
    squares, lone = np.zeros((t, a)), list[LoneRow]()
    height = max(1, NUMBERS_AT_ONCE // (X.shape[1] + t * a))
    for start in range(0, len(kept), height):
        rows = kept[start : start + height]
        root = np.sqrt(weight[rows])[:, None]
        share = weight[rows] / fit.shared_weight
        errors, is_lone = fit.directions.errors(root * (X[rows] - fit.mean), root * (y[rows] - fit.y_mean), share)
        errors[np.broadcast_to(is_lone[:, None, :], errors.shape)] = 0.0
        squares += np.einsum("ija,ija->ja", errors, errors)
        for k in np.flatnonzero(is_lone.any(axis=1)):
            i = int(rows[k])
            x, target = X[i].astype(np.float64), y[i].astype(np.float64)
            lone.append(LoneRow(block.number, i, x, target, float(weight[i]), is_lone[k]))
    return LeftOutSums(squares, len(kept), tuple(lone))


def join_left_out(found: Sequence[LeftOutSums]) -> LeftOutSums:
    """Return the sums over several blocks."""
    lone = tuple(row for one in found for row in one.lone)
    return LeftOutSums(np.sum([one.squares for one in found], axis=0), sum(one.n_rows for one in found), lone)


def _lone_squares(blocks: RowBlocks, lone: tuple[LoneRow, ...], alphas: Array, *, fit_intercept: bool) -> Array:
    """Return the sums of squared errors of lone rows, each by a fit to all others.

    Leverages add up to p + 1 at most, and so there are no more of them than that.
    """
    if not lone:
        return np.zeros(1)
    places: dict[int, list[int]] = {}
    for row in lone:
        places.setdefault(row.block, []).append(row.number)
    moments = blocks.reduce(summary_without, join_summaries, places).moments[None]
    triangle = blocks.reduce(triangles_without, join_triangles, places, {None: moments.mean})[None]
    rest, rest_weight = rows_with(moments, triangle)
    p, squares = blocks.n_features, np.zeros((len(lone[0].y), len(alphas)))
    for row in lone:
        others = [other for other in lone if other is not row]
        table = np.concatenate([rest, *(np.concatenate([other.x, other.y])[None, :] for other in others)])
        weight = np.concatenate([rest_weight, [other.weight for other in others]])
        design = make_design(np.ascontiguousarray(table[:, :p]), fit_intercept=fit_intercept, sample_weight=weight)
        for place in np.flatnonzero(row.is_lone):
            line = fit_directly(design, table[:, p:], np.full(len(row.y), alphas[place]), one_target=False)
            squares[:, place] += row.weight * (row.y - line.intercept - row.x @ line.coef) ** 2
    return squares


@made_on_device("pellucid.linear_model.ridge.ridge_cv_on_device:summary_without")
def summary_without(block: RowBlock, places: dict[int, list[int]]) -> BlockSummary:
    """Return the moments of a block without some of its rows."""
    return summarize_block(_without(block, places), "numbers")


@made_on_device("pellucid.linear_model.ridge.ridge_cv_on_device:triangles_without")
def triangles_without(block: RowBlock, places: dict[int, list[int]], means: dict[Any, Array]) -> dict[Any, Array]:
    """Return the triangle of a block without some of its rows."""
    return triangles_of_block(_without(block, places), "numbers", None, means)


def _without(block: RowBlock, places: dict[int, list[int]]) -> RowBlock:
    if block.number not in places:
        return block
    weight = np.ones(len(block)) if block.weight is None else block.weight.astype(np.float64)
    weight[places[block.number]] = 0.0
    return replace(block, weight=weight)
