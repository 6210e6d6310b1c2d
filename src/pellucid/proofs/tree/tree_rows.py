r"""What a tree is grown on and by which rules, from the training data, the parameters and the seed alone.

A node draws its columns, and random thresholds, by a rule that anybody can follow: the key of a root is a hash of the
tree's seed, that of a child a hash of its parent's key and of the side. The k-th number that a node draws is the hash
of :math:`key + g (k + 1)`, all modulo :math:`2^{64}`; the hash is the last step of the generator splitmix64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.tree_bins import BinnedValues, binned
from pellucid.proofs.tree.trees import TreeArrays

LARGEST_SEED = 2**31 - 1
NO_LIMIT = 2**31 - 1
GOLDEN, LEFT_WAY, RIGHT_WAY = (
    np.array(n, dtype=np.uint64) for n in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xAEF17502108EF2D9)
)


@dataclass(frozen=True, eq=False)
class NodeTarget:
    """What a node's value is made of: class shares, or numbers, one column for each output."""

    codes: Array
    """(n_rows, n_outputs) the class of each row; without columns for numbers."""
    y: Array
    """(n_rows, n_outputs) numbers; without columns for classes."""
    n_classes: tuple[int, ...]
    """Of each output; none for numbers."""

    @property
    def n_outputs(self) -> int:
        """Columns of the target."""
        return int(self.codes.shape[-1] or self.y.shape[-1])

    @property
    def n_values(self) -> int:
        """Numbers that a node has for each output: shares of as many classes as an output has at most, or one mean."""
        return max(self.n_classes, default=1)

    def taken(self, rows: Array) -> NodeTarget:
        """Return the target of some rows."""
        return NodeTarget(self.codes[rows], self.y[rows], self.n_classes)


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows with their targets; their weights, which are those of the data times those of their classes."""

    X: SparseOrDense
    target: NodeTarget
    weight: Array
    row_weight: Array
    has_weights: bool
    """Whether rows differ in weight, by the data or by their class."""
    label_sets: tuple[Array, ...] = ()
    categories: tuple[Array | None, ...] = ()
    """The values of each column of categories, None for one of numbers; empty where there are no categories."""
    kept: Array | None = None
    """Which of the given rows these are; None for all."""
    n_given: int = 0
    bins: BinnedValues | None = None
    """Of rows in blocks: ``X`` holds the bins of their values."""

    @property
    def n_categories(self) -> Array:
        """Categories of each column, 0 for one of numbers."""
        return np.array([0 if c is None else len(c) for c in self.categories] or [0] * self.X.shape[1])

    @property
    def is_category(self) -> Array:
        """Which columns hold categories."""
        return np.array([c is not None for c in self.categories] or [False] * self.X.shape[1])


def class_target(codes: Array, n_classes: int) -> NodeTarget:
    """Return the target of one column of class codes."""
    return NodeTarget(codes.reshape(-1, 1), np.empty((len(codes), 0)), (n_classes,))


def number_target(y: Array) -> NodeTarget:
    """Return the target of numbers."""
    columns = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    return NodeTarget(np.empty((len(columns), 0), dtype=np.int64), columns, ())


def tree_rows(fitted: Seen, parameters: Seen, data: TrainingData) -> TreeRows:
    """Return the rows of a tree or forest as its parameters read them; those of a class of weight 0 are gone."""
    n, given = data.X.shape[0], data.given
    kept = slice(None) if data.kept is None else data.kept
    row_weight = np.ones(n) if given[2] is None else np.asarray(given[2], dtype=np.float64)[kept]
    categories = tuple(getattr(data, "categories", fitted.categories_))
    if not hasattr(fitted, "classes_"):
        is_weighted = given[2] is not None
        X, bins = _read(data.X, row_weight if is_weighted else None)
        target = number_target(data.y)
        return TreeRows(X, target, row_weight, row_weight, is_weighted, (), categories, data.kept, len(given[1]), bins)
    labels = np.asarray(given[1])
    columns = labels.reshape(len(labels), -1).T
    sets = tuple(np.unique(column) for column in columns)
    codes = np.column_stack([np.searchsorted(found, column[kept]) for found, column in zip(sets, columns, strict=True)])
    target = NodeTarget(codes, np.empty((n, 0)), tuple(map(len, sets)))
    by_class = _class_weights(getattr(parameters, "class_weight", None), target, sets, row_weight)
    weight = row_weight if by_class is None else row_weight * by_class
    places = np.flatnonzero(weight)
    given_places = data.kept
    if len(places) < n:
        given_places = data.given_rows(places)
    X, bins = _read(data.X[places] if len(places) < n else data.X, None if given[2] is None else row_weight[places])
    return TreeRows(
        X, target.taken(places), weight[places], row_weight[places],
        given[2] is not None or by_class is not None, sets, categories, given_places, len(given[1]), bins,
    )  # fmt: skip


def _read(X: Any, weight: Array | None) -> tuple[SparseOrDense, BinnedValues | None]:
    """Return rows in memory as they are, those in blocks as bins; ``weight`` is that of the rows, without classes."""
    return (X, None) if isinstance(X, np.ndarray) or sparse.issparse(X) else binned(X, weight)


def _class_weights(class_weight: Any, target: NodeTarget, sets: tuple[Array, ...], weight: Array) -> Array | None:
    """Return the weight of each row by its classes, the product over the outputs; None where all classes are alike.

    Balanced classes weigh the same together; of several outputs rows are counted, whatever their weight.
    """
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced_subsample"):
        return None
    product = np.ones(len(weight))
    for k, labels in enumerate(sets):
        codes = target.codes[:, k]
        if isinstance(class_weight, str):
            totals = np.bincount(codes, weight if len(sets) == 1 else None, minlength=len(labels)).astype(np.float64)
            n_classes = len(labels) if len(sets) == 1 else int(np.sum(totals > 0))
            own = totals.sum() / (n_classes * np.where(totals > 0, totals, math.inf))
        else:
            table = class_weight[k] if isinstance(class_weight, (list, tuple)) else class_weight
            own = np.array([float(table.get(label, 1.0)) for label in labels.tolist()])
        product *= own[codes]
    return product


@dataclass(frozen=True, eq=False)
class GrowthRule:
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
    """1 where the answer rises with the column, -1 where it falls, else 0."""
    is_category: Array
    in_bins: bool = False
    """Whether thresholds are the last bins that go left."""


def growth_rule(parameters: Seen, n_rows: int, weight: float, is_category: Array) -> GrowthRule:
    """Return the rule for so many rows of this weight together."""
    p, monotone = len(is_category), getattr(parameters, "monotonic_cst", None)
    min_leaf, min_split = (
        int(amount) if isinstance(amount, Integral) else math.ceil(amount * n_rows)
        for amount in (parameters.min_samples_leaf, parameters.min_samples_split)
    )
    same = {"log_loss": "entropy", "friedman_mse": "squared_error"}  # two names of one thing
    return GrowthRule(
        criterion=same.get(parameters.criterion, parameters.criterion),
        n_features=p,
        max_depth=parameters.max_depth or NO_LIMIT,
        min_split=max(2, min_split, 2 * min_leaf),
        min_leaf=min_leaf,
        min_weight=float(parameters.min_weight_fraction_leaf) * weight,
        max_features=columns_drawn(parameters.max_features, p),
        random_splits=getattr(parameters, "splitter", "best") == "random",
        min_impurity_decrease=float(parameters.min_impurity_decrease),
        max_leaves=parameters.max_leaf_nodes or 0,
        monotone=np.zeros(p) if monotone is None else np.asarray(monotone),
        is_category=is_category,
    )


def draws_numbers(rule: GrowthRule) -> bool:
    """Return whether nodes draw columns or thresholds."""
    return rule.random_splits or rule.max_features < rule.n_features


def columns_drawn(max_features: Any, p: int) -> int:
    """Return how many of p columns a node looks at."""
    if max_features is None:
        return p
    if isinstance(max_features, str):
        return max(1, math.isqrt(p) if max_features == "sqrt" else int(np.log2(p)))
    return int(max_features) if isinstance(max_features, Integral) else max(1, int(max_features * p))


def drawn_seed(seed: int) -> int:
    """Return the seed that a tree draws from its ``random_state``."""
    return int(np.random.RandomState(seed).randint(LARGEST_SEED))


def mixed(z: Array) -> Array:
    """Return 64 bits that depend on all bits of ``z``; what is above 64 bits is left out."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def drawn_bits(key: Array, turn: Any) -> Array:
    """Return what nodes draw in some turn, counted from 0."""
    with np.errstate(over="ignore"):
        return mixed(key + GOLDEN * (np.asarray(turn, dtype=np.uint64) + np.uint64(1)))


def drawn_columns(key: Array, p: int) -> Array:
    """Return the columns in the order in which a node draws them: each turn takes one of those that are left."""
    columns = list(range(p))
    for turn, bits in enumerate(drawn_bits(key, np.arange(p)).tolist()):
        place = turn + bits % (p - turn)
        columns[turn], columns[place] = columns[place], columns[turn]
    return np.array(columns)


def drawn_share(key: Array, column: Any, p: int) -> Array:
    """Return the number in [0, 1) that nodes draw for a column."""
    return (drawn_bits(key, p + np.asarray(column)) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def child_keys(key: Array) -> tuple[Array, Array]:
    """Return the keys of the left and of the right child."""
    return mixed(key ^ LEFT_WAY), mixed(key ^ RIGHT_WAY)


def node_keys(trees: TreeArrays, seeds: Array) -> Array:
    """Return the keys of all nodes, from the seeds of the trees."""
    keys, level = np.zeros(trees.n_nodes, dtype=np.uint64), trees.starts[:-1]
    with np.errstate(over="ignore"):
        keys[level] = mixed(np.asarray(seeds).astype(np.uint64) + GOLDEN)
    while len(level := level[~trees.is_leaf[level]]):
        keys[trees.left[level]], keys[trees.right[level]] = child_keys(keys[level])
        level = np.concatenate([trees.left[level], trees.right[level]])
    return keys
