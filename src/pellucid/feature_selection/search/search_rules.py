"""The rules of a search: where it starts, how far it goes, which set is better and which is chosen."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from pellucid.core.types import Array

BEYOND = 2
"""Sizes that a floating search goes beyond the one wanted: on its way back it may find a better set of that size."""


def holds_numbers(y: Any) -> bool:
    """Return whether a target is one of numbers, floats, rather than of labels."""
    return np.asarray(y).dtype.kind == "f"


def is_floating(parameters: Any) -> bool:
    """Return whether these are parameters of a FloatingSelector, which chooses among all sets it has seen."""
    return hasattr(parameters, "max_features")


def sequential_steps(parameters: Any, d: int) -> tuple[int, float | None]:
    """Return how many steps a plain search takes at most, and what the last must gain, as in scikit-learn."""
    wanted, is_forward = parameters.n_features_to_select, not starts_from_all(parameters)
    if wanted == "auto":
        return (d // 2, None) if parameters.tol is None else (d - 1, float(parameters.tol))
    size = int(wanted) if isinstance(wanted, Integral) else int(d * wanted)
    return (size if is_forward else d - size), None


def floating_goal(parameters: Any, d: int) -> tuple[int | str, int]:
    """Return what set is wanted, a size or a rule, and the size at which the search ends."""
    wanted, grows = parameters.n_features_to_select, not starts_from_all(parameters)
    if isinstance(wanted, str):
        return wanted, (d if parameters.max_features is None else int(parameters.max_features)) if grows else 1
    size = int(wanted) if isinstance(wanted, Integral) else max(1, int(d * wanted))
    beyond = BEYOND if parameters.direction.startswith("floating") else 0
    return size, min(d, size + beyond) if grows else max(1, size - beyond)


def starts_from_all(parameters: Any) -> bool:
    """Return whether a search begins with all columns."""
    direction = parameters.direction
    return bool(direction.endswith("backward") or (direction == "add-remove" and parameters.remove > parameters.add))


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
