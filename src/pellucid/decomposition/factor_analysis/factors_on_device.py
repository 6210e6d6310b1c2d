"""What factor analysis does with rows on a device: expected factors and log densities, in double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.core.array_api import array_namespace
from pellucid.core.arrays import on_host
from pellucid.core.device.device_moments import groups_of
from pellucid.core.device.places import Place
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.core.types import Array
from pellucid.decomposition.factor_analysis.factor_model import log_determinant, posterior_map


def transform(model: Any, X: Any) -> Any:
    """Return the expected factors."""
    return _scores(X, on_host(model.mean_), on_host(model.components_), on_host(model.noise_variance_))


def score_samples(model: Any, X: Any) -> Any:
    """Return the log density of each row."""
    xp, place = array_namespace(X), Place.of(X)
    components, noise = (on_host(part).astype(np.float64) for part in (model.components_, model.noise_variance_))
    factors = _scores(X, on_host(model.mean_), components, noise)
    left = (X - place.holding(on_host(model.mean_), xp.float64)) - factors @ place.holding(components)
    distance = xp.sum(left * left / place.holding(noise), axis=1) + xp.sum(factors * factors, axis=1)
    return -0.5 * (distance + X.shape[1] * math.log(2.0 * math.pi) + log_determinant(components, noise))


def score(model: Any, X: Any, _y: Any = None, _sample_weight: Any = None) -> float:
    """Return the mean log density of the rows."""
    return float(array_namespace(X).mean(score_samples(model, X)))


def _scores(X: Any, mean: Array, components: Array, noise: Array) -> Any:
    place = Place.of(X)
    there = place.xp.float64
    weights = posterior_map(components.astype(np.float64), noise.astype(np.float64))
    return (X - place.holding(mean, there)) @ place.holding(weights, there)


def _factors(block: RowBlock, model: tuple[Array, Array, Array]) -> Any:
    tables = [parts[0] for _, parts, _ in groups_of(block, "rows")]
    return _scores(tables[0], *model)


def ends_of_block(block: RowBlock, model: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Return the largest and the least score of each factor."""
    scores = _factors(block, model)
    xp = array_namespace(scores)
    return on_host(xp.max(scores, axis=0)), on_host(xp.min(scores, axis=0))


def first_in_block(block: RowBlock, model: tuple[Array, Array, Array], largest: Array) -> Array:
    """Return the first score of each factor that is as large as any, 0 where there is none in this block."""
    scores = _factors(block, model)
    xp = array_namespace(scores)
    is_large = xp.abs(scores) >= Place.of(scores).holding(largest)
    first = on_host(xp.argmax(xp.astype(is_large, xp.int64), axis=0))
    values = np.array([float(scores[row, k]) for k, row in enumerate(first.tolist())])
    return np.where(on_host(xp.any(is_large, axis=0)), values, 0.0)
