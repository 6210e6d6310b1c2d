r"""What the neighbors estimators claim, and the proof of it from the data alone.

Stored rows and targets are the given ones. The kd-tree holds every row once, in boxes that contain it. Brute force over
all rows finds the same neighbors for a random sample of queries. For :math:`p = 1, 2, \infty` the distances are the
same to the last bit (float64, features in order), so that ties are compared exactly too. No box is farther from a query
than a row in it, so no branch that was passed over for its distance can have held a nearer row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.blocks import OneBlock
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import labels_themselves
from pellucid.proofs.distances import distances, is_given, named_metric, power_of
from pellucid.proofs.neighbors.k_neighbors_passes import prove_k_neighbors_in_passes
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.sampling import draws, is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

MOST_QUERIES = 16
MOST_DIFFERENCES = 2e8
"""Numbers subtracted in one proof: with more data, fewer queries are rechecked."""
BLOCK_ROWS = 1024
SAME_DISTANCE = 1e-7
"""Relative difference of two ways to round a distance that is not a plain sum of differences."""
SAFE_POWER = 1e120
"""Data whose powers are below this, and above one over it, are searched as they are; others in another unit."""
Metric = tuple[Any, Mapping[str, Any]]
"""The name of a metric, or its function, and its other parameters."""
REFIT = "Fit the model again on these data: what it has stored is something else."


def prove_k_neighbors(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate; ``fitted`` also has what the model ``found`` for the queries it was asked.

    A file holds neither these nor the tree, which is made again when it is loaded.
    """
    if hasattr(fitted._fit_X, "blocks"):  # of a fit to rows in blocks
        return prove_k_neighbors_in_passes(fitted, parameters, OneBlock.of(data))
    X, metric = data.X, named_metric(parameters.metric, parameters.p, parameters.metric_params)
    claims = [stored_claim(fitted._fit_X, X, stored_targets(fitted), data.y)]
    if not is_fitting():
        claims.append(record_claim(fitted, metric, X))
        if hasattr(fitted, "found"):
            claims += neighbor_claims(X, fitted.queries, metric, *fitted.found)
    if getattr(fitted, "_tree", None) is not None:
        unit = tree_unit(X, power_of(*metric))
        claims.append(partition_claim(fitted._tree, X, unit))
        if not is_fitting() and hasattr(fitted, "queries"):
            claims.append(pruning_claim(fitted._tree, fitted.queries * unit, metric))
    return Certificate("exact", tuple(claims))


def stored_targets(fitted: Seen) -> Array:
    """Return the stored targets as they were given: numbers, or labels from their codes; None where a code is wrong."""
    if not hasattr(fitted, "classes_"):
        return np.asarray(fitted._y)
    labels = fitted.classes_ if fitted.outputs_2d_ else [fitted.classes_]
    codes = fitted._y.reshape(len(fitted._y), -1)
    columns = []
    for j, classes in enumerate(labels):
        inside = (codes[:, j] >= 0) & (codes[:, j] < len(classes))
        columns.append(np.where(inside, classes.astype(object)[np.where(inside, codes[:, j], 0)], None))
    return np.column_stack(columns) if fitted.outputs_2d_ else np.asarray(columns[0])


def stored_claim(stored: Any, given: Any, targets: Array, y: Array) -> Claim:
    """Claim that every stored row and target is the given one."""
    wrong = math.inf
    if stored.shape == given.shape and len(targets) == len(y):
        labels = targets.reshape(len(y), -1) != np.asarray(y).reshape(len(y), -1)
        wrong = float(np.sum(_rows_that_differ(stored, given) | labels.any(axis=1)))
    return Claim("stored data", "rows that differ from the training data, in features or target", wrong, 0.0, REFIT)


def record_claim(fitted: Seen, metric: Metric, X: SparseOrDense) -> Claim:
    """Claim that what the model says about itself is so: its rows, its way to search, its distance."""
    wrong = (
        (fitted.n_samples_fit_ != X.shape[0])
        + (hasattr(fitted, "_tree") and fitted._fit_method != ("brute" if fitted._tree is None else "kd_tree"))
        + (fitted.effective_metric_ != metric[0])
    )
    return Claim("record", "of the number of rows, the search and the metric, how many are others", float(wrong), 0.0)


def partition_claim(tree: Any, X: Array, unit: float) -> Claim:
    """Claim that the tree is a partition: every row in one leaf, every box the smallest around its rows."""
    n, n_nodes = len(X), len(tree.ends)
    sane = tree.order.shape == (n,) and np.array_equal(np.sort(tree.order), np.arange(n))
    sane = sane and tree.ends.shape == (n_nodes, 2) and n_nodes % 2 == 1 and tuple(tree.ends[0]) == (0, n)
    said = "rows not in exactly one leaf, nodes not halved between their children, boxes not around their rows"
    return Claim("partition", said, _misplaced(tree, X, unit) if sane else math.inf, 0.0, REFIT)


def tree_unit(X: Array, power: float | None) -> float:
    """Return the power of two that rows are multiplied by in the tree, lest sums of powers overflow or vanish.

    It is 1 for data of usual size; the size is that of every so many rows.
    """
    size = float(np.abs(X[:: max(1, len(X) // 1024)]).max())
    safe = SAFE_POWER ** (1.0 / power) if power is not None and power < math.inf else SAFE_POWER
    is_usual = size == 0 or not math.isfinite(size) or 1 / safe < size < safe
    return 1.0 if is_usual else math.ldexp(1.0, -math.frexp(size)[1])


def chosen_queries(X: SparseOrDense, metric: Metric) -> Any:
    """Return a random sample of queries: rows, and where rows can be averaged, points midway between two of them."""
    rng = draws()
    size = max(1, X.shape[0] * X.shape[1])
    count = int(min(MOST_QUERIES, max(2, MOST_DIFFERENCES // size)))
    rows = rng.integers(X.shape[0], size=count)
    if power_of(*metric) is None or sparse.issparse(X):
        return X[rows]
    partners = rng.integers(X.shape[0], size=count - count // 2)
    return np.vstack([X[rows[: count // 2]], X[rows[count // 2 :]] / 2 + X[partners] / 2])


def neighbor_claims(X: SparseOrDense, queries: Any, metric: Metric, lengths: Array, indices: Array) -> list[Claim]:
    """Claim that ``indices`` are the nearest rows of each query, of ties the lower one, with these distances."""
    to_the_bit = power_of(*metric) in (1.0, 2.0, math.inf) and not sparse.issparse(X)
    ranked, full = _brute_force(X, queries, metric)
    wrong, error = 0, 0.0
    for q, row in enumerate(full):
        found = indices[q]
        if found.min() < 0 or found.max() >= len(row) or len(np.unique(found)) < len(found):
            wrong, error = wrong + 1, math.inf
            continue
        size = max(float(np.abs(row[np.isfinite(row)]).max(initial=0.0)), np.finfo(float).tiny)
        error = max(error, float(np.max(np.abs(row[found] - lengths[q]))) / size)
        if to_the_bit:
            near = np.flatnonzero(ranked[q] <= np.partition(ranked[q], len(found) - 1)[len(found) - 1])
            nearest = near[np.argsort(ranked[q][near], kind="stable")][: len(found)]  # of ties the lower ones
            wrong += not np.array_equal(nearest, found)
        else:
            wrong += float(np.delete(row, found).min(initial=math.inf)) < row[found].max() - SAME_DISTANCE * size
    bound = 16 * EPSILON if to_the_bit else SAME_DISTANCE
    said = f"of {len(full)} queries, those with another answer by brute force"
    return [
        Claim("neighbors", said, float(wrong), 0.0, REFIT),
        Claim("distances", "largest error of a distance, relative to the largest of its query", error, bound, REFIT),
    ]


def pruning_claim(tree: Any, queries: Array, metric: Metric) -> Claim:
    """Claim that no box is farther from a sampled query than a row in it."""
    power = power_of(*metric)
    assert power is not None  # trees are for norms
    allowed = 1.0 if power in (1.0, 2.0, math.inf) else 1.0 + 1e-9
    wrong = 0
    for query in np.asarray(queries, dtype=np.float64):
        gaps = np.maximum(np.maximum(tree.lower - query, query - tree.upper), 0.0)
        rows = _sums_of_powers(query[:, None] - tree.columns, power)
        nearest = _up_the_tree(np.minimum.reduceat(rows, _leaf_starts(tree)), np.minimum)
        wrong += int(np.sum(_sums_of_powers(gaps.T, power) > allowed * nearest))
    statement = "boxes farther from a sampled query than a row in them: passing one over could hide a neighbor"
    return Claim("pruning", statement, float(wrong), 0.0, REFIT)


def _rows_that_differ(stored: Any, given: Any) -> Array:
    if stored is given:
        return np.zeros(given.shape[0], bool)
    if sparse.issparse(stored) or sparse.issparse(given):
        return np.diff(sparse.csr_array(sparse.csr_array(stored) != sparse.csr_array(given)).indptr) > 0
    return ~((stored == given) | ((stored != stored) & (given != given))).all(axis=1)


def _misplaced(tree: Any, X: Array, unit: float) -> float:
    """Return how many rows, halves and boxes are not what they should be."""
    rows = np.asarray(X, dtype=np.float64)[tree.order] * unit
    starts, parents = _leaf_starts(tree), tree.ends[: len(tree.ends) // 2]
    left, right = tree.ends[1::2], tree.ends[2::2]
    halves = (left[:, 0] != parents[:, 0]) | (left[:, 1] != right[:, 0]) | (right[:, 1] != parents[:, 1])
    if halves.any() or (np.diff(tree.ends) < 1).any():
        return math.inf
    lower = _up_the_tree(np.minimum.reduceat(rows, starts), np.minimum)
    upper = _up_the_tree(np.maximum.reduceat(rows, starts), np.maximum)
    boxes = (lower != tree.lower).any(axis=1) | (upper != tree.upper).any(axis=1)
    return float((rows != tree.columns.T).any(axis=1).sum() + boxes.sum())


def _leaf_starts(tree: Any) -> Array:
    return tree.ends[len(tree.ends) // 2 :, 0]


def _up_the_tree(leaves: Array, combine: Callable[[Array, Array], Array]) -> Array:
    """Return the values of all nodes, root first, from those of the leaves: a parent combines its children."""
    levels = [leaves]
    while len(levels[0]) > 1:
        levels.insert(0, combine(levels[0][::2], levels[0][1::2]))
    return np.concatenate(levels)


def _brute_force(X: SparseOrDense, queries: Any, metric: Metric) -> tuple[Array, Array]:
    """Return for each query and row what decides who is nearer, and the distance."""
    (name, params), power = metric, power_of(*metric)
    if is_given(name) or power is None or sparse.issparse(X):
        table = distances(queries, X, name, metric_params=params)
        table = np.where(np.isnan(table), np.inf, table)
        return table, table
    size = float(np.abs(X).max(initial=0.0))
    unit = math.ldexp(1.0, -math.frexp(size)[1]) if size > 0 else 1.0  # a power of two leaves every bit as it is
    ranked = np.empty((len(queries), len(X)))
    scaled = np.asarray(queries, dtype=np.float64) * unit
    for start in range(0, len(X), BLOCK_ROWS):
        block = np.asarray(X[start : start + BLOCK_ROWS], dtype=np.float64) * unit
        apart = (scaled[:, j, None] - block[:, j] for j in range(block.shape[1]))
        ranked[:, start : start + BLOCK_ROWS] = _sums_of_powers(apart, power)
    if name == "sqeuclidean":
        return ranked, ranked / unit / unit  # the square of the unit might overflow
    if power == 2.0:
        return ranked, np.sqrt(ranked) / unit
    return ranked, (ranked if power in (1.0, math.inf) else ranked ** (1.0 / power)) / unit


def _sums_of_powers(differences: Iterable[Array], power: float) -> Array:
    """Return the sum of ``|d|^power``, one feature after the other, or the largest ``|d|``."""
    total = np.zeros(1)
    for difference in differences:
        size = np.abs(difference)
        if power == math.inf:
            total = np.maximum(total, size)
        else:
            total = total + (size * size if power == 2.0 else size**power)
    return total


PROVES = {"KNeighborsClassifier": prove_k_neighbors, "KNeighborsRegressor": prove_k_neighbors}
SEES = {"KNeighborsClassifier": labels_themselves}
