"""Proof of Isomap: the links are with the nearest rows, the paths the shortest over them, the map their main axes.

Links are recomputed from all distances, lengths of paths from some rows by SciPy's Dijkstra, which shares nothing with
our search, and the eigenvectors belong to the products of the stored lengths.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.distances import distances, is_given
from pellucid.proofs.kernels.ridge_equations import rows_claim
from pellucid.proofs.manifold.classical_mds import ProductsAboutMean, means_claim
from pellucid.proofs.matrices.eigenpairs import coordinate_claims
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_FIT, SOURCES_AT_FIT, SOURCES_AT_VERIFY = 8, 4, 200
WORK_OF_LINKS = 4_000_000_000
"""Lengths times links that verify adds up."""
BLOCK_ENTRIES = 2**21


def prove_isomap(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n, k, graph = data.X.shape[0], parameters.n_components, fitted.neighbor_graph_
    also = {
        "neighbor_graph_": sparse.issparse(graph) and graph.shape == (n, n) and np.all(graph.data >= 0.0),
        "embedding_": fitted.embedding_.dtype == data.X.dtype,
        "dist_matrix_": fitted.dist_matrix_.dtype == data.X.dtype,
    }
    shapes = {"embedding_": (n, k), "eigenvalues_": (k,), "squared_means_": (n,), "dist_matrix_": (n, n)}
    if wrong := misshapen("exact", fitted, also, **shapes):
        return wrong
    products = ProductsAboutMean.of(fitted.dist_matrix_)
    stored = np.dtype(fitted.embedding_.dtype)
    rounding = 0.0 if stored == np.float64 else rounding_unit(stored)
    return graded(
        "exact",
        (
            rows_claim(fitted.X_fit_, data.X),
            *link_claims(fitted.neighbor_graph_, parameters, data.X),
            path_claim(fitted.dist_matrix_, fitted.neighbor_graph_),
            last_link_claim(fitted.dist_matrix_, fitted.neighbor_graph_),
            means_claim(fitted.squared_means_, products),
            *coordinate_claims(
                products, fitted, unit=products.unit, tol=float(parameters.tol), rounding=rounding,
                lost=64 * EPSILON * np.sqrt(n), is_positive=False,
            ),
        ),
    )  # fmt: skip


def link_claims(graph: Any, parameters: Seen, X: SparseOrDense) -> list[Claim]:
    """Return the claims about links; at a fit of some rows, and those that join parts are then not looked for."""
    n = X.shape[0]
    rows = drawn(n, ROWS_AT_FIT if is_fitting() else n)
    known = np.unique(np.concatenate([rows, sparse.csr_array(graph)[rows].indices]))
    reach = np.full(n, -np.inf)
    for part in _blocks(known, n):
        reach[part] = _reach(_table(parameters, X, part), parameters)
    wrong, extra = 0, []
    for part in _blocks(rows, n):
        there, back = (_table(parameters, X, part, mirrored=mirrored) for mirrored in (False, True))
        one, more = _wrong_in(graph, part, there, back, reach)
        wrong += one
        extra += more
    claims = [
        Claim("links",
              f"entries of {len(rows):,} rows of the graph that are not as the data say" + at_most_wrong(len(rows), n),
              wrong, 0.0)
    ]  # fmt: skip
    if is_fitting():
        return claims
    statement = "links that are not with neighbors and do not join two parts by their closest rows"
    return [*claims, Claim("joins", statement, _wrong_joins(graph, extra, parameters, X), 0.0)]


def path_claim(stored: Array, graph: Any) -> Claim:
    """Return the claim that lengths of paths from some rows are those that SciPy's Dijkstra finds."""
    n = len(stored)
    rows = drawn(n, SOURCES_AT_FIT if is_fitting() else SOURCES_AT_VERIFY)
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


def last_link_claim(stored: Array, graph: Any) -> Claim:
    """Return the claim that every path is the best way over its last link, which shortest paths alone are.

    Lengths with 0 from each row to itself, each the least of the length to a neighbor and the link from there, are
    those of the shortest paths, as long as links have a length: so nothing else is needed, and all are looked at.
    """
    n, links = len(stored), sparse.csr_array(graph)
    rows = drawn(n, SOURCES_AT_FIT if is_fitting() else max(SOURCES_AT_VERIFY, WORK_OF_LINKS // max(links.nnz, 1)))
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


def _table(parameters: Seen, X: SparseOrDense, rows: Array, *, mirrored: bool = False) -> Array:
    """Return distances of some rows to all, or of all to some; infinite for a row and itself."""
    if mirrored and is_given(parameters.metric) and sparse.issparse(X):
        found = distances(sparse.csr_array(X.T)[rows], X, parameters.metric)
    else:
        found = distances(X[rows], X, parameters.metric, parameters.p, parameters.metric_params)
    found[np.arange(len(rows)), rows] = np.inf
    return found


def _reach(table: Array, parameters: Seen) -> Array:
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


def _wrong_joins(graph: Any, extra: list[tuple[int, int, float]], parameters: Seen, X: SparseOrDense) -> float:
    """Return how many of the links with no neighbor are not what joins two parts by their closest rows."""
    if not extra:
        return 0.0
    kept = graph.tocoo()
    pairs = {(i, j) for i, j, _ in extra}
    stays = np.array([(i, j) not in pairs for i, j in zip(kept.row.tolist(), kept.col.tolist(), strict=True)])
    links = sparse.csr_array((np.ones(int(stays.sum())), (kept.row[stays], kept.col[stays])), shape=graph.shape)
    n_parts, part_of = connected_components(links, directed=False)
    parts = [np.flatnonzero(part_of == number) for number in range(n_parts)]
    lengths: dict[tuple[int, int], list[float]] = {}
    for i, j, length in extra:
        lengths.setdefault((int(part_of[i]), int(part_of[j])), []).append(length)
    wrong = sum(len(found) for (one, other), found in lengths.items() if one == other)
    for one, other in combinations(range(len(parts)), 2):
        if is_given(parameters.metric):
            closest = X[np.ix_(parts[one], parts[other])].min()
        else:
            rows, others = X[parts[one]], X[parts[other]]
            closest = distances(rows, others, parameters.metric, parameters.p, parameters.metric_params).min()
        for pair in ((one, other), (other, one)):
            found = lengths.get(pair, [])
            is_right = len(found) == 1 and abs(found[0] - closest) <= 1e-10 * max(abs(closest), TINY)
            wrong += not is_right
    return float(wrong)


PROVES = {"Isomap": prove_isomap}
