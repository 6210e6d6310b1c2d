"""How many vectors a decomposition has on each side."""

from __future__ import annotations

from typing import Any

DEFAULT_TRUNCATED = 2


def wanted_shape(parameters: Any, shape: tuple[int, int]) -> tuple[int, int, int]:
    """Return how many left vectors, singular values and right vectors are wanted; refuse more than there are."""
    n, d = shape
    most = min(n, d)
    if parameters.kind == "full":
        return n, most, d
    k = parameters.n_components
    if k is None:
        k = most if parameters.kind == "compact" else min(DEFAULT_TRUNCATED, most)
    if k > most:
        raise ValueError(f"n_components must be at most {most}, the shorter side of X, got {k}. Ask for fewer.")
    return k, k, k
