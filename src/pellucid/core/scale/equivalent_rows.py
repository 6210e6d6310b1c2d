"""Equivalent rows: a small weighted table that has the same moments as rows that nobody can hold.

A method whose answer depends on weight, mean and scatter alone gives the same answer for both, and a weight of k means
here that a row stands there k times. So a fit to rows in blocks is one pass, and the fit in memory of these rows: no
solver has a second form.

With ``R'R`` the scatter, each line of ``R`` gives two rows, ``mean + c R_i`` and ``mean - c R_i``, of a weight w with
``2 w c^2 = 1``; what is left of the weight lies on the mean itself. Any w will do. Where a column lies far from 0
beside its deviation, w is small and the rows are as far from the mean: they keep all digits of the scatter that way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dpotrf

from pellucid.core.scale.moments import (
    BlockSummary,
    Folds,
    RowMoments,
    join_summaries,
    join_triangles,
    refuse_no_weight,
    summarize_block,
    triangles_of_block,
)
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks, StandIn
from pellucid.core.types import Array

SQUARABLE = 1e-6
"""Smallest eigenvalue of the scatter, in units of the columns, whose digits a product of rows leaves well alone; below
it a second pass finds the triangle without one."""
FARTHEST = 2.0**24
"""Deviations by which the mean of a column may lie from 0 before the rows stay nearer: their squares must be finite."""
NEAR, AWAY = 2.0**8, 2.0**12
"""Deviations up to which rounding of the mean is nothing; beyond, one row of this part of the weight lies as many times
what was lost from the mean, so that the mean of all has the lost digits, and their scatter does not notice."""


def equivalent_rows(blocks: RowBlocks, kind: str, folds: Folds | None = None) -> StandIn:
    """Return rows with the moments of all, of each class or of each fold; targets of numbers are their last columns.

    ``kind`` is that of ``summarize_block``.
    """
    if folds is None or folds.heights:
        summary = blocks.reduce(summarize_block, join_summaries, kind, folds)
    else:
        summary, folds = _parted_later(blocks, kind, folds)
    labels = sorted(summary.moments)
    refuse_no_weight(labels)
    means = {label: summary.moments[label].mean for label in labels}
    factor = _deviations if kind == "columns" else _factor
    triangles = {label: factor(summary.moments[label].scatter) for label in labels}
    known = (means[None], summary.moments[None].scatter) if labels == [None] else None
    if any(triangle is None for triangle in triangles.values()):
        known = None
        exact = blocks.reduce(triangles_of_block, join_triangles, kind, folds, means)
        triangles = {label: exact[label] for label in labels}
    given = (rows_with(summary.moments[label], triangles[label], exact_mean=len(labels) > 1) for label in labels)
    tables, weights = zip(*given, strict=True)
    own = np.repeat(np.array(labels), [len(table) for table in tables])
    rows, weight = (parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in (tables, weights))
    return StandIn(rows, weight, own, known)


def _parted_later(blocks: RowBlocks, kind: str, folds: Folds) -> tuple[BlockSummary, Folds]:
    """Return the moments of folds whose ends nobody knows before a pass: blocks with an end in them are read again."""
    found = blocks.reduce(summarize_alone, join_alone, kind)
    heights = dict.fromkeys(range(len(blocks)), 0) | {number: height for number, height, _ in found}
    folds = replace(folds, heights=tuple(heights.values()))
    own = {number: np.unique(folds.of_block(number, height)).tolist() for number, height, _ in found}
    cut = [number for number, several in own.items() if len(several) > 1]
    rows, targets, weights = (
        [some[number] for number in cut] for some in (blocks.rows, blocks.targets, blocks.weights)
    )
    given = [(kind, replace(folds, first=number - place)) for place, number in enumerate(cut)]
    again = dict(
        zip(cut, replace(blocks, rows=rows, targets=targets, weights=weights).each(summarize_block, given), strict=True)
    )
    summaries = []
    for number, _, one in found:
        whole = {own[number][0]: one.moments[None]} if one.moments else {}
        summaries.append(again.get(number) or BlockSummary(whole))
    return join_summaries(summaries), folds


def summarize_alone(block: RowBlock, kind: str) -> tuple[tuple[int, int, BlockSummary], ...]:
    """Return the moments of a block with its number and height."""
    return ((block.number, len(block), summarize_block(block, kind)),)


def join_alone(found: Sequence[tuple[tuple[int, int, BlockSummary], ...]]) -> tuple[tuple[int, int, BlockSummary], ...]:
    """Return the same of several blocks, in order."""
    return tuple(one for some in found for one in some)


def _deviations(scatter: Array) -> Array:
    """Return one line that has the diagonal of the scatter: where columns count alone, nothing else is looked at."""
    return np.sqrt(scatter.diagonal())[None, :]


def _factor(scatter: Array) -> Array | None:
    """Return a triangular factor; None where the product of rows has lost too many digits for one."""
    unit = np.sqrt(scatter.diagonal())
    used = unit > 0.0
    if not used.all():
        places = np.ix_(used, used)
        part = _factor(scatter[places])
        if part is None:
            return None
        triangle = np.zeros_like(scatter)
        triangle[places] = part
        return triangle
    scaled = unit[:, None] * unit
    np.divide(scatter, scaled, out=scaled)
    less = scaled.copy()
    less.reshape(-1)[:: len(less) + 1] -= SQUARABLE
    # a factor of what is left says that no eigenvalue was smaller, for a fifth of what it takes to compute one; the
    # transpose is in the order of LAPACK, which is not to make a copy, and its lower half the quicker one to factor
    if len(less) and dpotrf(less.T, lower=True, clean=False, overwrite_a=True)[1]:
        return None
    factor = dpotrf(scaled.T, lower=True, overwrite_a=True)[0].T if len(scaled) else scaled
    return np.asarray(factor * unit)


def rows_with(moments: RowMoments, triangle: Array | None, *, exact_mean: bool = False) -> tuple[Array, Array]:
    """Return rows and weights with these moments; the weights add up to that of the moments without rounding.

    With an ``exact_mean``, what rounding took from it is given back, of which the differences to other means consist
    where columns lie far from 0; then columns that depend on each other do so up to rounding alone.

    Examples
    --------
    >>> rows, weight = rows_with(RowMoments(10.0, np.array([5.0]), np.array([[40.0]])), np.array([[np.sqrt(40.0)]]))
    >>> float(weight.sum()), float(weight @ rows[:, 0]), float((weight @ (rows - 5.0) ** 2).item())
    (10.0, 50.0, 40.0...)
    """
    assert triangle is not None
    lines = triangle if triangle.diagonal().all() else triangle[triangle.any(axis=1)]
    m = len(lines)
    if not m:
        return moments.mean[None, :], np.array([moments.weight])
    deviation = np.sqrt(np.maximum(moments.scatter.diagonal(), 0.0) / moments.weight)
    varies = deviation > 0.0
    far = (np.abs(moments.mean[varies]) / deviation[varies]).max(initial=1.0)
    each = moments.weight / (4.0 * m) / min(float(far), FARTHEST) ** 2
    each = math.ldexp(1.0, math.floor(math.log2(each)))  # a power of two: weights add up exactly
    rows, weight = np.empty((2 * m + 1, len(moments.mean))), np.full(2 * m + 1, each)
    step = lines / math.sqrt(2.0 * each)
    np.add(moments.mean, step, out=rows[:m])
    np.subtract(moments.mean, step, out=rows[m:-1])
    rows[-1], weight[-1] = moments.mean, moments.weight - 2.0 * m * each
    if exact_mean and far > NEAR and np.any(moments.rest):
        light = math.ldexp(1.0, math.floor(math.log2(moments.weight))) / AWAY
        rows = np.concatenate([rows, [moments.mean + moments.weight / light * moments.rest]])
        weight[-1] -= light
        weight = np.append(weight, light)
    return rows, weight
