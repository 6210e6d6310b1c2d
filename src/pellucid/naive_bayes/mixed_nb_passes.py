"""MixedNB on rows in blocks: one pass leaves, by class and column, the moments of numbers and the counts of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.scale.moments import RowMoments, groups_of, refuse_no_weight
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.naive_bayes.class_density_solvers import gaussian_columns, smoothing_of
from pellucid.naive_bayes.gaussian_nb_solvers import ClassMoments
from pellucid.probability import Density, Gaussian
from pellucid.probability.columns_in_blocks import AskedColumns, ColumnSums, asked_columns, read_columns

Columns = dict[Any, ColumnSums]
"""By class."""


def mixed_nb_in_passes(estimator: Any, blocks: RowBlocks, _watch: Watch) -> Fit:
    """Return the fit to all rows, by class and column."""
    asked = asked_columns(estimator.densities, blocks)
    found: Columns = blocks.reduce(columns_of_block, join_columns, asked)
    refuse_no_weight(found)
    classes = np.array(sorted(found))
    return _fit_of(estimator, classes, [found[label] for label in classes.tolist()], asked)


def _fit_of(estimator: Any, classes: Array, parts: list[ColumnSums], asked: AskedColumns) -> Fit:
    kinds = asked.kinds(parts)
    totals = np.array([part.moments.weight for part in parts])
    prior = (totals + estimator.prior_alpha) / (totals + estimator.prior_alpha).sum()
    plain = [j for j, kind in enumerate(kinds) if kind is Gaussian]
    means, scatters = zip(*((part.moments.mean[plain], part.moments.scatter.diagonal()[plain]) for part in parts),
                          strict=True)  # fmt: skip
    moments = ClassMoments(totals, np.stack(means), np.stack(scatters))
    of_gaussians = iter(gaussian_columns(moments, estimator.var_smoothing) if plain else [])
    loss, densities = float(totals @ np.log(prior)), list[list[Density]]()
    for j, kind in enumerate(kinds):
        if kind is Gaussian:
            densities.append(next(of_gaussians))
            loss += sum(_gaussian_loss(one, part.moments, j) for one, part in zip(densities[-1], parts, strict=True))
            continue
        columns = [part.values(j) for part in parts]
        options: dict[str, Any] = smoothing_of(kind, np.concatenate([v for v, _ in columns]), estimator.alpha)
        densities.append([kind.fit(*column, **options) for column in columns])
        pairs = zip(densities[-1], columns, strict=True)
        loss += sum(float(weight @ density.log_prob(values)) for density, (values, weight) in pairs)
    trace = Trace()
    trace.add(iteration=1, objective=-loss / float(totals.sum()))
    return Fit({"classes_": classes, "class_count_": totals, "class_prior_": prior, "densities_": densities}, trace)


def _gaussian_loss(density: Any, moments: RowMoments, j: int) -> float:
    at_mean = float(density.log_prob(moments.mean[j : j + 1])[0])
    return moments.weight * at_mean - 0.5 * float(moments.scatter[j, j]) / float(density.variance)


def columns_of_block(block: RowBlock, asked: AskedColumns) -> Columns:
    """Return what the rows of each class in a block leave."""
    columns = read_columns(block, asked)
    numbered = replace(block, X=np.arange(len(block))[:, None])
    groups = {label: (numbers[:, 0], weight) for label, (numbers,), weight in groups_of(numbered, "classes")}
    return dict(zip(groups, columns.sums(list(groups.values()), asked), strict=True))


def join_columns(found: Sequence[Columns]) -> Columns:
    """Return what several blocks leave, which come in order."""
    labels = dict.fromkeys(label for one in found for label in one)
    return {label: reduce(ColumnSums.merged, [one[label] for one in found if label in one]) for label in labels}
