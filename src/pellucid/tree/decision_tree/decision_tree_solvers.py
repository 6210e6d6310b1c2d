"""Growing one tree: large nodes share their columns among the threads, small subtrees are tasks of their own.

What a node looks at depends on the data, the seed and the way to it, so the number of threads changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array, SparseOrDense
from pellucid.tree.decision_tree import growth_rules as layout
from pellucid.tree.decision_tree.growth_rules import (
    FEATURE,
    IMPURITY,
    LEFT,
    MISSING_LEFT,
    RIGHT,
    START,
    STOP,
    THRESHOLD,
    VALUE,
    WEIGHT,
    GrowthRules,
)
from pellucid.tree.decision_tree.tree_data import TreeTarget
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, PackedTrees

N_DIGITS = 256

CRITERIA = ("gini", "entropy", "gain_ratio", "error", "squared_error", "poisson", "absolute_error")
"""By the numbers that the kernels know them by."""

SORTING = 4
"""Columns that can be kept in order in the time it takes to sort one."""

FEWEST = 1 << 11
PARTS = 16
"""A subtree is one task when it has no more rows than this, or than this part of all."""

WORTH_PARTING = 1 << 18
"""Values (rows times columns) from which the first nodes share their columns among the threads."""


NOT_KEPT = np.uint32(2**32 - 1)


class Grower(NamedTuple):
    """All that the kernel needs: data, rules and rows."""

    table: layout.GrowthTable
    codes: Array | None
    y: Array | None
    rules: layout.KernelRules
    rows: layout.GrowthRows
    presorted: bool
    """Whether the order of every column is kept along; else a node sorts the columns it looks at."""
    at_random: bool
    directed: bool | None
    """Whether splits are random, and whether a column has a direction: if not, None."""


def grow_tree(
    columns: ColumnRanks, target: TreeTarget, weight: Array, rules: GrowthRules, seed: int, rows: Array | None = None
) -> PackedTrees:
    """Return the tree of all rows, or of some of them; ``weight`` has an entry above 0 for each of these."""
    columns, target = (columns, target) if rows is None else (_taken(columns, rows, rules), target.taken(rows))
    if rules.criterion == "absolute_error":
        columns = _with_targets(columns, target)
    grower = _grower(columns, target, weight, rules)
    n = len(weight)
    root = _GrowthStart(0, n, 0, root_key(seed), -np.inf, np.inf)
    draws_all = (grower.presorted or columns.are_bins) and rules.max_features >= rules.n_features
    if n * rules.n_features >= WORTH_PARTING and rules.max_leaves == 0 and draws_all:
        grown = _grow_in_parts(grower, root)
    else:
        grown = _grow(grower, root)
    shape = (target.n_outputs, target.n_values)
    return packed(grown, rules.is_category, in_preorder=rules.max_leaves == 0, shape=shape)


def is_presorted(columns: ColumnRanks, rules: GrowthRules) -> bool:
    """Return whether keeping all columns in order costs less than sorting those that each node looks at.

    Bins are sorted by one byte, and their orders would take four times the memory that they do.
    """
    return not columns.are_bins and rules.max_features * SORTING >= rules.n_features


def _taken(columns: ColumnRanks, rows: Array, rules: GrowthRules) -> ColumnRanks:
    """Return the ranks of some rows, in their order; values stay the same."""
    from pellucid.tree.decision_tree.growth_kernels import keep_orders

    orders = np.empty((0, len(rows)), np.uint32)
    if is_presorted(columns, rules):
        place = np.full(columns.ranks.shape[1], NOT_KEPT)
        place[rows] = np.arange(len(rows), dtype=np.uint32)
        orders = np.empty((len(columns.orders), len(rows)), np.uint32)
        keep_orders(columns.orders, place, orders)
    return replace(columns, ranks=np.take(columns.ranks, rows, axis=1), orders=orders)


def _with_targets(columns: ColumnRanks, target: TreeTarget) -> ColumnRanks:
    """Return the columns with the ranks of the targets behind them."""
    ranked = rank_columns(target.y)
    orders = np.vstack([columns.orders, ranked.orders]) if len(columns.orders) else columns.orders
    return replace(columns, ranks=np.vstack([columns.ranks, ranked.ranks]), orders=orders)


def _grower(columns: ColumnRanks, target: TreeTarget, weight: Array, rules: GrowthRules) -> Grower:
    n = len(weight)
    facts = np.column_stack([columns.n_ranks, rules.is_category, rules.monotone, columns.value_starts[:-1]])
    codes = None if len(target.n_classes) == 0 or target.n_classes == (2,) else target.places
    y = None if codes is not None else np.ascontiguousarray((target.y if target.y.size else target.codes).T, np.float64)
    numbers = layout.KernelRules(
        criterion=CRITERIA.index(rules.criterion),
        n_features=rules.n_features,
        n_outputs=target.n_outputs,
        n_values=target.n_outputs * target.n_values if codes is not None else target.n_outputs,
        max_depth=rules.max_depth,
        min_split=rules.min_split,
        min_leaf=rules.min_leaf,
        min_weight=rules.min_weight,
        max_features=rules.max_features,
        min_gain=rules.min_impurity_decrease * float(weight.sum()),
        max_leaves=rules.max_leaves,
    )
    presorted = is_presorted(columns, rules)
    orders = np.vstack([columns.orders if presorted else np.empty((0, n), np.uint32), np.arange(n, dtype=np.uint32)])
    pairs = weight[:, np.newaxis] if y is None else np.column_stack([weight, y[0]])
    table = layout.GrowthTable(columns.ranks, facts.astype(np.int64), columns.lowest, columns.highest, pairs)
    return Grower(
        table, codes, y, numbers, _rows(orders), presorted, rules.random_splits,
        bool(rules.monotone.any()) or None,
    )  # fmt: skip


def _rows(orders: Array) -> layout.GrowthRows:
    """Return rows in these orders, with room to part them in."""
    n = orders.shape[1]
    return layout.GrowthRows(orders, np.empty((2, n), np.uint32), np.empty(n, np.uint8))


class _GrowthStart(NamedTuple):
    """A node before it is opened."""

    start: int
    stop: int
    depth: int
    key: Any
    lower: float
    upper: float


def _grow(grower: Grower, root: _GrowthStart, max_splits: int = -1) -> Grown:
    """Return the tree below a node, grown on this thread."""
    from pellucid.tree.decision_tree.growth_kernels import grow

    table, codes, y, rules, rows, presorted, at_random, directed = grower
    n = root.stop - root.start
    most = n if rules.max_leaves == 0 else min(n, rules.max_leaves)
    capacity = 3 if max_splits == 1 else 2 * min(most, 2 ** min(max(0, rules.max_depth - root.depth), 40)) + 1
    n_categories = int(np.max(table.facts[table.facts[:, layout.IS_CATEGORY] > 0, layout.N_RANKS], initial=0))
    sets = np.zeros((capacity, (n_categories + 31) // 32), np.uint32) if n_categories else None
    n_values = 2 if codes is None and rules.criterion < layout.SQUARED else rules.n_values
    nodes = layout.GrownNodes(
        np.zeros((capacity, layout.N_WHOLES), np.int64), np.zeros((capacity, layout.VALUE + n_values))
    )
    keys = np.zeros(capacity, np.uint64)
    nodes.wholes[0, : layout.DEPTH + 1] = root.start, root.stop, root.depth
    nodes.reals[0, layout.LOWER], nodes.reals[0, layout.UPPER], keys[0] = root.lower, root.upper, root.key
    room = layout.Room(
        np.empty((layout.N_FLOATS, max(n_values, n_categories, layout.ZERO_WIDTH) + 2)),
        np.zeros((rules.n_features, layout.N_RESULTS)),
    )
    sorting = np.empty((3, 0 if presorted else max(n, N_DIGITS)), np.int64)
    chance = layout.Chance(keys, np.empty(rules.n_features, np.int64))
    medians = None
    if rules.criterion == layout.ABSOLUTE:
        places = np.empty((rules.n_outputs, rows.orders.shape[1]), np.uint32)
        medians = layout.Medians(places, np.empty((6, n + 1)))
    count = grow(
        table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, max_splits
    )
    return Grown(nodes.wholes[:count], nodes.reals[:count], keys[:count], None if sets is None else sets[:count])


def _grow_in_parts(grower: Grower, root: _GrowthStart) -> Grown:
    """Return the tree: large nodes are split level by level, each by one thread, then subtrees are tasks of their own.

    Whether and where parts are made depends on the rows alone, so the number of threads changes nothing.
    """
    limit = max(FEWEST, (root.stop - root.start) // PARTS)
    large, small, parts = [(grower, root, -1)], [], []
    while large:
        split = run_blocks(lambda task: _split(task[0], task[1]), large)
        found: list[tuple[Grower, _GrowthStart, int]] = []
        for (own, grown), (_, _, place) in zip(split, large, strict=True):
            parts.append((grown, place))
            if len(grown.wholes) == 3:
                found += [(own, _start_of(grown, child), 3 * (len(parts) - 1) + child) for child in (1, 2)]
        small += [task for task in found if task[1].stop - task[1].start <= limit]
        large = [task for task in found if task[1].stop - task[1].start > limit]
    small.sort(key=lambda task: task[1].start - task[1].stop)  # the largest first
    below = run_blocks(lambda task: _grow(*_apart(task[0], task[1])), small)
    return joined(parts, list(zip(below, [place for _, _, place in small], strict=True)))


def _split(grower: Grower, root: _GrowthStart) -> tuple[Grower, Grown]:
    """Return a node with its two children, and what these are to be grown from: a copy if it has few of the rows."""
    if 2 * (root.stop - root.start) <= grower.rows.orders.shape[1]:
        grower, root = _apart(grower, root)
    return grower, _grow(grower, root, max_splits=1)


def _start_of(grown: Grown, v: int) -> _GrowthStart:
    start, stop, depth = grown.wholes[v, : layout.DEPTH + 1]
    return _GrowthStart(
        int(start), int(stop), int(depth), grown.keys[v], grown.reals[v, layout.LOWER], grown.reals[v, layout.UPPER]
    )


def _apart(grower: Grower, root: _GrowthStart) -> tuple[Grower, _GrowthStart]:
    """Return a copy of the rows of a node, which are next to each other in the memory then."""
    table, rows = grower.table, grower.rows
    inside = slice(root.start, root.stop)
    kept = rows.orders[-1, inside]
    n = len(kept)
    place = np.empty(rows.orders.shape[1], np.uint32)
    place[kept] = np.arange(n, dtype=np.uint32)
    own = grower._replace(
        table=table._replace(ranks=np.take(table.ranks, kept, axis=1), pairs=table.pairs[kept]),
        codes=None if grower.codes is None else np.take(grower.codes, kept, axis=1),
        y=None if grower.y is None else np.take(grower.y, kept, axis=1),
        rows=_rows(np.take(place, rows.orders[:, inside])),
    )
    return own, root._replace(start=0, stop=n)


class Grown(NamedTuple):
    """What the kernel leaves of each node, in the order of opening; see ``growth_layout`` for the columns."""

    wholes: Array
    reals: Array
    keys: Array
    sets: Array | None


def joined(tops: list[tuple[Grown, int]], subtrees: list[tuple[Grown, int]]) -> Grown:
    """Return one tree of nodes that were split alone, each with its two children, and of the subtrees below them.

    With each comes the place of its root: ``3 t + c`` is child ``c`` of the top ``t``; -1 of the first one. A part
    replaces the child that stands for it.
    """
    parts = [*tops, *subtrees]
    firsts = np.cumsum([0, *(len(grown.wholes) for grown, _ in parts)])
    wholes = np.concatenate([grown.wholes for grown, _ in parts])
    is_inner = wholes[:, LEFT] >= 0
    shift = np.repeat(firsts[:-1], np.diff(firsts))
    for side in (LEFT, RIGHT):
        wholes[:, side] = np.where(is_inner, wholes[:, side] + shift, wholes[:, side])
    replaced = np.zeros(len(wholes), dtype=bool)
    for part, (_, place) in enumerate(parts):
        if place >= 0:
            parent, child = firsts[place // 3], place % 3
            replaced[wholes[parent, LEFT if child == 1 else RIGHT]] = True
            wholes[parent, LEFT if child == 1 else RIGHT] = firsts[part]
    new = np.cumsum(~replaced) - 1
    for side in (LEFT, RIGHT):
        wholes[is_inner, side] = new[wholes[is_inner, side]]
    kept = ~replaced
    sets = None if parts[0][0].sets is None else np.concatenate([grown.sets for grown, _ in parts])[kept]
    reals, keys = (np.concatenate([grown[field] for grown, _ in parts])[kept] for field in (1, 2))
    return Grown(wholes[kept], reals, keys, sets)


def packed(grown: Grown, is_category: Array, *, in_preorder: bool, shape: tuple[int, int]) -> PackedTrees:
    """Return opened nodes as a tree; ``shape`` is (n_outputs, n_values).

    Depth first, every left subtree stands before the right one; best first, nodes stay in the order of their opening.
    """
    wholes, reals, n_nodes = grown.wholes, grown.reals, len(grown.wholes)
    if in_preorder:
        from pellucid.tree.decision_tree.growth_kernels import find_preorder

        place, order = np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes, dtype=np.int64)
        find_preorder(wholes, place, order)
        wholes, reals = wholes[order], reals[order]
    else:
        place = order = np.arange(n_nodes)
    leaf, feature = wholes[:, LEFT] == LEAF, wholes[:, FEATURE].astype(np.int32)
    by_set = ~leaf & (is_category[np.where(leaf, 0, feature)] > 0)
    category_row = np.full(n_nodes, NO_CATEGORIES, dtype=np.int32)
    category_row[by_set] = np.arange(int(by_set.sum()))
    sets = np.empty((0, 0), np.uint32) if grown.sets is None else grown.sets[order[by_set]]
    return PackedTrees(
        starts=np.array([0, n_nodes], dtype=np.int64),
        children_left=np.where(leaf, LEAF, place[wholes[:, LEFT]]).astype(np.int32),
        children_right=np.where(leaf, LEAF, place[wholes[:, RIGHT]]).astype(np.int32),
        feature=feature,
        threshold=reals[:, THRESHOLD].copy(),
        missing_go_to_left=wholes[:, MISSING_LEFT].astype(np.uint8),
        category_row=category_row,
        left_categories=sets,
        impurity=reals[:, IMPURITY].copy(),
        n_node_samples=wholes[:, STOP] - wholes[:, START],
        weighted_n_node_samples=reals[:, WEIGHT].copy(),
        value=reals[:, VALUE:].reshape(n_nodes, *shape),
    )


@dataclass(frozen=True)
class ColumnRanks:
    """Ranks of all columns, their sorted values, and the rows in the order of each column."""

    ranks: Array
    """uint32 (n_columns, n_rows); a missing value comes last. Bins are uint8."""
    orders: Array
    """uint32 (n_columns, n_rows); none of bins."""
    n_ranks: Array
    """int64: different values of each column, which is the rank of a missing one."""
    lowest: Array
    highest: Array
    value_starts: Array
    """float64, the least and the largest value of each rank, of all columns one after the other, and where each column
    begins. A rank has one value, a bin may have many."""

    @property
    def are_bins(self) -> bool:
        """Whether a rank may stand for many values."""
        return self.ranks.dtype == np.uint8


def rank_columns(X: SparseOrDense, n_categories: Array | None = None) -> ColumnRanks:
    """Return the ranks of rows, dense or sparse; NaN is a missing value. Codes of categories are ranks as they are."""
    from pellucid.tree.decision_tree.column_cut_kernels import rank_column

    n, d = X.shape
    columns = X.tocsc() if sparse.issparse(X) else X
    ranks, orders = np.empty((d, n), np.uint32), np.empty((d, n), np.uint32)
    found: list[Array] = [np.empty(0)] * d

    def work(part: slice) -> None:
        values, keys, others = np.empty(n), np.empty(n, np.uint64), np.empty(n, np.uint64)
        spare, counts = np.empty(n, np.uint32), np.empty((6, 2048), np.int64)
        for j in range(part.start, part.stop):
            column = _column(columns, j)
            bits = column.view(np.uint64)
            count = rank_column(column, bits, keys, others, orders[j], spare, counts, ranks[j], values)
            found[j] = values[:count].copy()
            if n_categories is not None and n_categories[j]:
                ranks[j] = np.where(np.isnan(column), n_categories[j], column)
                found[j] = np.arange(float(n_categories[j]))

    run_blocks(work, shares(d, 16 * n * d))
    n_ranks = np.array([len(values) for values in found], dtype=np.int64)
    values, starts = np.concatenate(found), np.concatenate([[0], np.cumsum(n_ranks)])
    return ColumnRanks(ranks, orders, n_ranks, values, values, starts)


def _column(columns: Any, j: int) -> Array:
    if not sparse.issparse(columns):
        return np.ascontiguousarray(columns[:, j], dtype=np.float64)
    dense = np.zeros(columns.shape[0])
    inside = slice(columns.indptr[j], columns.indptr[j + 1])
    dense[columns.indices[inside]] = columns.data[inside]
    return dense


MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def root_key(seed: int) -> np.uint64:
    """Return the key of the root of a tree: the last step of the generator splitmix64."""
    z = seed + GOLDEN & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return np.uint64(z ^ z >> 31)
