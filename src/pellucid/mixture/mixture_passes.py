"""Mixtures of any densities over rows in blocks: a pass for each step of EM, which leaves what the densities need.

The start is the mixture of some rows, kept by the first pass. Values that none of them has are given a place in it: a
little of what all rows leave is added to every component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.fit import Effort, Fit
from pellucid.core.scale.first_look import MOST_NUMBERS, MOST_ROWS
from pellucid.core.scale.moments import RowMoments, block_weights, moments_of, refuse_no_weight, refuse_values
from pellucid.core.scale.row_blocks import BlockError, RowBlock, RowBlocks
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.mixture.mixture_solvers import (
    MixtureOfDensities,
    Parts,
    ascend,
    best_density_mixture,
    clustered_start,
    density_of_values,
    fitted_densities,
    is_by_column,
    log_joint,
    responsibilities,
    smoothed_gaussian,
)
from pellucid.probability import Gaussian, MultivariateGaussian
from pellucid.probability.columns_in_blocks import AskedColumns, ColumnSums, asked_columns, read_columns
from pellucid.proofs.training_data import TrainingData

UNSEEN = 0.01
"""Share of all rows in the start, which is made of those kept."""

Sums = ColumnSums | RowMoments
"""What the rows of a component leave: of each column, or of whole rows."""


@dataclass(frozen=True, eq=False)
class MixtureLook:
    """What the first pass leaves: the sums of all rows, and some of them, weighted so that they stand for all."""

    sums: Any
    n_counted: int
    rows: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class MixtureStep:
    """What a step leaves: the sum of log densities, and the sums of each component."""

    log_density: float
    sums: tuple[Any, ...]

    @property
    def weights(self) -> Array:
        """Of the components."""
        return np.array([_moments(one).weight for one in self.sums])


def mixture_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the fit of EM from one start."""
    wanted, n = estimator.densities, estimator.n_components
    by_column = is_by_column(wanted)
    asked = asked_columns(wanted, blocks) if by_column else None
    kept = min(MOST_ROWS, max(1, MOST_NUMBERS // blocks.n_features))
    look: MixtureLook | None = blocks.reduce(look_at_rows, join_looks, asked, -(-kept // len(blocks)))
    refuse_no_weight([] if look is None else [look])
    assert look is not None
    if look.n_counted < n:
        raise ValueError(
            f"n_samples must be at least n_components, got n_samples={look.n_counted} and n_components={n}. "
            "Ask for fewer components."
        )
    parts = Parts([[MultivariateGaussian]] * n, by_column=False)
    if asked is not None:
        kinds = asked.kinds([look.sums])
        parts = Parts([kinds] * n, by_column=True)
        plain = tuple(kind is Gaussian for kind in kinds)
        asked = AskedColumns(asked.wanted, plain, tuple(not is_plain for is_plain in plain))

    def passed(found: MixtureOfDensities) -> MixtureStep:
        made: MixtureStep = blocks.reduce(step_of_block, join_steps, found, parts.by_column, asked)
        return made

    def step(found: MixtureOfDensities) -> tuple[float, MixtureOfDensities]:
        made = passed(found)
        return made.log_density / float(made.weights.sum()), _densities_of(estimator, parts, made.sums, found)

    def likelihood(found: MixtureOfDensities) -> float:
        made = passed(found)
        return made.log_density / float(made.weights.sum())

    if isinstance(wanted, (list, tuple)):
        start = MixtureOfDensities(np.full(n, 1.0 / n), [[density] for density in wanted])
    else:
        start = _start(estimator, parts, asked, look)
    effort = Effort(
        estimator.tol,
        estimator.max_iter,
        lambda found: watch({"weights_": found.weights, "densities_": found.densities, "by_column_": parts.by_column}),
    )
    return ascend(parts, start, step, likelihood, effort)


def _start(estimator: Any, parts: Parts, asked: AskedColumns | None, look: MixtureLook) -> MixtureOfDensities:
    """Return the best mixture of the rows kept, with a little of all rows in each component."""
    n, rng = estimator.n_components, check_random_state(estimator.random_state)
    if len(look.rows) < n:
        raise ValueError(f"n_components must be at most {len(look.rows):,} for rows in blocks, the rows that are kept.")
    data, smoothing = TrainingData(look.rows, weight=look.weight), estimator.var_smoothing
    found = best_density_mixture(
        data,
        parts,
        lambda: clustered_start(data, parts, n, smoothing, rng),
        estimator.n_init,
        smoothing,
        Effort(estimator.tol, estimator.max_iter),
    ).attributes
    best = MixtureOfDensities(found["weights_"], found["densities_"])
    made = step_of_block(RowBlock(0, look.rows, None, look.weight), best, parts.by_column, asked)
    everywhere = look.sums.scaled(UNSEEN / n)
    return _densities_of(
        estimator, parts, tuple(one.scaled(1.0 - UNSEEN).merged(everywhere) for one in made.sums), best
    )


def _densities_of(estimator: Any, parts: Parts, sums: Sequence[Any], old: MixtureOfDensities) -> MixtureOfDensities:
    """Return weights and densities of what the rows of each component leave."""
    of_all = reduce(RowMoments.merged, map(_moments, sums))
    floor = estimator.var_smoothing * of_all.scatter.diagonal() / of_all.weight

    def fit(k: int, j: int, kind: Any, before: Any) -> Any:
        own = _moments(sums[k])
        if kind is MultivariateGaussian:
            return smoothed_gaussian(kind, own.mean, own.scatter / own.weight, floor)
        if kind is Gaussian:
            return smoothed_gaussian(kind, own.mean[j:], own.scatter.diagonal()[j:] / own.weight, floor[j:])
        values, weight = sums[k].values(j)
        return density_of_values(kind, values, weight, before)

    return fitted_densities(parts, np.array([_moments(one).weight for one in sums]), fit, old)


def _moments(sums: Sums) -> RowMoments:
    return sums if isinstance(sums, RowMoments) else sums.moments


def look_at_rows(block: RowBlock, asked: AskedColumns | None, count: int) -> MixtureLook | None:
    """Return the sums of a block and some of its rows, evenly spaced among those that count."""
    block, weight = _counted(block)
    if not len(block):
        return None
    (sums,) = _sums_of(block, [weight], asked)
    some = np.unique(np.linspace(0, len(block) - 1, count).astype(np.intp))
    own = weight[some] * (weight.sum() / weight[some].sum())
    return MixtureLook(sums, len(block), block.X[some], own)


def join_looks(found: Sequence[MixtureLook | None]) -> MixtureLook | None:
    """Return what several blocks leave, which come in order."""
    known = [one for one in found if one is not None]
    if not known:
        return None
    sums = reduce(lambda one, other: one.merged(other), [one.sums for one in known])
    rows, weight = (np.concatenate([getattr(one, name) for one in known]) for name in ("rows", "weight"))
    return MixtureLook(sums, sum(one.n_counted for one in known), rows, weight)


def step_of_block(block: RowBlock, found: MixtureOfDensities, by_column: bool, asked: AskedColumns | None) -> Any:
    """Return what a step sums over the rows of a block, None where no row counts."""
    block, weight = _counted(block)
    if not len(block):
        return None
    values = Parts([], by_column).values(block.X)
    logs, shares = responsibilities(log_joint(found.weights, found.densities, values), found.weights)
    return MixtureStep(float(weight @ logs), tuple(_sums_of(block, list((shares * weight[:, None]).T), asked)))


def join_steps(found: Sequence[MixtureStep]) -> MixtureStep:
    """Return the sums over several blocks, which come in order."""
    components = zip(*(one.sums for one in found), strict=True)
    sums = tuple(reduce(lambda one, other: one.merged(other), parts) for parts in components)
    return MixtureStep(float(np.sum([one.log_density for one in found])), sums)


def _counted(block: RowBlock) -> tuple[RowBlock, Array]:
    """Return the rows of a block that count, and their weights."""
    weight = block_weights(block)
    if weight is None:
        return block, np.ones(len(block))
    places = np.flatnonzero(weight)
    return RowBlock(block.number, block.X[places]), weight[places]


def _sums_of(block: RowBlock, weights: list[Array], asked: AskedColumns | None) -> list[Any]:
    """Return what the rows of a block leave for each list of weights."""
    if asked is not None:
        return list(read_columns(block, asked).sums([(None, np.ascontiguousarray(w)) for w in weights], asked))
    X = block.X
    if X.dtype.kind not in "biuf":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            raise BlockError(f"block {block.number} must hold numbers, got words. Give densities by column.") from None
    found = [moments_of((X,), np.ascontiguousarray(weight)) for weight in weights]
    if not all(one.are_squarable for one in found):
        refuse_values(RowBlock(block.number, X))
    return found
