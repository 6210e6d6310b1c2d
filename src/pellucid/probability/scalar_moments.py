"""Weighted mean and scatter of numbers, in blocks that fit in cache."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.probability.sample_data import SampleData, refuse_nonfinite

NEAR_CONSTANT = 1e-10
"""Values that vary by less than this part of their mean are shifted first: the rounded mean would be seen."""

BLOCK = 1 << 13
"""Numbers taken at once. BLAS would start its threads on longer products, which costs more than it brings here."""


def scalar_moments(data: SampleData) -> tuple[float, float, float]:
    """Return the number of values, their mean and ``sum w (x - mean)^2``; refuse what is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scatter = _about_the_mean(data.values, data.weight, data.total)
        if not np.isfinite(scatter):
            refuse_nonfinite(data.values)
        if scatter <= data.total * (NEAR_CONSTANT * mean) ** 2:
            origin = float(data.values[0])
            mean, scatter = _about_the_mean(data.values - origin, data.weight, data.total)
            mean += origin
    return data.total, mean, scatter


def _about_the_mean(x: Array, weight: Array | None, total: float) -> tuple[float, float]:
    blocks = [slice(start, min(start + BLOCK, len(x))) for start in range(0, len(x), BLOCK)]
    mean = float(x.sum() if weight is None else np.sum([weight[rows] @ x[rows] for rows in blocks])) / total
    buffer, scatter = np.empty(min(BLOCK, len(x))), 0.0
    for rows in blocks:
        centered = np.subtract(x[rows], mean, out=buffer[: rows.stop - rows.start])
        scatter += float(centered @ (centered if weight is None else weight[rows] * centered))
    return mean, scatter
