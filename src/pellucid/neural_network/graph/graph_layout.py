"""Where the nodes of a graph stand in a drawing: columns from the inputs to the output, lines that cross seldom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pellucid.drawing.label_spreading import spread
from pellucid.neural_network.graph.graph_node import GraphNode

SWEEPS = 4
"""How often heights are drawn toward those of the neighbors, from the left and from the right."""


@dataclass(eq=False)
class Spot:
    """A place of the drawing: a node, or a point that the line from a node to a gate passes on its way."""

    node: GraphNode
    column: int
    use: tuple[GraphNode, int] | None = None
    """Of a point on a line: the gate it leads to, and as which of its inputs."""
    height: float = 0.0
    before: list[Spot] = field(default_factory=list)
    """Of a gate, in the order of its inputs."""
    after: list[Spot] = field(default_factory=list)


Uses = Mapping[GraphNode, Sequence[tuple[GraphNode, int]]]


def lay_out(nodes: Sequence[GraphNode], uses: Uses) -> list[list[Spot]]:
    """Return the columns of the drawing with the heights of their spots, which are at least 1 apart.

    The lines of a value that is used several times pass a spot of their own first, which leaves room for their labels.
    """
    column = _columns(nodes, uses)
    spots = {node: Spot(node, column[node]) for node in nodes}
    found: list[list[Spot]] = [[] for _ in range(column[nodes[-1]] + 1)]
    for gate in nodes:
        found[column[gate]].append(spots[gate])
        for place, node in enumerate(gate.inputs):
            way = [Spot(node, k, (gate, place)) for k in range(column[node] + 1, column[gate])]
            for spot in way:
                found[spot.column].append(spot)
            for left, right in pairwise([spots[node], *way, spots[gate]]):
                left.after.append(right)
                right.before.append(left)
    _set_heights(found, nodes)
    return found


def _columns(nodes: Sequence[GraphNode], uses: Uses) -> dict[GraphNode, int]:
    """Return the column of every node: gates right of their inputs, variables next to the first gate that uses them."""
    length = {node: 2 if len(uses[node]) > 1 else 1 for node in nodes}
    column: dict[GraphNode, int] = {}
    for node in nodes:
        column[node] = max((column[below] + length[below] for below in node.inputs), default=0)
    for node in nodes:
        if not node.inputs and uses[node]:
            column[node] = min(column[gate] for gate, _ in uses[node]) - length[node]
    return column


def _set_heights(columns: list[list[Spot]], nodes: Sequence[GraphNode]) -> None:
    reading_order = {node: float(k) for k, node in enumerate(node for node in nodes if not node.inputs)}
    for spots in columns:
        _draw_toward(
            spots, [_mean([left.height for left in spot.before], reading_order.get(spot.node, 0.0)) for spot in spots]
        )
    for _ in range(SWEEPS):
        for spots in reversed(columns):
            _draw_toward(spots, [_mean(_wanted(spot), spot.height) for spot in spots])
        for spots in columns:
            _draw_toward(spots, [_mean([*_left_of(spot), *_wanted(spot)], spot.height) for spot in spots])
    top = min(spot.height for spots in columns for spot in spots)
    for spots in columns:
        for spot in spots:
            spot.height -= top


def _left_of(spot: Spot) -> list[float]:
    return [left.height for left in spot.before]


def _wanted(spot: Spot) -> list[float]:
    """Return the heights where the spots to the right want it: the first input of a gate above the second."""
    return [right.height + right.before.index(spot) - (len(right.before) - 1) / 2 for right in spot.after]


def _mean(heights: Sequence[float], otherwise: float) -> float:
    return sum(heights) / len(heights) if heights else otherwise


def _draw_toward(spots: list[Spot], heights: list[float]) -> None:
    """Move the spots of a column to these heights, apart from each other."""
    for spot, height in zip(spots, spread(heights, 1.0), strict=True):
        spot.height = height
