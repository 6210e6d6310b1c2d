r"""How well a map keeps what the distances of the rows say: four figures, all from ranks or pairs of distances.

With :math:`r_{ij}` the rank of row j among the others by its distance from row i, and :math:`U_k(i)` the rows that are
among the k nearest of i on the map but not in the data,

.. math:: T = 1 - \frac{2}{nk(2n - 3k - 1)}\sum_i \sum_{j \in U_k(i)} (r_{ij} - k)

is the trustworthiness: 1 if no stranger is a neighbor on the map. Continuity is the same with data and map exchanged: 1
if no neighbor has been torn away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array, Data

BLOCK_ENTRIES = 2**20
"""Distances of one block of rows: 8 MB."""


@dataclass(frozen=True)
class EmbeddingQuality:
    """Four figures of a map of the rows."""

    trustworthiness: float
    """1 if the neighbors on the map are neighbors in the data."""
    continuity: float
    """1 if the neighbors in the data are neighbors on the map."""
    stress: float
    """Root of the squared differences of the distances, in parts of those in the data, with the map in its best size.

    0 for a map in the right proportions, 1 for one that knows nothing of them.
    """
    distance_correlation: float
    """Pearson's correlation of the distances in the data and on the map, over all pairs of rows."""
    n_neighbors: int
    """Neighbors that the first two figures look at."""

    def __str__(self) -> str:
        return (
            f"trustworthiness {self.trustworthiness:.3f}, continuity {self.continuity:.3f}, "
            f"stress {self.stress:.3f}, distance correlation {self.distance_correlation:.3f}"
        )


def embedding_quality(distances: Data, embedding: Data, n_neighbors: int = 5) -> EmbeddingQuality:
    """Return how well an embedding keeps distances.

    Of equally near rows the first counts as nearer.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        Between the rows, in the data.
    embedding : array-like of shape (n_samples, n_components)
        The places of the rows on the map.
    n_neighbors : int, default=5
        Neighbors that trustworthiness and continuity look at: at least 1, below half of the rows.

    Examples
    --------
    Three points on a line, and a map that exchanges the last two:

    >>> print(embedding_quality([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[0.0], [3.0], [1.0]], n_neighbors=1))
    trustworthiness 0.000, continuity 0.000, stress 0.700, distance correlation -1.000
    """
    D, Z = (np.asarray(part, dtype=np.float64) for part in (distances, embedding))
    n, k = len(Z), n_neighbors
    if D.shape != (n, n):
        raise ValueError(
            f"distances must be those of all rows of the embedding, got shape {D.shape} for {n} rows. "
            "Pass a square matrix."
        )
    if not 1 <= k < n / 2:
        raise ValueError(f"n_neighbors must be at least 1 and below half of the {n} rows, got {k}. Ask for fewer.")
    size = max(float(D.max()), np.finfo(float).tiny), max(float(np.ptp(Z, axis=0).max()), np.finfo(float).tiny)
    parts = split_evenly(n, -(-n * n // BLOCK_ENTRIES))
    sums = np.sum(run_blocks(lambda rows: _sums(D[rows] / size[0], Z / size[1], rows, k), parts), axis=0)
    strangers, lost, in_data, on_map, data_squares, map_squares, products = (float(value) for value in sums)
    share = 2.0 / (n * k * (2 * n - 3 * k - 1))
    pairs = n * (n - 1)
    cosine = products / np.sqrt(data_squares * map_squares) if data_squares * map_squares > 0.0 else 0.0
    spreads = (data_squares - in_data**2 / pairs) * (map_squares - on_map**2 / pairs)
    together = products - in_data * on_map / pairs
    return EmbeddingQuality(
        1.0 - share * strangers,
        1.0 - share * lost,
        float(np.sqrt(max(0.0, 1.0 - cosine**2))),
        float(together / np.sqrt(spreads)) if spreads > 0.0 else 0.0,
        k,
    )


def _sums(in_data: Array, Z: Array, rows: slice, k: int) -> Array:
    """Return sums over some rows: ranks of strangers and of lost neighbors, distances, their squares and products."""
    on_map = cdist(Z[rows], Z)
    own = np.arange(len(on_map)), np.arange(rows.start, rows.stop)
    ranks = []
    for distances in (in_data, on_map):
        first = distances.copy()
        first[own] = -1.0  # a row is its own nearest, of rank 0
        order = np.argsort(first, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None], axis=1)
        ranks.append(rank)
    excess = [
        np.sum((rank - k)[(other >= 1) & (other <= k) & (rank > k)])
        for rank, other in (ranks, reversed(ranks))
    ]  # fmt: skip
    together = np.vdot(in_data, on_map)
    squares = np.vdot(in_data, in_data), np.vdot(on_map, on_map)
    return np.array([*excess, in_data.sum(), on_map.sum(), *squares, together], dtype=np.float64)
