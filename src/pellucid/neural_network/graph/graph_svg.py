"""A graph as SVG: values above the lines, gradients below them in another color, for light and dark screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from pellucid.neural_network.graph.gates import GATES
from pellucid.neural_network.graph.graph_node import CONSTANT, GraphNode
from pellucid.neural_network.graph.values import shown
from pellucid.plots.drawing.style import spread

if TYPE_CHECKING:
    from pellucid.neural_network.graph.graph import Graph


ROW, MARGIN, BEND = 58, 22, 40
"""Height of a row, room at the edges, and width of the curve between two columns."""
LETTER, RADIUS, DOT = 7.4, 15, 3
MOST_NODES = 300

STYLE = (
    ".graph-plate{fill:#fdfdfb}.graph-ink{fill:#1c1c1e}.graph-line{stroke:#7a7a7a;fill:none}.graph-gate{fill:#fdfdfb;stroke:#1c1c1e}"
    ".graph-dot{fill:#7a7a7a}.graph-slope{fill:#b34700}"
    "@media (prefers-color-scheme: dark){.graph-plate{fill:#16181c}.graph-ink{fill:#e6e6e3}.graph-line{stroke:#8a8a8a}"
    ".graph-gate{fill:#16181c;stroke:#e6e6e3}.graph-dot{fill:#8a8a8a}.graph-slope{fill:#f09a4a}}"
)


def draw_svg(graph: Graph) -> str:
    """Return the drawing; a value that is used several times forks at a dot, and each branch has its own gradient."""
    if len(graph.nodes) > MOST_NODES:
        raise ValueError(f"graph must have at most {MOST_NODES} nodes to be drawn, got {len(graph.nodes)}. Print it.")
    columns = lay_out(graph.nodes, graph.uses)
    starts = [float(MARGIN)]
    for spots in columns:
        starts.append(starts[-1] + max(_size(graph, spot) for spot in spots) + BEND)
    wide = starts[-1] - BEND + MARGIN
    high = 2 * MARGIN + ROW * max(spot.height for spots in columns for spot in spots) + 2 * RADIUS
    ends = [start - BEND for start in starts[1:]]
    everything = [spot for spots in columns for spot in spots]
    lines = [_lines(spot, starts, ends) for spot in everything]
    marks = [_mark(graph, spot, starts, ends) for spot in everything]
    title = escape(f"{graph.names[graph.output]} = {graph.expression}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" '
        f'height="{high:.0f}" role="img" font-family="sans-serif" font-size="13"><title>{title}</title>'
        f'<style>{STYLE}</style><rect class="graph-plate" width="100%" height="100%" rx="8"/>'
        f"{''.join(lines)}{''.join(marks)}</svg>"
    )


def _labels(graph: Graph, spot: Spot) -> tuple[str, str]:
    """Return the value above and the gradient below the line that leaves a spot; on a long way only its first spot."""
    is_first = spot.use is None or (spot.before[0].use is None and len(spot.before[0].after) > 1)
    if spot.node.gate == CONSTANT or not graph.has_values or not is_first:
        return "", ""
    value = shown(graph.node_values[spot.node])
    if not graph.has_gradients:
        return value, ""
    if spot.use is None:
        return value, shown(graph.node_gradients[spot.node])
    gate, place = spot.use
    return value, shown(graph.handed_back[gate][place])


def _name(graph: Graph, spot: Spot) -> str:
    """Return what stands at a spot before its line: the name of a variable or constant, or nothing."""
    return graph.names[spot.node] if spot.use is None and not spot.node.inputs else ""


def _lead(graph: Graph, spot: Spot) -> float:
    """Return the width of what stands before the labels of a spot: a gate, a name, or nothing on a line."""
    if spot.use is not None:
        return 0.0
    sign = GATES[spot.node.gate].sign if spot.node.inputs else ""
    return max(2.0 * RADIUS, LETTER * len(sign) + 12) if sign else LETTER * len(_name(graph, spot)) + 6


def _size(graph: Graph, spot: Spot) -> float:
    return _lead(graph, spot) + LETTER * max(map(len, _labels(graph, spot))) + 14


def _y(spot: Spot) -> float:
    return MARGIN + RADIUS + ROW * spot.height


def _lines(spot: Spot, starts: list[float], ends: list[float]) -> str:
    """Return the level line through a spot and the curves from it to the next ones."""
    x, end, y = starts[spot.column], ends[spot.column], _y(spot)
    parts = [f"M{x:.1f} {y:.1f}H{end:.1f}"]
    for target in spot.after:
        middle, there = end + BEND / 2, _y(target)
        parts.append(f"M{end:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {there:.1f} {end + BEND:.1f} {there:.1f}")
    return f'<path class="graph-line" d="{"".join(parts)}"/>'


def _mark(graph: Graph, spot: Spot, starts: list[float], ends: list[float]) -> str:
    """Return the gate or the name at a spot, its labels, and the dot where its line forks."""
    x, y, lead = starts[spot.column], _y(spot), _lead(graph, spot)
    parts = []
    if spot.use is None:
        kind = "graph-gate" if spot.node.inputs else "graph-plate"
        parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y - RADIUS}" width="{lead:.1f}" height="{2 * RADIUS}" '
            f'rx="{RADIUS}"/>'
        )
        text = GATES[spot.node.gate].sign if spot.node.inputs else _name(graph, spot)
        parts.append(_text("graph-ink", x + lead / 2, y + 5, text, "middle"))
    above, below = _labels(graph, spot)
    parts += [_text("graph-ink", x + lead + 7, y - 5, above)] if above else []
    parts += [_text("graph-slope", x + lead + 7, y + 16, below)] if below else []
    if len(spot.after) > 1:
        parts.append(f'<circle class="graph-dot" cx="{ends[spot.column]:.1f}" cy="{y:.1f}" r="{DOT}"/>')
    return "".join(parts)


def _text(kind: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


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
