"""A kd-tree by hand: boxes halved at medians, and one search with the reason for every branch that is passed over."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sympy import Matrix, Rational

from pellucid.show.document import Block, Figure, Series, Step, Table, remark, sentence, step, table
from pellucid.show.exact_data import ExactData
from pellucid.show.notation import Math, typed
from pellucid.show.notation import math as notate

Numbers = Sequence[Rational]

WIDEST = 48
"""Characters of both halves of a split that fit beside the other columns; longer ones are listed without values."""
FEATURES_PER_TABLE = 2


@dataclass(frozen=True)
class BoxNode:
    """Some rows in their box; ``number`` counts from 1, and the children of node i are 2 i and 2 i + 1."""

    number: int
    rows: tuple[int, ...]
    lower: tuple[Rational, ...]
    upper: tuple[Rational, ...]
    axis: int | None = None
    children: tuple[BoxNode, ...] = ()

    def all_nodes(self) -> list[BoxNode]:
        """Return this node and everything below it, in the order of the numbers."""
        below = [node for child in self.children for node in child.all_nodes()]
        return sorted([self, *below], key=lambda node: node.number)


@dataclass
class BoxSearch:
    """What a search has found so far, and what it did at each node, in words."""

    query: Numbers
    k: int
    power: float
    found: list[tuple[Rational, int]] = field(default_factory=list)
    log: list[tuple[BoxNode, Rational, Rational | None, str]] = field(default_factory=list)
    visited: int = 0

    @property
    def reach(self) -> Rational | None:
        """The distance of the k-th row found so far, or None while there are fewer."""
        return self.found[self.k - 1][0] if len(self.found) >= self.k else None


def build_tree(X: Matrix, leaf_size: int) -> BoxNode:
    """Return the tree that :class:`pellucid.solvers.kd_tree.KDTree` builds, in exact numbers."""
    depth = min(max(0, math.ceil(math.log2(X.rows / leaf_size))), int(math.log2(X.rows)))
    return _node(X, tuple(range(X.rows)), 1, depth)


def search_tree(tree: BoxNode, X: Matrix, query: Numbers, k: int, power: float) -> BoxSearch:
    """Search the nearer child first; pass over a node whose box is farther than the k-th row found so far."""
    search = BoxSearch(query, k, power)
    _visit(tree, X, search)
    return search


def distance(differences: Iterator[Rational] | Numbers, power: float) -> Rational:
    """Return the Minkowski distance before its root: squared for power 2."""
    sizes = [abs(difference) for difference in differences]
    if power == math.inf:
        return max(sizes)
    return sum((size ** int(power) for size in sizes), Rational(0))


def box_distance(node: BoxNode, query: Numbers, power: float) -> Rational:
    """Return the distance from the query to the nearest point of the node's box, before its root."""
    sides = zip(node.lower, node.upper, query, strict=True)
    return distance([max(low - value, value - high, Rational(0)) for low, high, value in sides], power)


def build_step(tree: BoxNode, data: ExactData) -> Step:
    """Return the step that splits at medians."""
    inner = [node for node in tree.all_nodes() if node.children]
    rule = sentence(
        "Take the widest side of the box around the rows (of equal sides the first), order the rows along it (equal "
        "values by row number), and give the first half to the left child, the rest to the right one."
    )
    if not inner:
        return step("Build the tree", sentence("So few rows stay together in one leaf: there is nothing to split."))
    halves = [tuple(_ordered(node, child, data.X) for child in node.children) for node in inner]
    heads = ["left: row (value)", "right: row (value)"]
    if max(len(left) + len(right) for left, right in halves) > WIDEST:
        halves = [tuple(_numbers(node, child, data.X) for child in node.children) for node in inner]
        heads = ["left: rows", "right: rows"]
    rows = [[notate(node.number), *_side(node, data), *half] for node, half in zip(inner, halves, strict=True)]
    return step(
        "Build the tree",
        rule,
        table(["node", "side", "length", *heads], rows, caption="Splits at the median"),
        sentence("Node i has the children 2i and 2i + 1. The leaves and the smallest boxes around their rows:"),
        *_leaf_tables(tree, data),
    )


def _leaf_tables(tree: BoxNode, data: ExactData) -> list[Table]:
    """Return the boxes of the leaves, a few features to a table so that it is not too wide."""
    leaves = [node for node in tree.all_nodes() if not node.children]
    tables = []
    for first in range(0, data.n_features, FEATURES_PER_TABLE):
        shown = range(first, min(first + FEATURES_PER_TABLE, data.n_features))
        head = ["leaf", "rows", *(data.symbol("x", j) for j in shown)]
        tables.append(table(head, [[notate(n.number), _listed(n.rows), *(_box(n)[j] for j in shown)] for n in leaves]))
    return tables


def search_step(search: BoxSearch, tree: BoxNode, n_rows: int) -> Step:
    """Return the step that lists every node met: opened, measured, or passed over and why."""
    rows = [
        [notate(node.number), notate(bound), "—" if reach is None else notate(reach), action]
        for node, bound, reach, action in search.log
    ]
    measured = sum(len(node.rows) for node, _, _, action in search.log if action.startswith("leaf"))
    of = {2.0: "squared distance", 1.0: "distance", math.inf: "distance"}[search.power]
    blocks: list[Block] = [
        sentence(
            f"A node whose box is farther away than the {_ordinal(search.k)} nearest row found so far cannot hold a "
            "nearer row. At equality it could: a row with a lower number would win the tie, so such a node is opened."
        ),
        table(["node", f"{of} of its box", f"{_ordinal(search.k)} so far", "what happens"], rows),
        sentence(
            f"Of {len(tree.all_nodes())} nodes {search.visited} were visited, and of {n_rows} rows {measured} measured."
        ),
    ]
    if measured == n_rows:
        blocks.append(remark("Nothing was saved here: with so few rows the boxes are all within reach."))
    return step("Search the tree", *blocks)


def tree_figure(tree: BoxNode, data: ExactData, query: Numbers) -> Figure:
    """Return a picture of two features: rows, query, and each split drawn across its box."""
    series = [
        Series(_floats(data.X.col(0)), _floats(data.X.col(1)), label="rows"),
        Series((float(query[0]),), (float(query[1]),), label="query"),
    ]
    for node in tree.all_nodes():
        if node.axis is None:
            continue
        place = float(node.children[0].upper[node.axis] + node.children[1].lower[node.axis]) / 2
        other = 1 - node.axis
        ends = float(node.lower[other]), float(node.upper[other])
        line = ((place, place), ends) if node.axis == 0 else (ends, (place, place))
        series.append(Series(*line, joined=True))
    return Figure(tuple(series), *_axis_names(data), "The splits, halfway between the two halves")


def _node(X: Matrix, rows: tuple[int, ...], number: int, depth: int) -> BoxNode:
    columns = [[X[i, j] for i in rows] for j in range(X.cols)]
    lower, upper = tuple(map(min, columns)), tuple(map(max, columns))
    if depth == 0:
        return BoxNode(number, rows, lower, upper)
    axis = max(range(X.cols), key=lambda j: (upper[j] - lower[j], -j))
    ordered = tuple(sorted(rows, key=lambda i: (X[i, axis], i)))
    half = len(rows) // 2
    left = _node(X, ordered[:half], 2 * number, depth - 1)
    right = _node(X, ordered[half:], 2 * number + 1, depth - 1)
    return BoxNode(number, rows, lower, upper, axis, (left, right))


def _visit(node: BoxNode, X: Matrix, search: BoxSearch) -> None:
    bound, reach = box_distance(node, search.query, search.power), search.reach
    if reach is not None and bound > reach:
        search.log.append((node, bound, reach, "passed over: too far away"))
        return
    search.visited += 1
    if not node.children:
        search.log.append((node, bound, reach, f"leaf: measure {_listed(node.rows)}"))
        for i in node.rows:
            differences = [X[i, j] - search.query[j] for j in range(X.cols)]
            search.found.append((distance(differences, search.power), i))
        search.found.sort()
        del search.found[search.k :]
        return
    near, far = sorted(node.children, key=lambda child: (box_distance(child, search.query, search.power), child.number))
    search.log.append((node, bound, reach, f"opened: node {near.number}, then {far.number}"))
    _visit(near, X, search)
    _visit(far, X, search)


def _ordered(node: BoxNode, child: BoxNode, X: Matrix) -> str:
    assert node.axis is not None
    rows = sorted(child.rows, key=lambda i: (X[i, node.axis], i))
    return ", ".join(f"{i + 1} ({_written(X[i, node.axis])})" for i in rows)


def _side(node: BoxNode, data: ExactData) -> tuple[Math, Math]:
    """Return the widest side of the node's box and its length."""
    assert node.axis is not None
    return data.symbol("x", node.axis), notate(node.upper[node.axis] - node.lower[node.axis])


def _numbers(node: BoxNode, child: BoxNode, X: Matrix) -> str:
    assert node.axis is not None
    return ", ".join(str(i + 1) for i in sorted(child.rows, key=lambda i: (X[i, node.axis], i)))


def _written(value: Rational) -> str:
    sign, above, below = typed(value).spelling
    return f"{sign}{above}/{below}" if below else f"{sign}{above}"


def _listed(rows: Sequence[int]) -> str:
    return ("row " if len(rows) == 1 else "rows ") + ", ".join(str(i + 1) for i in sorted(rows))


def _box(node: BoxNode) -> list[str]:
    pairs = zip(node.lower, node.upper, strict=True)
    return [_written(low) if low == high else f"{_written(low)} to {_written(high)}" for low, high in pairs]


def _ordinal(k: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(k, f"{k}th")


def _floats(column: Matrix) -> tuple[float, ...]:
    return tuple(float(value) for value in column)


def _axis_names(data: ExactData) -> tuple[str, str]:
    return (data.names[0], data.names[1]) if data.names else ("x₁", "x₂")
