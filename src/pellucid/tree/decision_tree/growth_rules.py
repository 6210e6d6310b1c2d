"""The parameters of a tree as numbers: what the growing of it and the proof both follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

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
