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


def place_by_stress(places: Array, wanted: Array, weights: Array) -> Array:
    """Return the places (q, p) of rows with wanted distances (q, n) to the known places (n, p), and weights (q, n)."""
    found = np.empty((len(wanted), places.shape[1]))
    height = max(1, BLOCK_ENTRIES // max(1, places.size))
    for start in range(0, len(wanted), height):
        part = slice(start, start + height)
        found[part] = _placed(places, wanted[part], weights[part])
    return found


def _placed(places: Array, wanted: Array, weights: Array) -> Array:
    near = np.argsort(wanted, axis=1, kind="stable")[:, : min(NEAREST, len(places))]
    found = places[near].mean(axis=1)
    size = max(float(np.ptp(places, axis=0).max(initial=0.0)), np.finfo(float).tiny)
    total = weights.sum(axis=1, keepdims=True)
    center = weights @ places
    for _ in range(MOST_STEPS):
        apart = found[:, None] - places
        distance = np.sqrt(np.einsum("qnp,qnp->qn", apart, apart))
        pull = weights * wanted / np.where(distance > 0.0, distance, np.inf)
        following = (center + np.einsum("qn,qnp->qp", pull, apart)) / total
        moved = float(np.abs(following - found).max(initial=0.0))
        found = following
        if moved <= STILL * size:
            break
    return found


def with_known(found: Array, places: Array, distances: Array) -> Array:
    """Return the places, with those of known rows for rows at distance 0 from one, of several the first."""
    is_known = distances == 0.0
    new = np.flatnonzero(is_known.any(axis=1))
    found[new] = places[is_known[new].argmax(axis=1)]
    return found
