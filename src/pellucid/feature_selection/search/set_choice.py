"""Which of several scored sets is the best, and which one to choose."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

EQUAL = 1e-10
"""Mean scores that differ by less, in parts of the larger or of 1, are equal: that much is rounding."""


def mean_scores(fold_scores: Array) -> Array:
    """Return the mean score of each set; minus infinity where a fold could not be scored."""
    means = np.mean(fold_scores, axis=-1)
    return np.where(np.isnan(means), -np.inf, means)


def standard_errors(fold_scores: Array) -> Array:
    """Return the standard error of each mean score, from the spread over the folds; 0 for a single fold."""
    n = fold_scores.shape[-1]
    return np.asarray(np.std(fold_scores, axis=-1, ddof=1) / np.sqrt(n)) if n > 1 else np.zeros(len(fold_scores))


def is_better(score: float, other: float) -> bool:
    """Return whether a score is above another by more than rounding."""
    return bool(score > other + _rounding(other)) if np.isfinite(other) else bool(score > other)


def best_of(means: Array) -> int:
    """Return the place of the largest mean, the first of those that are equal up to rounding."""
    largest = float(np.max(means))
    return int(np.argmax(means >= largest - _rounding(largest)))


def _rounding(score: float) -> float:
    return EQUAL * max(1.0, abs(score)) if np.isfinite(score) else 0.0


def chosen_set(visited: Array, fold_scores: Array, wanted: int | str) -> int:
    """Return the place of the set to choose among those visited.

    A number asks for the best set of that size; 'best' for the best of all, with the fewest columns of equal ones;
    'one-standard-error' for the best of the smallest size at which some set is within one standard error of that.
    """
    means, sizes = mean_scores(fold_scores), visited.sum(axis=1)
    if isinstance(wanted, str):
        top = _best_by_size(means, sizes)
        if wanted == "best":
            return top
        enough = means[top] - standard_errors(fold_scores[[top]])[0]
        wanted = int(sizes[means >= enough - _rounding(float(means[top]))].min())
    places = np.flatnonzero(sizes == wanted)
    return int(places[best_of(means[places])])


def _best_by_size(means: Array, sizes: Array) -> int:
    """Return the best set, with the fewest columns of those that are equal up to rounding."""
    largest = float(np.max(means))
    places = np.flatnonzero(means >= largest - _rounding(largest))
    return int(places[np.argmin(sizes[places])])
