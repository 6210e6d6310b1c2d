"""The parameters of a tree as numbers, and where the kernels that grow it find them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.types import Array

CLASS_CRITERIA = ("gini", "entropy", "gain_ratio", "error", "log_loss")
NUMBER_CRITERIA = ("squared_error", "poisson", "absolute_error", "friedman_mse")
SAME_CRITERION = {"log_loss": "entropy", "friedman_mse": "squared_error"}
"""Two names of one thing: the improvement of Friedman is that of the squared error."""

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class GrowthRules:
    """When and how a node is split."""

    criterion: str
    n_features: int
    max_depth: int
    min_split: int
    """Rows that a node must have to be split."""
    min_leaf: int
    """Rows that each side of a split must have."""
    min_weight: float
    """Weight that each side of a split must have."""
    max_features: int
    """Columns that a node draws."""
    random_splits: bool
    min_impurity_decrease: float
    max_leaves: int
    """0 for as many as there are, depth first; otherwise the node that gains most is split next."""
    monotone: Array
    """int8: 1 where the answer rises with the column, -1 where it falls, else 0."""
    is_category: Array
    """uint8: 1 for a column of category codes."""


def growth_rules(parameters: Any, n_rows: int, n_features: int, weight: float, is_category: Array) -> GrowthRules:
    """Return the rules for this many rows and columns, of this weight together."""
    min_leaf = _share(parameters.min_samples_leaf, n_rows)
    monotone = getattr(parameters, "monotonic_cst", None)
    return GrowthRules(
        criterion=SAME_CRITERION.get(parameters.criterion, parameters.criterion),
        n_features=n_features,
        max_depth=NO_LIMIT if parameters.max_depth is None else int(parameters.max_depth),
        min_split=max(2, _share(parameters.min_samples_split, n_rows), 2 * min_leaf),
        min_leaf=min_leaf,
        min_weight=float(parameters.min_weight_fraction_leaf) * weight,
        max_features=columns_drawn(parameters.max_features, n_features),
        random_splits=getattr(parameters, "splitter", "best") == "random",
        min_impurity_decrease=float(parameters.min_impurity_decrease),
        max_leaves=0 if parameters.max_leaf_nodes is None else int(parameters.max_leaf_nodes),
        monotone=np.zeros(n_features, np.int8) if monotone is None else np.asarray(monotone).astype(np.int8),
        is_category=is_category,
    )


def columns_drawn(max_features: Any, n_features: int) -> int:
    """Return how many columns a node looks at."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, Integral):
        return int(max_features)
    return max(1, int(max_features * n_features))


def _share(amount: Any, n_rows: int) -> int:
    """Return a number of rows, given as such or as a part of them."""
    return int(amount) if isinstance(amount, Integral) else math.ceil(amount * n_rows)


GINI, ENTROPY, GAIN_RATIO, ERROR, SQUARED, POISSON, ABSOLUTE = range(7)
"""Criteria; those of classes come first."""

N_RANKS, IS_CATEGORY, MONOTONE, FIRST_VALUE = range(4)
"""Facts about a column: the rank of a missing value, whether it holds categories, the direction in which the answer
must go with it, and where its sorted values begin."""

START, STOP, DEPTH, N_LEFT, BELOW, ORDERING, LEFT, RIGHT, FEATURE, MISSING_LEFT, WAITING = range(11)
N_WHOLES = 11
"""Whole numbers of a node: its rows are ``START:STOP`` of every order; of its split the rows on the left, the last rank
there (of categories: the last place in their order, and by which value they are ordered), the children, the column.
The last one is not about the node: it is the list of nodes that can be split."""

LOWER, UPPER, GAIN, THRESHOLD, IMPURITY, WEIGHT, VALUE = range(7)
"""Real numbers of a node: bounds of its value, by how much its best split lowers the sum of impurities (-1: a leaf),
where it cuts, impurity, weight, and from there on the value."""

ON_LEFT, ON_RIGHT, TOTAL, CENTER, CATEGORY_WEIGHT, CATEGORY_MEAN, CATEGORY_ORDER, CATEGORY_PLACE, SUMS = range(9)
N_FLOATS = 9
"""Lines of the floats that a thread works in: sums on the left and right of a cut, of the node, what is subtracted
from the target; weights, means, order and places of categories; and sums over the node, which are:"""

WHOLE, BASE, TIE_WIDTH, ZERO_WIDTH = range(4)
"""The node's weight, the criterion's sum over all rows, the tolerance of ties, the part of a sum that is no more than
rounding."""

TOP, SCORE, RANK_BELOW, RANK_ABOVE, MISSING_ON_LEFT, ROWS_ON_LEFT, WEIGHT_ON_LEFT, UNSURE = range(8)
ORDERING_FOUND, HAS_MISSING, DRAWN_THRESHOLD = range(8, 11)
N_RESULTS = 11
"""What is known of the cuts of a column so far, all as floats: the best score; then score, rank below, rank above,
missing to the left, rows and weight on the left of the first cut as good as the best (rank -1: there is none); whether
there may be an earlier one; by which value categories are ordered; whether values are missing; a random threshold."""


class GrowthTable(NamedTuple):
    """The columns."""

    ranks: Any
    """uint32 (n_columns, n_rows): the place of the value among the sorted ones of the column; missing comes last.
    Of rows in blocks it is the bin, uint8.
    With absolute error the ranks of the targets stand behind those of the columns."""
    facts: Any
    """int64 (n_columns, 4)."""
    lowest: Any
    highest: Any
    """float64: the least and the largest value of each rank, of all columns; the same but where ranks are bins."""
    pairs: Any
    """float64 (n_rows, 2): weights, which are above 0, and numbers of the first output next to each other."""


class KernelRules(NamedTuple):
    """The parameters, as numbers."""

    criterion: int
    n_features: int
    n_outputs: int
    n_values: int
    """Numbers in the value of a node, over all outputs."""
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    max_features: int
    min_gain: float
    max_leaves: int
    """0: depth first, as many as there are; else best first."""


class GrowthRows(NamedTuple):
    """The rows, those of each node next to each other."""

    orders: Any
    """uint32: the rows in the order of each column, if these are kept, and in the last line as they came."""
    lines: Any
    """uint32 (2, n_rows): room for two more orders."""
    goes_left: Any
    """uint8 (n_rows,)."""


class Room(NamedTuple):
    """What one thread works in."""

    floats: Any
    """float64 (``N_FLOATS``, n)."""
    results: Any
    """float64 (n_columns, ``N_RESULTS``): what was found in each column."""


class GrownNodes(NamedTuple):
    """Nodes in the order in which they were opened."""

    wholes: Any
    """int64 (n_nodes, ``N_WHOLES``)."""
    reals: Any
    """float64 (n_nodes, ``VALUE`` and the values)."""


class Chance(NamedTuple):
    """What random numbers come from, and which columns were drawn."""

    keys: Any
    """uint64 (n_nodes,)."""
    drawn: Any
    """int64 (n_columns,)."""


class Medians(NamedTuple):
    """What absolute errors need."""

    places: Any
    """uint32 (n_outputs, n_rows): where each row stands when the node is sorted by its target."""
    sums: Any
    """float64 (6, n_rows + 1)."""


class Limits(NamedTuple):
    """What a cut of one column must keep to."""

    min_leaf: int
    min_weight: float
    cut: int
    """The rank after which a random split cuts; -1 where every cut is tried."""
    direction: int
    """1 where the target must rise with the column, -1 where it must fall."""
    lower: float
    upper: float
    tie: float
    """Scores that differ by less are equal."""
    zero: float
    """A part of a sum that is no more than its rounding."""
