"""A kd-tree: boxes halved at medians, and the search of one place, which passes over boxes that are too far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import EllipsesLayer, Layer, PointsLayer, PolylineLayer, SegmentsLayer, TreeLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import Report
from pellucid.app.playing.telling import told_certificate, told_columns
from pellucid.app.playing.views.scene import axes_around, is_equal
from pellucid.core.kinds.plain import Nothing, Number, Whole
from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate, Claim

MOST_NODES = 127
"""A larger tree cannot be read: leaves get more rows."""


@dataclass
class Search:
    """What a search has met so far: nodes opened, passed over, rows measured, and the nearest of them."""

    opened: list[int] = field(default_factory=list)
    passed: list[int] = field(default_factory=list)
    measured: list[int] = field(default_factory=list)
    found: list[tuple[float, int]] = field(default_factory=list)
    node: int = 0
    words: str = ""

    def copy(self, node: int, words: str) -> Search:
        """Return the search as it is now, at a node."""
        return Search([*self.opened], [*self.passed], [*self.measured], [*self.found], node, words)


def perform_kd_tree(
    data: GivenData,
    report: Report | None = None,
    *,
    n_neighbors: int = 3,
    leaf_size: int = 6,
    query_x: float | None = None,
    query_y: float | None = None,
) -> Performance:
    """Build a kd-tree over two columns and search it.

    Parameters
    ----------
    n_neighbors : int, default=3
        Rows to find.
    leaf_size : int, default=6
        Most rows of a leaf.
    query_x, query_y : float, default=None
        The place whose nearest rows are searched; None is a little beside the middle.
    """
    from pellucid.solvers.kd_tree import KDTree

    X = np.asarray(data.X, dtype=float)[:, :2]
    if X.shape[1] < 2:
        raise ValueError("data must have two columns for a kd-tree to be drawn, got 1.")
    k, least = min(n_neighbors, len(X)), max(leaf_size, int(np.ceil(2 * len(X) / MOST_NODES)))
    tree = KDTree.of(X, least)
    middle = 0.4 * X.min(axis=0) + 0.6 * X.max(axis=0)
    given = [at if asked is None else asked for asked, at in zip((query_x, query_y), middle, strict=True)]
    query = np.array(given, dtype=float)
    steps = list(search_steps(tree, X, query, k))
    library, visited = tree.query(query[np.newaxis], k)
    frames = [*_building(tree), *(_searching(tree, X, query, k, step) for step in steps)]
    for number, frame in enumerate(frames):
        if report is not None:
            report(number + 1, frame.label, 0.0)
    end = steps[-1]
    opened = [0] * (len(frames) - len(steps)) + [len(step.opened) for step in steps]
    measured = [0] * (len(frames) - len(steps)) + [len(step.measured) for step in steps]
    recording = Recording(
        title=f"A kd-tree on {data.name}",
        method="KDTree",
        parameters={"leaf_size": str(least), "k": str(k)},
        python=_python(data, least, query, k),
        data={"name": data.name, "columns": data.names[:2], "rows": len(X), "classes": None},
        axes=axes_around(np.vstack([X, query]), data.names[:2], equal=is_equal(X)),
        layers=(PointsLayer(X[:, 0], X[:, 1], row=True), PointsLayer([query[0]], [query[1]], [1], marker="cross")),
        frames=tuple(Frame(frame.label, frame.layers, number) for number, frame in enumerate(frames)),
        trace=told_columns(
            {"iteration": np.arange(1, len(frames) + 1), "nodes opened": opened, "rows measured": measured}
        ),
        certificate=told_certificate(_certificate(X, query, k, end, library, int(visited[0]))),
    )
    return Performance(recording)


def search_steps(tree: Any, X: Array, query: Array, k: int) -> Iterator[Search]:
    """Yield the search after each node: the nearer child first, and no box that is farther than the k-th row so far."""
    search = Search()

    def reach() -> float:
        return search.found[k - 1][0] if len(search.found) >= k else np.inf

    def visit(node: int) -> Iterator[Search]:
        gap = box_distance(tree, node, query)
        if gap > reach():
            search.passed.append(node)
            yield search.copy(node, f"pass over: the box is {np.sqrt(gap):.3g} away, row {k} is {np.sqrt(reach()):.3g}")
            return
        search.opened.append(node)
        if tree.axes[node] < 0:
            first, last = tree.ends[node]
            rows = tree.order[first:last].tolist()
            search.measured.extend(rows)
            near = [(float(((X[row] - query) ** 2).sum()), row) for row in rows]
            search.found = sorted([*search.found, *near])[:k]
            yield search.copy(node, f"leaf: measure {len(rows)} rows")
            return
        yield search.copy(node, "open the box, the nearer half first")
        children = sorted((2 * node + 1, 2 * node + 2), key=lambda child: (box_distance(tree, child, query), child))
        for child in children:
            yield from visit(child)

    yield from visit(0)


def box_distance(tree: Any, node: int, query: Array) -> float:
    """Return the squared distance from a place to the box of a node."""
    outside = np.maximum(np.maximum(tree.lower[node] - query, query - tree.upper[node]), 0.0)
    return float((outside**2).sum())


def _certificate(X: Array, query: Array, k: int, end: Search, library: Any, visited: int) -> Certificate:
    gaps = ((X - query) ** 2).sum(axis=1)
    brute = np.lexsort((np.arange(len(X)), gaps))[:k]
    wrong = sum(row != other for (_, row), other in zip(end.found, brute.tolist(), strict=True))
    differ = sum(row != other for (_, row), other in zip(end.found, library.indices[0].tolist(), strict=True))
    nodes = abs(len(end.opened) - visited)
    return Certificate(
        "exact",
        (
            Claim("nearest", "rows found that measuring all rows does not find", float(wrong), 0.0),
            Claim("library", "rows by which the library's own search differs", float(differ), 0.0),
            Claim("nodes", "nodes by which the library opened more or fewer", float(nodes), 0.0),
        ),
    )


def _building(tree: Any) -> list[Frame]:
    """Return a frame for each level of the tree: its boxes, and the tree down to there."""
    frames = []
    for level in range(tree.depth + 1):
        nodes = range(2**level - 1, 2 ** (level + 1) - 1)
        boxes = [_box(tree, node, None) for node in nodes]
        drawn = TreeLayer([_node(tree, node, None) for node in range(2 ** (level + 1) - 1)], title=_tree_title(tree))
        label = "the box around all rows" if level == 0 else f"split {level}: halves at the median of the widest side"
        frames.append(Frame(label, (*boxes, drawn)))
    return frames


def _searching(tree: Any, X: Array, query: Array, k: int, search: Search) -> Frame:
    leaves = [node for node in range(len(tree.ends)) if tree.axes[node] < 0]
    boxes: list[Layer] = [_box(tree, node, None) for node in leaves]
    boxes += [_crossed(tree, node) for node in search.passed]
    boxes.append(_box(tree, search.node, 0, width=2.5))
    if search.measured:
        x, y = X[search.measured].T
        boxes.append(PointsLayer(x, y, [0] * len(x)))
    if len(search.found) >= k:
        radius = np.sqrt(search.found[k - 1][0])
        boxes.append(EllipsesLayer([query[0]], [query[1]], [radius], [radius], [0.0], [1]))
    if search.found:
        x, y = X[[row for _, row in search.found]].T
        boxes.append(PointsLayer(x, y, [1] * len(x), marker="ring"))
    nodes = [_node(tree, node, search) for node in range(len(tree.ends))]
    return Frame(f"node {search.node + 1}: {search.words}", (*boxes, TreeLayer(nodes, title=_tree_title(tree))))


def _box(tree: Any, node: int, code: int | None, width: float = 0.7) -> PolylineLayer:
    (x0, y0), (x1, y1) = tree.lower[node], tree.upper[node]
    return PolylineLayer([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], code, width=width)


def _crossed(tree: Any, node: int) -> SegmentsLayer:
    (x0, y0), (x1, y1) = tree.lower[node], tree.upper[node]
    return SegmentsLayer([x0, x0], [y0, y1], [x1, x1], [y1, y0], dash=True)


def _tree_title(tree: Any) -> str:
    return f"the tree: {len(tree.ends)} nodes; blue opened, pale passed over"


def _node(tree: Any, node: int, search: Search | None) -> dict[str, Any]:
    level = (node + 1).bit_length() - 1
    place = node + 1 - 2**level
    told: dict[str, Any] = {
        "x": (place + 0.5) / 2**level,
        "y": 1 - (level + 0.5) / (tree.depth + 1),
        "text": str(node + 1),
        "parent": (node - 1) // 2 if node else None,
        "class": 0 if search is not None and node in search.opened else None,
    }
    return {**told, "cut": True} if search is not None and node in search.passed else told


def _python(data: GivenData, leaf_size: int, query: Array, k: int) -> str:
    return (
        "import numpy as np\n\nfrom pellucid.app.playing import read_data\n"
        "from pellucid.solvers.kd_tree import KDTree\n\n"
        f"{data.loading}\ntree = KDTree.of(np.asarray(data.X, dtype=float)[:, :2], {leaf_size})\n"
        f"found, visited = tree.query(np.array([{query.tolist()}]), {k})\n"
        "print(found.indices, np.sqrt(found.distances), visited)\n"
    )


KD_TREE = idea(
    "kd-tree",
    "Search in a kd-tree",
    perform_kd_tree,
    {
        "n_neighbors": Whole(low=1, high=50),
        "leaf_size": Whole(low=1, high=1000),
        "query_x": Number() | Nothing(),
        "query_y": Number() | Nothing(),
    },
    first={"set": "moons", "rows": 60},
)
