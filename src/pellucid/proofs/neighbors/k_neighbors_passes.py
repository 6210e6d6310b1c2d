"""Proof of neighbors among rows in blocks: the rows that the model reads are the given ones, and so is what it finds.

Rows are compared by a sum of hashes of their number, numbers and target, in which each of them counts 64 bits, however
they are cut into blocks. Queries are rows drawn from all blocks and points midway between two of them; their nearest
rows are found again by brute force, block by block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.distances import named_metric, power_of
from pellucid.proofs.rounding import EPSILON, TINY
from pellucid.proofs.sampling import draws, is_fitting
from pellucid.proofs.seen import Seen

MOST_QUERIES = 16
SAME_DISTANCE = 1e-7
ROWS_AT_ONCE = 1 << 13
REFIT = "Fit the model again on these data: what it reads is something else."


@dataclass(frozen=True, eq=False)
class BlockFacts:
    """What a pass says of all rows: heights by block, the sum of hashes, labels by output, the largest number."""

    heights: dict[int, int]
    hashes: int
    labels: tuple[frozenset[Any], ...]
    largest: float


@dataclass(frozen=True, eq=False)
class FoundAgain:
    """Of each query the k nearest rows: what ranks them, and their numbers.

    Of the rows that the model found: how far they are, NaN for one that is none, and those with another target.
    """

    ranked: Array
    indices: Array
    of_found: Array
    wrong_targets: int
    least_other: Array
    """Distance of the nearest row that the model did not find."""
    farthest: Array


def prove_k_neighbors_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate; beside attributes ``fitted`` has what the model found for the queries it was asked."""
    stored, classes = fitted._fit_X, _label_sets(fitted)
    metric = named_metric(parameters.metric, parameters.p, parameters.metric_params)
    power = power_of(*metric)
    heights = blocks.reduce(heights_of_block, joined_heights)
    given = blocks.reduce(facts_of_block, join_facts, _starts(heights), classes)
    claims = [_record_claim(fitted, metric, given), _stored_claim(stored, blocks, given, classes)]
    if is_fitting() or power is None or not hasattr(fitted, "found"):
        return Certificate("exact", tuple(claims))
    if fitted.found is None:
        claims.append(Claim("neighbors", "queries that the model can answer are missing", math.inf, 0.0, REFIT))
        return Certificate("exact", tuple(claims))
    lengths, indices = fitted.found
    unit = math.ldexp(1.0, -math.frexp(given.largest)[1]) if given.largest > 0 else 1.0
    search = _Search(np.asarray(fitted.queries, dtype=np.float64) * unit, power, unit, indices, fitted.near, classes)
    search = replace(search, starts=_starts(heights), name=metric[0])
    again = blocks.reduce(search_again, JoinFound(indices.shape[1]), search)
    return Certificate("exact", (*claims, *_neighbor_claims(again, lengths, indices, power)))


def _record_claim(fitted: Seen, metric: Any, given: BlockFacts) -> Claim:
    """Claim that what the model says about itself is so: its rows, its way to search, its distance, its labels."""
    classes = _label_sets(fitted)
    wrong_labels = len(classes) != len(given.labels) or any(
        own.tolist() != sorted(labels) for own, labels in zip(classes, given.labels, strict=True)
    )
    wrong = (
        (fitted.n_samples_fit_ != sum(given.heights.values()))
        + (fitted._fit_method != "brute" or getattr(fitted, "_tree", None) is not None)
        + (fitted.effective_metric_ != metric[0])
        + (bool(classes) and wrong_labels)
    )
    said = "of the number of rows, the search, the metric and the labels, how many are others"
    return Claim("record", said, float(wrong), 0.0, REFIT)


def _stored_claim(stored: Any, blocks: Any, given: BlockFacts, classes: tuple[Array, ...]) -> Claim:
    said = "1 if the rows and targets that the model reads are others than the training data"
    if stored.blocks is blocks:
        wrong = stored.starts != _starts(given.heights)
    else:
        own = stored.blocks.reduce(facts_of_block, join_facts, stored.starts, classes)
        wrong = own.hashes != given.hashes or sum(own.heights.values()) != sum(given.heights.values())
    return Claim("stored data", said, float(wrong), 0.0, REFIT)


def _label_sets(fitted: Seen) -> tuple[Array, ...]:
    if not hasattr(fitted, "classes_"):
        return ()
    return tuple(np.asarray(own) for own in (fitted.classes_ if fitted.outputs_2d_ else [fitted.classes_]))


def heights_of_block(block: Any) -> dict[int, int]:
    """Return how many rows a block has, by its number."""
    return {block.number: int(block.X.shape[0])}


def joined_heights(found: Sequence[dict[int, int]]) -> dict[int, int]:
    """Return the same of several blocks."""
    return {number: height for one in found for number, height in one.items()}


def _starts(heights: dict[int, int]) -> tuple[int, ...]:
    """Return the number of the first row of each block; one without rows was not seen."""
    last = max(heights, default=-1)
    sizes = [heights.get(number, 0) for number in range(last + 1)]
    return tuple(int(sum(sizes[:number])) for number in range(last + 1))


def facts_of_block(block: Any, starts: tuple[int, ...], classes: tuple[Array, ...]) -> BlockFacts:
    """Return what a block says."""
    X, y = dense(block.X), np.asarray(block.y)
    columns = y.reshape(len(y), -1)
    start = starts[block.number] if block.number < len(starts) else -1
    total, largest = 0, 0.0
    for first in range(0, len(X), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        rows = X[part].astype(np.float64)
        targets = _as_numbers(columns[part], classes)
        hashes = _row_hashes(np.arange(len(rows)) + start + first, np.hstack([rows, targets]))
        total = (total + int(hashes.sum(dtype=np.uint64))) % (1 << 64)
        largest = max(largest, float(np.abs(rows).max()))
    labels = tuple(frozenset(column.tolist()) for column in columns.T) if classes else ()
    return BlockFacts({block.number: len(X)}, total, labels, largest)


def join_facts(found: Sequence[BlockFacts]) -> BlockFacts:
    """Return what several blocks say."""
    labels = tuple(frozenset().union(*own) for own in zip(*(one.labels for one in found), strict=True))
    total = sum(one.hashes for one in found) % (1 << 64)
    return BlockFacts(joined_heights([one.heights for one in found]), total, labels, max(o.largest for o in found))


def _as_numbers(targets: Array, classes: tuple[Array, ...]) -> Array:
    """Return targets as numbers: labels by their place among the classes, -1 for one that is not there."""
    if not classes:
        return targets.astype(np.float64)
    places = [{label: place for place, label in enumerate(own.tolist())} for own in classes]
    pairs = zip(targets.T, places, strict=True)
    return np.column_stack([[float(place.get(label, -1)) for label in column.tolist()] for column, place in pairs])


def _row_hashes(numbers: Array, table: Array) -> Array:
    """Return 64 bits for each row, from its number and its values."""
    found = _mixed(numbers.astype(np.uint64))
    for column in (table + 0.0).T:  # -0 is 0
        found = _mixed(found ^ np.ascontiguousarray(column).view(np.uint64))
    return found


def _mixed(words: Array) -> Array:
    """Return words whose every bit depends on all bits of the old ones (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


# queries, and their neighbors by brute force


def drawn_queries(blocks: Any) -> Array:
    """Return rows drawn at random from all blocks, half of them moved midway to another one."""
    seed, count = int(draws().integers(1 << 31)), MOST_QUERIES + MOST_QUERIES // 2
    _, rows = blocks.reduce(drawn_of_block, smallest_keys, seed, count)
    half = len(rows) // 3
    first, second, partners = rows[:half], rows[half : 2 * half], rows[2 * half : 3 * half]
    return np.vstack([first, second / 2 + partners / 2]) if half else rows


def drawn_of_block(block: Any, seed: int, count: int) -> tuple[Array, Array]:
    """Return the rows of a block with the smallest random numbers."""
    keys = np.random.default_rng((seed, block.number)).random(len(block.X))
    chosen = np.argsort(keys, kind="stable")[:count]
    return keys[chosen], np.asarray(block.X[chosen], dtype=np.float64)


def smallest_keys(found: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the rows of the smallest random numbers of several blocks, as many as one may have."""
    keys, rows = (np.concatenate(part) for part in zip(*found, strict=True))
    chosen = np.argsort(keys, kind="stable")[: MOST_QUERIES + MOST_QUERIES // 2]
    return keys[chosen], rows[chosen]


@dataclass(frozen=True, eq=False)
class _Search:
    queries: Array
    """Times the unit, a power of two."""
    power: float
    unit: float
    found: Array
    near: Array
    classes: tuple[Array, ...]
    starts: tuple[int, ...] = ()
    name: Any = ""


def search_again(block: Any, search: _Search) -> FoundAgain:
    """Return the nearest rows of a block, and what is true of those that the model found."""
    X, start, k = dense(block.X), search.starts[block.number], search.found.shape[1]
    ranked = np.concatenate([_ranked(X[a : a + ROWS_AT_ONCE], search) for a in range(0, len(X), ROWS_AT_ONCE)], axis=1)
    distances, places = _rooted(ranked, search), search.found - start
    inside = (places >= 0) & (places < len(X))
    rows, safe = np.arange(len(ranked))[:, None], np.where(inside, places, 0)
    targets = _as_numbers(np.asarray(block.y).reshape(len(X), -1), search.classes)
    told = np.asarray(search.near, dtype=np.float64).reshape(*search.found.shape, -1)
    wrong = int(np.sum(inside & (targets[safe] != told).any(axis=2)))
    others = distances.copy()
    others[np.broadcast_to(rows, inside.shape)[inside], places[inside]] = np.inf
    order = np.argsort(ranked, axis=1, kind="stable")[:, :k]
    return FoundAgain(
        ranked[rows, order],
        order + start,
        np.where(inside, distances[rows, safe], np.nan),
        wrong,
        others.min(axis=1),
        distances.max(axis=1),
    )


@dataclass(frozen=True)
class JoinFound:
    """Joins what several blocks say of the queries."""

    k: int

    def __call__(self, found: Sequence[FoundAgain]) -> FoundAgain:
        """Return the nearest of all, the lower row number where they are as near."""
        ranked, indices = (np.concatenate([getattr(one, name) for one in found], 1) for name in ("ranked", "indices"))
        order = np.lexsort((indices, ranked))[:, : self.k]
        rows = np.arange(len(order))[:, None]
        return FoundAgain(
            ranked[rows, order],
            indices[rows, order],
            np.fmax.reduce([one.of_found for one in found]),
            sum(one.wrong_targets for one in found),
            np.min([one.least_other for one in found], axis=0),
            np.max([one.farthest for one in found], axis=0),
        )


def _ranked(rows: Array, search: _Search) -> Array:
    """Return what decides who is nearer: the sum of powers of differences, one feature after the other."""
    block, total = rows.astype(np.float64) * search.unit, np.zeros((len(search.queries), len(rows)))
    for j in range(block.shape[1]):
        apart = np.abs(search.queries[:, j, None] - block[:, j])
        if search.power == math.inf:
            total = np.maximum(total, apart)
        else:
            total = total + (apart * apart if search.power == 2.0 else apart**search.power)
    return total


def _rooted(ranked: Array, search: _Search) -> Array:
    if search.name == "sqeuclidean":
        return ranked / search.unit / search.unit  # the square of the unit might overflow
    if search.power in (1.0, math.inf):
        return ranked / search.unit
    return (np.sqrt(ranked) if search.power == 2.0 else ranked ** (1.0 / search.power)) / search.unit


def _neighbor_claims(again: FoundAgain, lengths: Array, indices: Array, power: float) -> list[Claim]:
    """Claim that the neighbors are the nearest rows, of ties the lower one, with their distances and targets."""
    to_the_bit = power in (1.0, 2.0, math.inf)
    size = np.maximum(again.farthest, TINY)
    off = np.abs(again.of_found - lengths) / size[:, None]
    error = math.inf if np.isnan(off).any() else float(off.max(initial=0.0))
    repeated = np.array([len(set(row.tolist())) < len(row) for row in indices])
    if to_the_bit:
        other = (again.indices != indices).any(axis=1)
    else:
        other = ~(again.least_other >= again.of_found.max(axis=1) - SAME_DISTANCE * size)
    said = f"of {len(indices)} queries, those with another answer by brute force"
    bound = 16 * EPSILON if to_the_bit else SAME_DISTANCE
    return [
        Claim("neighbors", said, float(np.sum(other | repeated)), 0.0, REFIT),
        Claim("distances", "largest error of a distance, relative to the largest of its query", error, bound, REFIT),
        Claim(
            "targets", "neighbors whose target is another than the given one", float(again.wrong_targets), 0.0, REFIT
        ),
    ]


PROVES_BLOCKS = {
    "KNeighborsClassifier": prove_k_neighbors_in_passes,
    "KNeighborsRegressor": prove_k_neighbors_in_passes,
}
