r"""Places of new rows on a map that stays as it is: each one for itself goes where its affinities draw it.

.. math:: \min_z \sum_j p_j \log\bigl(1 + \|z - z_j\|^2/\nu\bigr),\qquad
   z \leftarrow \frac{\sum_j p_j s_j z_j}{\sum_j p_j s_j},\quad s_j = \frac{1}{1 + \|z - z_j\|^2/\nu},

a step that never raises the sum: the logarithm lies below its tangents. It begins at the best of the neighbors'
places, so that a row between two clusters goes to one of them, not into the empty middle.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array

MOST_STEPS = 100
STILL = 1e-7
"""Movement in one step, in parts of the size of the map, that ends the search."""
BLOCK_ENTRIES = 2**18


def place_by_affinity(places: Array, neighbors: Array, affinities: Array) -> Array:
    """Return the places (q, p) of rows with these neighbors and affinities (q, k) among the known places (n, p)."""
    k = neighbors.shape[1]
    found = np.empty((len(neighbors), places.shape[1]))
    size = max(float(np.ptp(places, axis=0).max(initial=0.0)), np.finfo(float).tiny)

    def work(rows: slice) -> None:
        found[rows] = _placed(places[neighbors[rows]], affinities[rows], size)

    run_blocks(work, split_evenly(len(neighbors), -(-len(neighbors) * k * k // BLOCK_ENTRIES)))
    return found


def _placed(known: Array, affinities: Array, size: float) -> Array:
    """Return the places of some rows, given those of their neighbors (q, k, p)."""
    freedom = max(known.shape[2] - 1, 1)
    square = np.sum((known[:, :, None] - known[:, None]) ** 2, axis=3)
    best = np.argmin(np.einsum("qj,qij->qi", affinities, np.log1p(square / freedom)), axis=1)
    found = known[np.arange(len(known)), best].copy()
    for _ in range(MOST_STEPS):
        pull = affinities / (1.0 + np.sum((found[:, None] - known) ** 2, axis=2) / freedom)
        following = np.einsum("qj,qjp->qp", pull, known) / pull.sum(axis=1, keepdims=True)
        moved = float(np.abs(following - found).max(initial=0.0))
        found = following
        if moved <= STILL * size:
            break
    return found
