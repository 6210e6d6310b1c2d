"""Factor analysis of rows in blocks: one pass for the moments that all steps work on, one for the signs of factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.fit import Effort, Fit
from pellucid.core.scale.moments import groups_of, join_summaries, refuse_no_weight, summarize_block
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks, made_on_device
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.decomposition.factor_analysis.factor_analysis import start_of_noise
from pellucid.decomposition.factor_analysis.factor_analysis_solvers import EQUAL, FactorProblem, fit_factors, turned
from pellucid.decomposition.factor_analysis.factor_model import factor_scores
from pellucid.solvers.presented_rows import without_constants


def factors_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the factors of all rows."""
    moments = blocks.reduce(summarize_block, join_summaries, "rows").moments
    refuse_no_weight(moments)
    found = moments[None]
    d, mass = blocks.n_features, found.weight
    covariance = without_constants(found.scatter, found.mean, mass) / mass
    k = d if estimator.n_components is None else min(d, estimator.n_components)
    start = start_of_noise(estimator.noise_variance_init, d)

    def tell(loadings: Array, noise: Array) -> bool:
        return watch({"components_": loadings, "noise_variance_": noise, "mean_": found.mean})

    problem = FactorProblem(found.mean, covariance, mass, k)
    fit = fit_factors(problem, start, Effort(estimator.tol, estimator.max_iter, tell))
    noise = fit.attributes["noise_variance_"]
    components = turned(fit.attributes["components_"], noise, estimator.rotation)
    model = (found.mean, components, noise)
    signs = _signs(blocks, model)
    return Fit({**fit.attributes, "components_": components * signs[:, None]}, fit.trace, fit.stopped)


def _signs(blocks: RowBlocks, model: tuple[Array, Array, Array]) -> Array:
    """Return the signs with which the largest score of each factor is above 0, the first of those that are equal."""
    high, low = blocks.reduce(_ends_of_block, _joined_ends, model)
    largest = (1.0 - EQUAL) * np.maximum(high, -low)
    if np.any((high >= largest) & (-low >= largest)):  # on both sides: the first row decides
        return np.where(blocks.reduce(_first_in_block, _first_found, model, largest) < 0.0, -1.0, 1.0)
    return np.where(-low > high, -1.0, 1.0)


def _scores(block: RowBlock, model: tuple[Array, Array, Array]) -> Array:
    tables = [parts[0] for _, parts, _ in groups_of(block, "rows")]
    return factor_scores(tables[0], *model) if tables else np.zeros((1, len(model[1])))  # scores of the mean


@made_on_device("pellucid.decomposition.factor_analysis.factors_on_device:ends_of_block")
def _ends_of_block(block: RowBlock, model: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    scores = _scores(block, model)
    return scores.max(axis=0), scores.min(axis=0)


def _joined_ends(found: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    return np.max([high for high, _ in found], axis=0), np.min([low for _, low in found], axis=0)


@made_on_device("pellucid.decomposition.factor_analysis.factors_on_device:first_in_block")
def _first_in_block(block: RowBlock, model: tuple[Array, Array, Array], largest: Array) -> Array:
    """Return the first score of each factor that is as large as any, 0 where there is none in this block."""
    scores = _scores(block, model)
    is_large = np.abs(scores) >= largest
    first = scores[np.argmax(is_large, axis=0), np.arange(scores.shape[1])]
    return np.where(is_large.any(axis=0), first, 0.0)


def _first_found(found: Sequence[Array]) -> Array:
    scores = np.array(found)
    return scores[np.argmax(scores != 0.0, axis=0), np.arange(scores.shape[1])]
