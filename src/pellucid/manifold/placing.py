r"""Places of new rows on a map that stays as it is: each one for itself minimizes its stress with the known rows.

.. math:: \min_z \sum_j w_j(\|z - z_j\| - \delta_j)^2,\qquad
   z \leftarrow \frac{\sum_j w_j(z_j + \delta_j(z - z_j)/\|z - z_j\|)}{\sum_j w_j},

a step that never raises the stress. It begins at the mean of the nearest places; a row at distance 0 from a known one
stands where that one does.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

NEAREST = 5
MOST_STEPS = 1000
STILL = 1e-10
"""Movement in one step, in parts of the size of the map, that ends the search."""
BLOCK_ENTRIES = 2**20


def place_by_stress(places: Array, distances: Array, wanted: Array, weights: Array) -> Array:
    """Return the places (q, p) of rows with distances (q, n) to the rows of the known places (n, p).

    ``wanted`` are their distances on the map, with ``weights``, both (q, n). A row at distance 0 from known ones stands
    where the first of these does.
    """
    is_known = distances == 0.0
    found = places[is_known.argmax(axis=1)].astype(np.float64)
    new = np.flatnonzero(~is_known.any(axis=1))
    height = max(1, BLOCK_ENTRIES // max(1, places.size))
    for start in range(0, len(new), height):
        part = new[start : start + height]
        found[part] = _placed(places, wanted[part], weights[part])
    return found


def _placed(places: Array, wanted: Array, weights: Array) -> Array:
    near = np.argsort(wanted, axis=1, kind="stable")[:, : min(NEAREST, len(places))]
    found = places[near].mean(axis=1)
    size = max(float(np.ptp(places, axis=0).max(initial=0.0)), np.finfo(float).tiny)
    total, center = weights.sum(axis=1, keepdims=True), weights @ places
    moving = np.arange(len(found))
    for _ in range(MOST_STEPS):
        apart = found[moving, None] - places
        distance = np.sqrt(np.einsum("qnp,qnp->qn", apart, apart))
        pull = weights[moving] * wanted[moving] / np.where(distance > 0.0, distance, np.inf)
        following = (center[moving] + np.einsum("qn,qnp->qp", pull, apart)) / total[moving]
        moved = np.abs(following - found[moving]).max(axis=1, initial=0.0)
        found[moving] = following
        moving = moving[moved > STILL * size]  # most rows stand still long before the last one does
        if not len(moving):
            break
    return found
