"""The bend of a falling curve, and the first of the largest values."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

SAME = 1e-9
"""Values that differ by less, in parts of the larger, are equal: the first is preferred."""


def elbow_of(counts: Array, values: Array) -> int | None:
    """Return the count whose value is farthest below the line from the first to the last; None where there is no bend.

    Examples
    --------
    >>> elbow_of(np.array([1, 2, 3, 4]), np.array([100.0, 20.0, 15.0, 10.0]))
    2
    """
    if len(counts) < 3 or not values[0] > values[-1]:
        return None
    along = (counts - counts[0]) / (counts[-1] - counts[0])
    below = 1.0 - along - (values - values[-1]) / (values[0] - values[-1])
    return int(counts[first_largest(below)]) if below.max() > SAME else None


def first_largest(values: Array) -> int:
    """Return the place of the first value that no other exceeds by more than rounding."""
    best = values.max()
    return int(np.argmax(values >= best - SAME * abs(best)))
