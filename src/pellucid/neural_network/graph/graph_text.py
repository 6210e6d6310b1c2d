"""A graph as text: a tree of lines, the output first, a part that is used again only named."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pellucid.neural_network.graph.graph_node import CONSTANT, GraphNode
from pellucid.neural_network.graph.naming import TOO_LONG, written_gate
from pellucid.neural_network.graph.values import Value, shown

if TYPE_CHECKING:
    from pellucid.neural_network.graph.graph import Graph

MOST_LINES = 200


class Branch(NamedTuple):
    """A node at one place of the tree."""

    node: GraphNode
    lead: str
    """What stands before it."""
    beam: str
    """What stands before its inputs."""
    share: Value = None
    """What the gate above hands back here, if the node has more uses than this."""


def draw_text(graph: Graph) -> str:
    """Return the tree of a graph; of one with values, each line has the value and the gradient."""
    lines: list[str] = []
    drawn: set[GraphNode] = set()
    waiting = [Branch(graph.output, "", "")]
    uses = graph.uses
    while waiting and len(lines) < MOST_LINES:
        branch = waiting.pop()
        lines.append(branch.lead + _line(graph, branch, is_again=branch.node in drawn))
        if branch.node in drawn:
            continue
        drawn.add(branch.node)
        last = len(branch.node.inputs) - 1
        for place, inner in reversed(list(enumerate(branch.node.inputs))):
            is_shared = len(uses[inner]) > 1 and graph.has_gradients
            share = graph.handed_back[branch.node][place] if is_shared else None
            fork, beam = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
            waiting.append(Branch(inner, branch.beam + fork, branch.beam + beam, share))
    more = ["…"] if waiting else []
    whole = graph.expression
    head = [] if whole == TOO_LONG else [f"{graph.names[graph.output]} = {whole}", ""]
    return "\n".join([*head, *lines, *more])


def _line(graph: Graph, branch: Branch, *, is_again: bool) -> str:
    node, name = branch.node, graph.names[branch.node]
    if node.gate == CONSTANT:
        return name
    share = "" if branch.share is None else f", of it {shown(branch.share)} from here"
    if is_again:
        return f"{name} again{share}"
    written = f"{name} = {written_gate(node, graph.names)}" if node.inputs else name
    value = f"   value {shown(graph.node_values[node])}" if graph.has_values else ""
    gradient = f"   gradient {shown(graph.node_gradients[node])}{share}" if graph.has_gradients else ""
    return written + value + gradient
