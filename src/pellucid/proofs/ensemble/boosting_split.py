r"""The best split of a node, found again from its rows: every feature, every bin, by counting in plain NumPy.

The fit rounds gradients and hessians to units of a power of two before it sums them. A sum of n rows is then off by at
most n / 2 units, and the gain :math:`G_l^2 / H_l + G_r^2 / H_r` by at most
:math:`\sum (2 |G| / H\, \delta_G + G^2 / H^2\, \delta_H)` over both sides: a split may fall short of the best by that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import EPSILON

LEAST_HESSIAN = 1e-3
LEAST_SUPPORT = 10.0
STABILIZER = 1e-15


@dataclass(frozen=True)
class NodeRows:
    """The rows of a node: values, derivatives, and what bounds the values of its children."""

    X: Array
    gradients: Array
    hessians: Array
    lower: float
    upper: float
    node_loss: float
    units: tuple[float, float]


@dataclass(frozen=True)
class Candidates:
    """Splits by one feature: sums of gradients, hessians and rows on the left, one entry each."""

    gradient: Array
    hessian: Array
    rows: Array


def gains(node: NodeRows, candidates: Candidates, direction: int, parameters: Any) -> tuple[Array, Array]:
    """Return the gain of each candidate, minus infinity where it is not allowed, and by how much it may be off."""
    l2 = parameters.l2_regularization + STABILIZER
    n, total_g, total_h = len(node.gradients), node.gradients.sum(), node.hessians.sum()
    own_g, own_h = (64 * EPSILON * np.abs(part).sum() for part in (node.gradients, node.hessians))  # of these sums
    terms, error, values = np.zeros(len(candidates.rows)), np.zeros(len(candidates.rows)), []
    allowed = np.ones(len(candidates.rows), dtype=bool)
    left = candidates.gradient, candidates.hessian, candidates.rows
    right = total_g - candidates.gradient, total_h - candidates.hessian, n - candidates.rows
    for g, h, count in (left, right):
        off_g, off_h = count * node.units[0], count * node.units[1]
        allowed &= (count >= parameters.min_samples_leaf) & (h >= LEAST_HESSIAN - off_h)
        value = np.clip(-g / (h + l2), node.lower, node.upper)
        values.append(value)
        terms -= g * value
        error += np.abs(value) * 2.0 * (off_g + own_g) + np.square(value) * (off_h + own_h)
    if direction:
        allowed &= direction * (values[1] - values[0]) >= -1e-9 * (np.abs(values[0]) + np.abs(values[1]))
    return np.where(allowed, terms + node.node_loss, -np.inf), error


def candidates_of(
    column: Array, node: NodeRows, edges: Array, *, is_categorical: bool, has_missing: bool
) -> Candidates:
    """Return all splits of the node's rows by a feature that the fit looks at."""
    missing = np.isnan(column)
    n_bins = len(edges) + (not is_categorical)
    bins = np.where(missing, n_bins, column if is_categorical else np.searchsorted(edges, column)).astype(np.intp)
    counts = np.bincount(bins, minlength=n_bins + 1)
    order = np.argsort(bins.astype(np.int16), kind="stable")
    sums = [_sums_in(weights[order], counts) for weights in (node.gradients, node.hessians)]
    table = np.stack([*sums, counts.astype(np.float64)], axis=1)
    if is_categorical:
        return _category_candidates(table)
    right = np.cumsum(table[:-1], axis=0)[: n_bins - 1 + has_missing]
    left = right[: n_bins - 1] + table[-1] if missing.any() else right[:0]
    return Candidates(*np.concatenate([right, left]).T)


def _sums_in(values: Array, counts: Array) -> Array:
    """Return the sums of consecutive parts with so many values each, added in pairs.

    One after the other, as ``bincount`` adds, the same few gradients of a first round are all rounded the same way.
    """
    sums = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    sums[filled] = np.add.reduceat(values, (np.cumsum(counts) - counts)[filled])
    return sums


def _category_candidates(table: Array) -> Candidates:
    """Return the sets of at most half of the supported categories, from either end of their order."""
    gradient, hessian, count = table.T
    supported = (count > 0) & (hessian * count.sum() >= LEAST_SUPPORT * hessian.sum() * (1.0 - 1e-12))
    numbers = np.flatnonzero(supported)
    order = numbers[np.argsort(gradient[numbers] / (hessian[numbers] + LEAST_SUPPORT), kind="stable")]
    half = (len(order) + 1) // 2 if len(order) > 1 else 0
    front, back = np.cumsum(table[order], axis=0)[:half], np.cumsum(table[order[::-1]], axis=0)[: max(half - 1, 0)]
    return Candidates(*np.concatenate([front, back]).T)


def shortfall(
    node: NodeRows,
    left: Array | None,
    features: Array,
    model: Any,
    direction: Array,
    feature: int,
    parameters: Any,
    worth: float = 0.0,
) -> float:
    """Return by how much the split of a node gains less than the best one, in units of what rounding allows.

    ``left`` says which rows go left; None: the node is a leaf, and no split should gain more than is ``worth`` it.
    ``model`` knows the edges, categorical features and features with missing values; ``features`` may be used.
    """
    best, error = 0.0, 0.0
    for j in features:
        found = candidates_of(
            node.X[:, j],
            node,
            model.edges[j],
            is_categorical=bool(model.is_categorical[j]),
            has_missing=bool(model.has_missing[j]),
        )
        gain, off = gains(node, found, int(direction[j]), parameters)
        if len(gain) and gain.max() > best:
            best, error = float(gain.max()), float(off[gain.argmax()])
    if left is None:
        excess = max(best - worth, 0.0)
        return excess / error if error else math.inf if excess else 0.0
    own = Candidates(*(np.array([part[left].sum()]) for part in (node.gradients, node.hessians, np.ones(len(left)))))
    gain, off = gains(node, own, int(direction[feature]), parameters)
    if feature not in features or not np.isfinite(gain[0]):
        return math.inf
    return max(best - float(gain[0]), 0.0) / max(error + float(off[0]), math.ulp(best))
