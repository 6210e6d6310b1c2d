"""Disparities: the distances on a map, made to rise with the dissimilarities by a monotone regression."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform

from pellucid.core.types import Array


class Disparities:
    """The order of the dissimilarities of all pairs; those of 0 are missing, and equal ones get equal disparities."""

    def __init__(self, dissimilarities: Array) -> None:
        values = squareform(dissimilarities, checks=False)
        self.n, self.is_known = len(dissimilarities), values != 0.0
        self.values, self.group, self.counts = np.unique(values[self.is_known], return_inverse=True, return_counts=True)

    def scaled(self, levels: Array) -> Array:
        """Return disparities of all pairs (n, n) from one for each different dissimilarity; their mean square is 1."""
        found = np.zeros(len(self.is_known))
        found[self.is_known] = levels[self.group]
        total = float(found @ found)
        return squareform(found * np.sqrt(len(found) / total) if total > 0.0 else found)

    def levels(self, places: Array) -> Array:
        """Return what the distances on a map say of each different dissimilarity, rising."""
        distances = pdist(places)[self.is_known]
        means = np.bincount(self.group, distances, minlength=len(self.values)) / self.counts
        return np.asarray(isotonic_regression(means, weights=self.counts).x)

    def __call__(self, places: Array, step: int) -> Array:
        """Return the disparities; before the first step they are the dissimilarities themselves."""
        return self.scaled(self.values if step == 0 else self.levels(places))

    def of(self, dissimilarities: Array, places: Array) -> Array:
        """Return disparities of other dissimilarities, between those of the map."""
        levels = self.levels(places)
        total = float(self.counts @ levels**2)
        scale = np.sqrt(len(self.is_known) / total) if total > 0.0 else 1.0
        return np.interp(dissimilarities, self.values, levels * scale)
