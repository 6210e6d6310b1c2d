r"""Proof of a tree of merges: each was one of clusters that were nearest to each other.

Let merge t join A and B at height h. If no cluster of that time is nearer to A, or to B, and heights never fall, then A
and B were the nearest pair of all: a nearer pair (C, D) would be there still when C or D first merges, at a height of
at least h, though D was nearer to C. So it is enough to look at two clusters per merge. Where that costs too much, a
random sample of the merges is checked, and the last ones, which say how most rows are clustered. Distances of clusters
are computed from their rows, whatever a method updates.

Ties are checked where all numbers are whole and small, so that equal distances are equal numbers: of clusters as near,
a cluster must have merged with the one of the lowest name, and merges at one height must be in the order of names. Then
the pair is the first of all nearest ones, by the same argument.

With a connectivity heights may fall, and merges are done again from the first, on a heap of the proof's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.cluster.agglomerative.agglomerative_replay import constrained_shortfall, spanning_shortfall
from pellucid.cluster.agglomerative.cluster_gaps import make_gaps
from pellucid.cluster.agglomerative.tree_cut import cut_nodes
from pellucid.cluster.agglomerative.tree_shape import TreeShape, looked_at, tree_problems
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.training_data import TrainingData

AT_FIT = 400_000
"""Distances of rows that a fit may compute again: no more than half of all, as looking must not take longer than
fitting, but some merges in any case."""
TO_VERIFY = 200_000_000
WORK_PER_MERGE = 50_000
"""What looking at one merge takes beside its distances, in distances."""
WORK_OF_A_REPLAYED_MERGE = 4000


def work_at_fit(n_rows: int) -> int:
    """Return how many distances a fit to so many rows computes again."""
    return min(AT_FIT, max(WORK_PER_MERGE, n_rows**2 // 2))


def prove_agglomerative(fitted: Any, parameters: Any, data: TrainingData, *, work: int = TO_VERIFY) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, children, heights = data.X, np.asarray(fitted.children_), np.asarray(fitted.distances_, dtype=np.float64)
    n, n_pieces = X.shape[0], 1
    problems = tree_problems(children, heights, n, fitted.n_leaves_)
    if problems:
        return _certificate(_tree_claim(problems))
    shape = TreeShape(children, n)
    if parameters.connectivity is None:
        missing = n - 1 - len(children)
        falls = float(np.max(heights[:-1] - heights[1:], initial=0.0))
        claims = [Claim("monotone", "how far the height of a merge is below that of the one before", falls, 0.0)]
        claims += _replayed(X, parameters, shape, heights, work)
    else:
        claims, n_pieces, missing = _constrained(X, parameters, shape, heights, work)
    missing += int(fitted.n_connected_components_ != n_pieces)
    return _certificate(_tree_claim(missing), *claims, _label_claim(fitted, parameters, shape, heights))


def _certificate(*claims: Claim) -> Certificate:
    return Certificate("replayed", claims)


def _tree_claim(problems: int) -> Claim:
    statement = "merges that are missing or join what is not there, and wrong counts of rows and of pieces"
    return Claim("tree", statement, float(problems), 0.0)


def _replayed(X: Array, parameters: Any, shape: TreeShape, heights: Array, work: int) -> list[Claim]:
    """Return the claims that the merges checked were of nearest clusters, at the stored heights."""
    gaps = make_gaps(X, parameters.metric, parameters.linkage)
    checked, of = looked_at(gaps.cost(shape) + WORK_PER_MERGE, work, "merges")
    errors, shortfalls, passed_over = np.zeros(len(checked)), np.zeros(len(checked)), 0
    for k, merge in enumerate(checked):
        starts, first, second = shape.clusters_before(merge)
        pair = np.array([first, second])
        to_all = gaps.to_clusters(shape, starts, pair)  # (2, n_clusters)
        height = to_all[0, second]
        to_all[[0, 1], pair] = np.inf
        if gaps.settles_ties:
            names = shape.last_rows(starts)
            passed_over += int(np.any((to_all == height) & (names < names[pair[::-1], None])))
        scale = height + gaps.rounding_scale
        errors[k] = abs(heights[merge] - height) / scale if scale > 0.0 else heights[merge]
        shortfalls[k] = (height - to_all.min()) / scale if scale > 0.0 else 0.0
    bound = sum_error(shape.n_rows) * gaps.factor
    claims = [
        Claim("heights", f"{of}, the largest relative error of a height", float(np.max(errors, initial=0.0)), bound),
        Claim(
            "nearest pairs",
            f"{of}, by how much a third cluster was nearer to one of the two, relatively",
            float(np.max(np.maximum(shortfalls, 0.0), initial=0.0)),
            bound,
        ),
    ]
    if gaps.settles_ties:
        passed_over += shape.out_of_order(heights)
        claims.append(Claim("ties", f"{of}, those that an equally near pair should come before", passed_over, 0.0))
    return claims


def _constrained(
    X: Array, parameters: Any, shape: TreeShape, heights: Array, work: int
) -> tuple[list[Claim], int, int]:
    """Return the claims about merges of neighbors, the pieces of the graph, and how many merges are missing."""
    most = len(heights)
    if parameters.linkage == "single":
        shortfall, error, n_pieces = spanning_shortfall(X, parameters, shape, heights)
    else:
        most = most if work >= TO_VERIFY else min(most, work // WORK_OF_A_REPLAYED_MERGE)
        shortfall, error, n_pieces = constrained_shortfall(X, parameters, shape.children[:most], heights)
    n = X.shape[0]
    is_whole = parameters.n_clusters is None or parameters.compute_full_tree is True or parameters.linkage == "single"
    if parameters.compute_full_tree == "auto" and parameters.n_clusters is not None:
        is_whole = is_whole or parameters.n_clusters < max(100, 0.02 * n)
    missing = abs(n - (1 if is_whole else parameters.n_clusters) - len(heights))
    bound = sum_error(n) * (1.0 + 8 * EPSILON)
    of = f"of {most:,} merges" if most == len(heights) else f"of the first {most:,} of {len(heights):,} merges"
    claims = [
        Claim("heights", f"{of}, the largest relative error of a stored height", error, bound),
        Claim("nearest pairs", f"{of}, by how much another pair of neighbors was nearer, relatively", shortfall, bound),
    ]
    return claims, n_pieces, missing


def _label_claim(fitted: Any, parameters: Any, shape: TreeShape, heights: Array) -> Claim:
    """Return the claim that the labels are those of the clusters that the last merges joined."""
    wanted = parameters.n_clusters
    if wanted is None:
        wanted = int(np.sum(heights >= parameters.distance_threshold)) + 1
    labels = np.asarray(fitted.labels_)
    statement = "rows that are not labelled as their cluster of the tree, cut as the parameters say"
    if labels.shape != (shape.n_rows,) or fitted.n_clusters_ != wanted or labels.dtype.kind != "i":
        return Claim("labels", statement, float(shape.n_rows), 0.0)
    is_whole = len(shape.children) == shape.n_rows - 1
    nodes = cut_nodes(shape.children.tolist(), shape.n_rows, wanted) if is_whole else shape.roots()
    right = np.empty(shape.n_rows, np.int64)
    for label, node in enumerate(nodes):
        start = shape.starts[node]
        right[shape.order[start : start + shape.sizes[node]]] = label
    return Claim("labels", statement, float(np.sum(right != labels)), 0.0)
