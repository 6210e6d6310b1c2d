"""Scores of a clustering that have a name; the smaller, the better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array

Score = Callable[[Array, Array], float]


def inertia(X: Array, labels: Array) -> float:
    """Return the sum of squared distances to the means of the clusters."""
    total = 0.0
    for label in range(labels.max() + 1):
        rows = X[labels == label]
        total += float(np.square(rows - rows.mean(axis=0)).sum())
    return total


def diameter(X: Array, labels: Array) -> float:
    """Return the largest distance of two rows of a cluster."""
    gaps = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    return float(gaps[labels[:, None] == labels].max())


SCORES: dict[str, Score] = {"inertia": inertia, "diameter": diameter}


def score_named(score: Any) -> Score:
    """Return the function of a score that is given by its name, or is one."""
    if callable(score):
        return score
    if score not in SCORES:
        raise ValueError(f"score must be one of {tuple(SCORES)} or a function of X and labels, got {score!r}.")
    return SCORES[score]
