"""Trees of merges without constraints: a chain of nearest neighbors, or a minimum spanning tree. O(n^2) time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.cluster.agglomerative.constrained_merges import connectivity_graph, constrained_tree
from pellucid.cluster.agglomerative.dendrogram import Dendrogram, tree_of_chain, tree_of_edges
from pellucid.cluster.agglomerative.distances import EUCLIDEAN, distance_matrix, paired_gaps
from pellucid.core.input_rules import unit_for
from pellucid.core.threads import run_blocks, thread_count
from pellucid.core.types import Array, MetricLike

WORTH_SPLITTING = 1000
"""Rows from which a spanning tree is looked for in three parts, and distances are shared among threads."""


def merge_tree(X: Array, linkage: str, metric: MetricLike, connectivity: Any, n_merges: int) -> Dendrogram:
    """Return the tree of merges of all rows, or with a connectivity of the first so many."""
    if connectivity is not None:
        edges, n_pieces = connectivity_graph(X, connectivity, metric)
        if linkage == "single":
            lengths = paired_gaps(X, edges[:, 0], edges[:, 1], metric)
            is_kept = _in_spanning_tree(edges, lengths, len(X))
            tree = tree_of_edges(edges[is_kept], lengths[is_kept])
        else:
            tree = constrained_tree(X, edges, linkage, metric, n_merges)
        return tree._replace(n_connected_components=n_pieces)
    is_euclidean = isinstance(metric, str) and metric in EUCLIDEAN
    if linkage == "ward":
        return ward_tree(X)
    if linkage == "single":
        return single_tree(X) if is_euclidean else single_tree_of_matrix(distance_matrix(X, metric))
    if not is_euclidean:
        return matrix_tree(distance_matrix(X, metric), linkage)
    D, unit = euclidean_matrix(X, rooted=linkage == "average")
    tree = matrix_tree(D, linkage)
    heights = np.sqrt(tree.heights) if linkage == "complete" else tree.heights
    return tree._replace(heights=heights * unit)


def ward_tree(X: Array) -> Dendrogram:
    """Return the tree of Ward's linkage: heights are those of SciPy, the distance of two rows at the bottom."""
    from pellucid.cluster.agglomerative.chain_kernels import ward_chain

    rows, unit = scaled(X)
    rows -= middle_values(rows)
    merges, halves = np.empty((len(X) - 1, 2), np.int64), np.empty(len(X) - 1)
    ward_chain(rows, merges, halves)
    tree = tree_of_chain(merges, halves)
    return tree._replace(heights=np.sqrt(2.0 * tree.heights) * unit)


def single_tree(X: Array) -> Dendrogram:
    """Return the tree of single linkage of rows."""
    from pellucid.cluster.agglomerative.spanning_tree_kernels import grow_tree

    rows, unit = scaled(X)
    centered, everyone, nobody = rows - middle_values(rows), np.arange(len(X)), np.empty(0, np.int64)

    def grown(pools: tuple[Array, Array]) -> tuple[Array, Array]:
        n = len(pools[0]) + len(pools[1])
        edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
        grow_tree(rows, centered, *pools, edges, lengths)
        return edges, lengths

    if thread_count() == 1 or len(X) < WORTH_SPLITTING:
        edges, lengths = grown((everyone, nobody))
    else:  # the tree of all is in those of two halves and of the pairs between them, which cost as much as both
        one, other = np.array_split(everyone, 2)
        parts = run_blocks(grown, [(one, other), (one, nobody), (other, nobody)])
        edges, lengths = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        is_kept = _in_spanning_tree(edges, lengths, len(X))
        edges, lengths = edges[is_kept], lengths[is_kept]
    tree = tree_of_edges(edges, lengths)
    return tree._replace(heights=np.sqrt(tree.heights) * unit)


def single_tree_of_matrix(D: Array) -> Dendrogram:
    """Return the tree of single linkage from all distances."""
    from pellucid.cluster.agglomerative.spanning_tree_kernels import grow_tree_of_matrix

    edges, lengths = np.empty((len(D) - 1, 2), np.int64), np.empty(len(D) - 1)
    grow_tree_of_matrix(D, edges, lengths)
    return tree_of_edges(edges, lengths)


def matrix_tree(D: Array, linkage: str) -> Dendrogram:
    """Return the tree of complete or average linkage from all distances, which it writes over."""
    from pellucid.cluster.agglomerative.chain_kernels import AVERAGE, COMPLETE, matrix_chain

    merges, heights = np.empty((len(D) - 1, 2), np.int64), np.empty(len(D) - 1)
    matrix_chain(D, AVERAGE if linkage == "average" else COMPLETE, merges, heights)
    return tree_of_chain(merges, heights)


def euclidean_matrix(X: Array, *, rooted: bool) -> tuple[Array, float]:
    """Return distances of all rows, or their squares, and the unit that distances are in."""
    from pellucid.cluster.agglomerative.chain_kernels import TILE, fill_tiles

    rows, unit = scaled(X)
    n, p = rows.shape
    n_tiles = -(-n // TILE)
    padded = np.zeros((n_tiles * TILE, p))
    padded[:n] = rows
    tiles = np.ascontiguousarray(padded.reshape(n_tiles, TILE, p).transpose(0, 2, 1))
    D = np.empty((n, n))
    n_shares = 16 if n >= WORTH_SPLITTING else 1
    edges = [int(n_tiles * math.sqrt(k / n_shares)) for k in range(n_shares + 1)]  # equal shares of a triangle
    shares = [(a, b) for a, b in pairwise(edges) if b > a]
    run_blocks(lambda part: fill_tiles(tiles, *part, rooted, np.empty((TILE, TILE)), D), shares)
    return D, unit


def scaled(X: Array) -> tuple[Array, float]:
    """Return the rows in float64, divided by a power of two so that none is above 1, and that power."""
    unit = 1.0 / unit_for(float(max(X.max(), -X.min())))
    return np.ascontiguousarray(X, dtype=np.float64) / unit, unit


def middle_values(X: Array) -> Array:
    """Return of each column the value nearest to its mean: whole numbers stay whole when it is subtracted."""
    nearest = np.abs(X - X.mean(axis=0)).argmin(axis=0)
    return np.asarray(X[nearest, np.arange(X.shape[1])])


def _in_spanning_tree(edges: Array, lengths: Array, n: int) -> Array:
    """Return which edges, of a graph in one piece, its minimum spanning tree has."""
    from pellucid.cluster.agglomerative.spanning_tree_kernels import keep_tree_edges

    ends = np.sort(edges, axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0], lengths))
    is_kept = np.zeros(len(edges), bool)
    keep_tree_edges(ends, order, np.arange(n), is_kept)
    return is_kept
