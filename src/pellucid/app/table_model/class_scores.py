"""Scores of classes, and the probabilities that they become: one temperature for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import optimize
from scipy.special import log_softmax, softmax

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data

LEAST_PROBABILITY = 1e-9
"""A probability of 0 has no logarithm."""
COLDEST, HOTTEST = 20.0, 0.05
"""Inverse temperatures; 1 leaves probabilities as they are, more makes them bolder, less more cautious."""


@dataclass(frozen=True)
class HeldOutScores:
    """The scores of all classes of rows held out, and the places of their true ones: what a temperature comes from."""

    scores: Array
    codes: Array


def class_scores(method: Any, X: Data) -> Array:
    """Return a score for every row and class: the logarithm of its probability, or what the decision function says.

    The class with the largest score is the one predicted.
    """
    if hasattr(method, "predict_proba"):
        return scores_of_probabilities(method.predict_proba(X))
    scores = np.asarray(method.decision_function(X), dtype=np.float64)
    return np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores


def scores_of_probabilities(chances: Array) -> Array:
    """Return the logarithms of probabilities."""
    return np.asarray(np.log(np.clip(chances, LEAST_PROBABILITY, 1.0)))


def probabilities(scores: Array, inverse_temperature: float) -> Array:
    """Return the probabilities that scores stand for; the order of the classes stays what it was.

    Examples
    --------
    >>> probabilities(np.log([[0.8, 0.2]]), 0.5).round(3)
    array([[0.667, 0.333]])
    """
    return np.asarray(softmax(inverse_temperature * scores, axis=1))


def best_inverse_temperature(scores: Array, codes: Array) -> float:
    """Return the inverse temperature under which rows held out are most likely; ``codes`` are their classes.

    One row more, which speaks for leaving the scores as they are, decides where few rows would push it far. The
    logarithm of a softmax is concave in the inverse temperature, so there is one best.

    Examples
    --------
    >>> sure = np.log(np.tile([[0.99, 0.01]], (100, 1)))
    >>> codes = (np.arange(100) % 10 == 0).astype(int)  # sure of 99 in 100, right in 90
    >>> round(best_inverse_temperature(sure, codes), 2)
    0.49
    """
    own = np.arange(len(codes)), codes

    def loss(logarithm: float) -> float:
        return 0.5 * logarithm**2 - float(log_softmax(np.exp(logarithm) * scores, axis=1)[own].sum())

    found = optimize.minimize_scalar(loss, bounds=(np.log(HOTTEST), np.log(COLDEST)), method="bounded")
    return float(np.exp(found.x))


def least_cost(chances: Array, costs: Array) -> Array:
    """Return, row by row, the place of the class that is the cheapest to call, the first of equals.

    Examples
    --------
    >>> least_cost(np.array([[0.8, 0.2], [0.95, 0.05]]), np.array([[0.0, 1.0], [9.0, 0.0]]))
    array([1, 0])
    """
    return np.asarray((chances @ costs).argmin(axis=1))


def costs_of_threshold(threshold: float) -> Array:
    """Return the costs by which the second of two classes is called from above a probability on."""
    return np.array([[0.0, threshold], [1.0 - threshold, 0.0]])


MOST_NUMBERS = 40_000
MOST_ROWS = 4000
"""Of one split: more would hardly change a quantile or a temperature, and cost time and memory."""


@dataclass(frozen=True)
class HeldOut:
    """True values and predictions of numbers, or labels and the scores of all classes, row by row."""

    actual: Array
    said: Array
    weights: Array | None = None

    @classmethod
    def of_numbers(cls, actual: Array, predicted: Array) -> Self:
        """Return the numbers that were predicted for one split."""
        rows = some_rows(len(actual), MOST_ROWS)
        return cls(actual[rows], predicted[rows])

    @classmethod
    def of_classes(
        cls,
        method: Any,
        X: Data,
        actual: Array,
        classes: Array,
        weights: Array | None = None,
        chances: Array | None = None,
    ) -> Self:
        """Return the scores that a classifier gives the rows of one split; a class it never met has the least.

        ``chances`` are its probabilities of all classes, if somebody asked for them before.
        """
        rows = some_rows(len(actual), min(MOST_ROWS, MOST_NUMBERS // len(classes)))
        known = np.searchsorted(classes, method.classes_)
        found = class_scores(method, X[rows]) if chances is None else scores_of_probabilities(chances[rows][:, known])
        said = np.full((len(found), len(classes)), found.min(initial=0.0))
        said[:, known] = found
        return cls(actual[rows], said, None if weights is None else weights[rows])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return several splits as one."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.said for part in parts]),
            np.concatenate(weights) if weights else None,
        )
