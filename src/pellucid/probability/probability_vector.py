"""Checks of probabilities and of how they add up."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.probability.frozen import finite_array

SUM_ERROR = 1e-9
"""How far from 1 probabilities may add up: rounding of decimals that were typed."""


def probability_vector(name: str, values: Data) -> Array:
    """Return probabilities of at least 0 that add up to 1, as float64, or refuse."""
    p = finite_array(name, values, 1)
    if p.min() < 0:
        raise ValueError(f"{name} must be at least 0, got {float(p.min())!r}.")
    if abs(p.sum() - 1) > SUM_ERROR:
        raise ValueError(f"{name} must add up to 1, got {float(p.sum())!r}. Divide by the sum.")
    return p


def counts_or_probabilities(name: str, values: Data) -> Array:
    """Return nonnegative numbers of any shape divided by their sum, or refuse."""
    table = np.asarray(values, dtype=np.float64)
    if table.size == 0 or not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"{name} must hold finite numbers of at least 0, got {_culprit(table)}.")
    largest = table.max()
    if largest == 0:
        raise ValueError(f"{name} must hold a number above 0, got only zeros.")
    scaled = table / largest  # the sum of large counts may overflow
    return np.asarray(scaled / scaled.sum())


def _culprit(table: Array) -> str:
    if table.size == 0:
        return "an empty array"
    return repr(float(table[~(np.isfinite(table) & (table >= 0))][0]))
