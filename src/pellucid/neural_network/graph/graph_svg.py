"""A graph as SVG: values above the lines, gradients below them in another color, for light and dark screens."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pellucid.neural_network.graph.gates import GATES
from pellucid.neural_network.graph.graph_layout import Spot, lay_out
from pellucid.neural_network.graph.graph_node import CONSTANT
from pellucid.neural_network.graph.values import shown

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
