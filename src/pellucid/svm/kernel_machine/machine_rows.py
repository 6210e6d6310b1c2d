"""The rows of a kernel machine: of two classes, laid out for all pairs, merged where equal, moved to their mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.labels import rows_by_class
from pellucid.core.linear_classifier import class_weights
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.formulas import Linear
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.presented_rows import present_by_content


@dataclass(frozen=True)
class PairRows:
    """The rows of two classes, those of the first in front, with their targets +1 and -1 and their boxes."""

    pair: tuple[int, int]
    first: Array
    second: Array
    target: Array
    cost: Array

    @cached_property
    def rows(self) -> Array:
        """The places of all rows."""
        return np.concatenate([self.first, self.second])

    @cached_property
    def lower(self) -> Array:
        """Least coefficients: those of the class with target -1 go down to minus their cost."""
        return np.minimum(self.target * self.cost, 0.0)

    @cached_property
    def upper(self) -> Array:
        """Largest coefficients."""
        return np.maximum(self.target * self.cost, 0.0)


def svc_pairs(data: TrainingData, parameters: Any) -> list[PairRows]:
    """Return the machines of an SVC: a row costs C times its weight and that of its class."""
    by_class = class_weights(parameters.class_weight, data)
    return pair_rows(data.y, row_costs(parameters.C, by_class[data.y] * data.weights), len(data.classes))


def pair_rows(codes: Array, cost: Array, n_classes: int) -> list[PairRows]:
    """Return the machines of all pairs of classes."""
    by_class = rows_by_class(codes, n_classes)
    found = []
    for i, j in class_pairs(n_classes):
        first, second = by_class[i], by_class[j]
        sign = 1.0 if positive_class((i, j), n_classes) == i else -1.0
        target = np.full(len(first) + len(second), sign)
        target[len(first) :] = -sign
        found.append(PairRows((i, j), first, second, target, cost[np.concatenate([first, second])]))
    return found


def row_costs(C: float, factor: Array) -> Array:
    """Return C times the factor of each row; a row whose factor is 0 costs nothing, also where C is infinite."""
    costs = factor > 0.0
    return C * factor if costs.all() else np.where(costs, C * np.where(costs, factor, 1.0), 0.0)


# How the machines of all pairs of classes stand side by side, as LIBSVM lays them out.
#
# The support vectors are sorted by class. Those of class c have a coefficient in each machine of c and another class,
# so ``dual_coef_`` has one row less than there are classes: the machine of c and j stands in row j - 1 if j comes
# after c, in row j if it comes before.


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of their machines.

    Examples
    --------
    >>> class_pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(n_classes), 2))


def layout_row(own: int, other: int) -> int:
    """Return in which row the machine of two classes stands for the rows of the first of them."""
    return other - 1 if other > own else other


def positive_class(pair: tuple[int, int], n_classes: int) -> int:
    """Return the class with positive scores: the first of a pair, but of two classes the second, as in scikit-learn."""
    return pair[1] if n_classes == 2 else pair[0]


def class_blocks(counts: Array) -> list[slice]:
    """Return where the support vectors of each class stand.

    Examples
    --------
    >>> class_blocks(np.array([2, 1]))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def join_pairs(parts: list[Any]) -> list[Any]:
    """Return for each machine the sum of what its two classes contribute, each (n_rows, n_classes - 1)."""
    pairs = class_pairs(len(parts))
    return [parts[i][:, layout_row(i, j)] + parts[j][:, layout_row(j, i)] for i, j in pairs]


def machine_coefs(dual_coef: Array, blocks: list[slice]) -> Array:
    """Return the coefficients of each machine, of shape (n_machines, n_support): 0 for vectors of other classes."""
    pairs = class_pairs(len(blocks))
    found = np.zeros((len(pairs), dual_coef.shape[1]))
    for k, (i, j) in enumerate(pairs):
        found[k, blocks[i]] = dual_coef[layout_row(i, j), blocks[i]]
        found[k, blocks[j]] = dual_coef[layout_row(j, i), blocks[j]]
    return found


def in_layout(values: list[Array], rows: list[tuple[Array, Array]], n_classes: int, n_rows: int) -> Array:
    """Return what each machine says of its rows, given by number for each of its two classes, in LIBSVM's layout.

    ``values`` has for each machine those of the first class, then those of the second. The result is of shape
    (n_classes - 1, n_rows).
    """
    laid = np.zeros((n_classes - 1, n_rows))
    for (i, j), found, (first, second) in zip(class_pairs(n_classes), values, rows, strict=True):
        laid[layout_row(i, j), first] = found[: len(first)]
        laid[layout_row(j, i), second] = found[len(first) :]
    return laid


# Equal rows of one target seen as one row with their weights added, in an order that depends on what they hold.
#
# A machine of weighted rows and one of repeated rows are then the same problem to the last bit. Where there are neither
# weights nor repetitions the rows stay as they are.


@dataclass(frozen=True)
class MergedRows:
    """The rows that are left, and what each given row is of them."""

    data: TrainingData
    place: Array
    """Of every given row, the place of the row that stands for it."""
    share: Array
    """Of every given row, its part of the weight of that row."""
    is_whole: bool = False
    """Whether each row stands for itself, in its place."""

    def split(
        self, coef: Array, lower: Array, upper: Array, rows: Any, given_lower: Array, given_upper: Array
    ) -> Array:
        """Return the coefficients of some of the given rows, which have boxes of their own.

        The first three are of the rows that stand for them. A coefficient at an end of its box is so after it is split,
        to the last bit.
        """
        if self.is_whole:
            return coef
        parts = np.minimum(np.maximum(coef * self.share[rows], given_lower), given_upper)
        np.copyto(parts, given_upper, where=coef >= upper)
        np.copyto(parts, given_lower, where=coef <= lower)
        return parts


def merged_rows(data: TrainingData, *, is_given: bool) -> MergedRows:
    """Return the rows of the data without repetitions; those of given products stay as they are."""
    n, found = data.X.shape[0], None
    if not is_given:
        codes = data.y if len(data.classes) else np.unique(data.y, return_inverse=True)[1].reshape(-1)
        found = present_by_content(data.X, codes, data.weights)
    if found is None or (len(found.order) == n and (data.weight is None or np.ptp(data.weight) == 0.0)):
        return MergedRows(data, np.arange(n), np.ones(n), is_whole=True)
    place = np.empty(n, dtype=np.intp)
    place[found.order] = np.arange(len(found.order))
    place = place[found.shown_as]
    weight = found.weight[found.order]
    merged = replace(data, X=data.X[found.order], y=data.y[found.order], weight=weight, kept=None)
    return MergedRows(merged, place, data.weights / weight[place])


# Rows of a linear kernel about their mean, where they lie far from 0.
#
# As the coefficients of a machine sum to 0, it is the same for rows moved by c, but for its intercept, which takes up
# :math:`w'c`. The products then keep the digits that a common offset would cost.


FAR = 1e3
"""Distance from 0, in spreads of the rows, from which they are moved: nearer, no digits are lost that matter."""

SAME = 1e-13
"""Spread, in distances from 0, of a column that is constant up to rounding."""


@dataclass(frozen=True)
class SteadyRows:
    """Rows, and what was taken from each of them."""

    X: SparseOrDense
    center: Array | None = None

    def shift(self, coef: Array, rows: Array) -> float:
        """Return :math:`w'c` of coefficients of some of the rows: the intercept for rows as given is so much less."""
        if self.center is None:
            return 0.0
        used = np.flatnonzero(coef)
        return float(self.center @ (coef[used] @ self.X[rows[used]]))


def steady_rows(kernel: Kernel, X: SparseOrDense) -> SteadyRows:
    """Return the rows, moved to their mean if that helps."""
    if not isinstance(kernel, Linear) or sparse.issparse(X):
        return SteadyRows(X)
    center = X.mean(axis=0)
    moved = X - center
    spread, distance = np.abs(moved).max(axis=0), np.abs(center)
    spread[spread <= SAME * distance] = spread.max()  # a constant column has no digits to keep
    return SteadyRows(moved, center) if (distance > FAR * spread).any() else SteadyRows(X)
