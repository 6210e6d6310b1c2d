"""How relevance and redundancy of columns are weighed."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

LEAST = 1e-12
"""Bits below which a redundancy counts as this, in the quotient."""


def criterion_values(relevance: Array, redundancy: Array, criterion: str) -> Array:
    """Return the criterion of each column, given what it shares with the chosen ones, a column for each of these."""
    if redundancy.shape[1] == 0:
        return relevance
    mean = redundancy.mean(axis=1)
    return relevance - mean if criterion == "difference" else relevance / np.maximum(mean, LEAST)
