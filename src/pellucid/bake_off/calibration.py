"""Calibration: whether, of the rows given 70 %, 70 % come true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array

N_BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Rows in bins of their predicted probability: the mean prediction, the share that came true, and how many."""

    event: str
    predicted: Array
    observed: Array
    counts: Array

    @property
    def mean_gap(self) -> float:
        """Mean distance between prediction and truth over the rows (the expected calibration error)."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.counts))


def reliability(probabilities: Array, classes: Array, actual: Array) -> Reliability:
    """Return the reliability of the second of two classes, or of the predicted class if there are more.

    Examples
    --------
    >>> chances = np.array([[0.9, 0.1], [0.9, 0.1], [0.25, 0.75], [0.25, 0.75]])
    >>> found = reliability(chances, np.array(["no", "yes"]), np.array(["no", "no", "yes", "no"]))
    >>> found.predicted, found.observed, found.counts
    (array([0.1 , 0.75]), array([0. , 0.5]), array([2, 2]))
    """
    if len(classes) == 2:
        chance, came_true, event = probabilities[:, 1], actual == classes[1], f"the class is {classes[1]}"
    else:
        best = probabilities.argmax(axis=1)
        chance, came_true = probabilities[np.arange(len(best)), best], actual == classes[best]
        event = "the predicted class is right"
    bins = np.minimum((chance * N_BINS).astype(int), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    used = counts > 0
    sums = [np.bincount(bins, weights=values, minlength=N_BINS)[used] for values in (chance, came_true)]
    return Reliability(event, sums[0] / counts[used], sums[1] / counts[used], counts[used])
