r"""The two weightings that Sammon's stress is known with.

'inverse'
    :math:`w = 1/\delta`, divided by the sum of all distances: Sammon's own (1969);
'inverse_square'
    :math:`w = 1/\delta^2`, divided by the number of pairs: the mean squared relative error.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

WEIGHTINGS = ("inverse", "inverse_square")


def mean_distance(distances: Array) -> float:
    """Return the mean of the distances of pairs that are apart; 1 if there are none."""
    n_apart = int(np.sum(distances > 0.0))
    return float(distances.sum()) / n_apart if n_apart else 1.0


def weights_for(distances: Array, weighting: str) -> Array:
    """Return the weight of each pair, with distances in units of their mean, so that nothing overflows.

    Pairs at distance 0 have none, as nothing can be divided by it.
    """
    power = 1 if weighting == "inverse" else 2
    is_apart = distances > 0.0
    mean = mean_distance(distances)
    return np.where(is_apart, (np.where(is_apart, distances, mean) / mean) ** -power, 0.0)


def normalizer(distances: Array) -> float:
    """Return what the sum with these weights is divided by: it is the same for both weightings."""
    return max(int(np.sum(distances > 0.0)) / 2.0 * mean_distance(distances) ** 2, np.finfo(float).tiny)
