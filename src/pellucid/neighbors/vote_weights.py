"""How much each neighbor counts, from its distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array


def inverse_weights(distances: Array, rate: float) -> Array:  # noqa: ARG001  (the signature of every weighting)
    """Return 1 / d; where a neighbor is at distance 0 only such neighbors count, 1 each."""
    at_zero = distances == 0
    with np.errstate(divide="ignore", over="ignore"):
        weights = 1.0 / distances
    # 1 / d overflows for the tiniest distances: those count as 0 as well
    at_zero |= np.isinf(weights)
    return np.where(at_zero.any(axis=1, keepdims=True), at_zero.astype(np.float64), weights)


def exponential_weights(distances: Array, rate: float) -> Array:
    """Return exp(-rate d), divided by the weight of the nearest so that not all of them underflow."""
    return np.exp(-rate * (distances - distances.min(axis=1, keepdims=True)))


WEIGHTINGS: dict[str, Callable[[Array, float], Array]] = {
    "distance": inverse_weights,
    "exponential": exponential_weights,
}


def vote_weights(distances: Array, weights: Any, rate: float) -> Array | None:
    """Return the weight of every neighbor, of the shape of ``distances``, or None if all count the same.

    Examples
    --------
    >>> vote_weights(np.array([[1.0, 2.0], [0.0, 2.0]]), "distance", 1.0)
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if weights in (None, "uniform"):
        return None
    found = WEIGHTINGS[weights](distances, rate) if isinstance(weights, str) else np.asarray(weights(distances))
    if found.shape != distances.shape:
        raise ValueError(f"weights must return an array of shape {distances.shape}, got {found.shape}.")
    if not np.any(found, axis=1).all():
        raise ValueError(
            "weights must be above 0 for at least one neighbor of every query, got a query where all are 0. "
            "Use a function that does not vanish."
        )
    return found
