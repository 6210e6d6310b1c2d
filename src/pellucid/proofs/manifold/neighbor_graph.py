"""The links of a neighbor graph, recomputed from all distances: which must be there, which may be, and which join."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from pellucid.manifold.dissimilarities import is_given
from pellucid.manifold.graph_parts import parts_of
from pellucid.manifold.isomap.neighbor_graph import BLOCK_ENTRIES, distance_block
from pellucid.neighbors.metric import Metric
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit
from pellucid.proofs.sampling import at_most_wrong, drawn

ROWS_AT_FIT, SOURCES_AT_FIT, SOURCES_AT_VERIFY = 8, 4, 200
WORK_OF_LINKS = 4_000_000_000
"""Lengths times links that verify adds up."""


def link_claims(graph: Any, parameters: Any, metric: Metric, X: Any, *, is_fit: bool, is_joined: bool) -> list[Claim]:
    """Return the claims about links; at a fit of some rows, and those that join parts are then not looked for."""
    n = X.shape[0]
    rows = drawn(n, ROWS_AT_FIT if is_fit else n)
    known = np.unique(np.concatenate([rows, sparse.csr_array(graph)[rows].indices]))
    reach = np.full(n, -np.inf)
    for part in _blocks(known, n):
        reach[part] = _reach(_table(metric, X, part), parameters)
    wrong, extra = 0, []
    for part in _blocks(rows, n):
        one, more = _wrong_in(graph, part, _table(metric, X, part), _table(metric, X, part, mirrored=True), reach)
        wrong += one
        extra += more
    claims = [
        Claim(
            "links",
            f"entries of {len(rows):,} rows of the graph that are not as the data say" + at_most_wrong(len(rows), n),
            wrong,
            0.0,
        )
    ]
    if is_fit:
        return claims if is_joined else [*claims, Claim("joins", "links that are not with neighbors", len(extra), 0.0)]
    statement = "links that are not with neighbors and do not join two parts by their closest rows"
    return [*claims, Claim("joins", statement, _wrong_joins(graph, extra, metric, X), 0.0)]


def path_claim(stored: Array, graph: Any, *, is_fit: bool) -> Claim:
    """Return the claim that lengths of paths from some rows are those that SciPy's Dijkstra finds."""
    n = len(stored)
    rows = drawn(n, SOURCES_AT_FIT if is_fit else SOURCES_AT_VERIFY)
    found = dijkstra(graph, indices=rows)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.maximum(np.abs(stored[rows] - found), np.abs(stored[:, rows].T - found)) / max(
            float(found.max(initial=0.0)), TINY
        )
    return Claim(
        "paths",
        f"largest difference of a path from or to {len(rows):,} rows from that found by other code, in parts of the "
        "longest",
        float(np.max(apart, initial=0.0)),
        rounding_unit(stored.dtype),
    )


def last_link_claim(stored: Array, graph: Any, *, is_fit: bool) -> Claim:
    """Return the claim that every path is the best way over its last link, which shortest paths alone are.

    Lengths with 0 from each row to itself, each the least of the length to a neighbor and the link from there, are
    those of the shortest paths, as long as links have a length: so nothing else is needed, and all are looked at.
    """
    n, links = len(stored), sparse.csr_array(graph)
    rows = drawn(n, SOURCES_AT_FIT if is_fit else max(SOURCES_AT_VERIFY, WORK_OF_LINKS // max(links.nnz, 1)))
    lengths = np.asarray(stored, dtype=np.float64)
    worst, longest = [0.0], max(float(np.max(lengths, where=np.isfinite(lengths), initial=0.0)), TINY)
    for j in rows:
        part = slice(links.indptr[j], links.indptr[j + 1])
        with np.errstate(invalid="ignore", over="ignore"):
            ways = (lengths[:, links.indices[part]] + links.data[part]).min(axis=1, initial=np.inf)
            ways[j] = 0.0
            apart = np.where(ways == lengths[:, j], 0.0, np.abs(ways - lengths[:, j]))
        worst.append(float(np.max(apart)))
    return Claim(
        "last links",
        f"largest difference of a path to {len(rows):,} rows from the best way over its last link, in parts of the "
        f"longest{at_most_wrong(len(rows), n)}",
        float(np.max(worst)) / longest,
        4 * rounding_unit(stored.dtype),
    )


def _blocks(rows: Array, n: int) -> list[Array]:
    return np.array_split(rows, -(-len(rows) * n // BLOCK_ENTRIES)) if len(rows) else []


def _table(metric: Metric, X: Any, rows: Array, *, mirrored: bool = False) -> Array:
    """Return distances of some rows to all, or of all to some; infinite for a row and itself."""
    if mirrored and is_given(metric.name) and sparse.issparse(X):
        found = distance_block(metric, sparse.csr_array(X.T)[rows], X)
    else:
        found = distance_block(metric, X[rows], X)
    found[np.arange(len(rows)), rows] = np.inf
    return found


def _reach(table: Array, parameters: Any) -> Array:
    """Return how far the neighbors of each row may be."""
    if parameters.n_neighbors is None:
        return np.full(len(table), float(parameters.radius))
    return np.partition(table, parameters.n_neighbors - 1, axis=1)[:, parameters.n_neighbors - 1]


def _wrong_in(
    graph: Any, rows: Array, there: Array, back: Array, reach: Array
) -> tuple[int, list[tuple[int, int, float]]]:
    """Return how many entries of some rows are wrong, and the links that are with no neighbor.

    Of rows at distances that rounding cannot tell apart, either may be a neighbor.
    """
    slack = 1e-12 + 64 * EPSILON * np.sqrt(there.shape[1])
    shorter = np.minimum(there, back)
    must = (there < reach[rows, None] * (1.0 - slack)) | (back < reach * (1.0 - slack))
    may = (there <= reach[rows, None] * (1.0 + slack)) | (back <= reach * (1.0 + slack))
    may &= np.isfinite(shorter)
    stored = sparse.csr_array(graph)[rows].tocoo()
    is_there = np.zeros(there.shape, bool)
    is_there[stored.row, stored.col] = True
    right = shorter[stored.row, stored.col]
    size = float(np.max(shorter, where=np.isfinite(shorter), initial=TINY))
    wrong = int(np.sum(must & np.isfinite(shorter) & ~is_there)) + int(
        np.sum(~(np.abs(stored.data - right) <= slack * size))
    )
    is_extra = ~may[stored.row, stored.col]
    found = zip(rows[stored.row[is_extra]], stored.col[is_extra], stored.data[is_extra], strict=True)
    return wrong, [(int(i), int(j), float(length)) for i, j, length in found]


def _wrong_joins(graph: Any, extra: list[tuple[int, int, float]], metric: Metric, X: Any) -> float:
    """Return how many of the links with no neighbor are not what joins two parts by their closest rows."""
    if not extra:
        return 0.0
    kept = graph.tocoo()
    pairs = {(i, j) for i, j, _ in extra}
    stays = np.array([(i, j) not in pairs for i, j in zip(kept.row.tolist(), kept.col.tolist(), strict=True)])
    links = sparse.csr_array((np.ones(int(stays.sum())), (kept.row[stays], kept.col[stays])), shape=graph.shape)
    parts = parts_of(links)
    part_of = np.empty(graph.shape[0], int)
    for number, part in enumerate(parts):
        part_of[part] = number
    lengths: dict[tuple[int, int], list[float]] = {}
    for i, j, length in extra:
        lengths.setdefault((int(part_of[i]), int(part_of[j])), []).append(length)
    wrong = sum(len(found) for (one, other), found in lengths.items() if one == other)
    for one, other in combinations(range(len(parts)), 2):
        closest = distance_block(metric, X[parts[one]], X)[:, parts[other]].min() if not is_given(metric.name) else (
            X[np.ix_(parts[one], parts[other])].min()
        )  # fmt: skip
        for pair in ((one, other), (other, one)):
            found = lengths.get(pair, [])
            is_right = len(found) == 1 and abs(found[0] - closest) <= 1e-10 * max(abs(closest), TINY)
            wrong += not is_right
    return float(wrong)
