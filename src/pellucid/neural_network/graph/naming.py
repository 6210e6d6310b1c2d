"""What the nodes of a graph are called, and what they compute, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pellucid.neural_network.graph.gates import CALL, GATES
from pellucid.neural_network.graph.graph_node import CONSTANT, VARIABLE, GraphNode
from pellucid.neural_network.graph.values import Value, shown

if TYPE_CHECKING:
    from pellucid.neural_network.graph.graph import Graph


LONGEST, TOO_LONG = 60, "…"
"""Characters up to which an expression is written out, and what stands for a longer one."""


def name_nodes(nodes: Sequence[GraphNode]) -> dict[GraphNode, str]:
    """Return a name for every node: its own for a variable, the number for a constant, q1, q2, ... and f for the rest.

    Names that variables have already are left out.
    """
    taken = [node.name for node in nodes if node.gate == VARIABLE]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    if twice:
        raise ValueError(f"expression must have one variable of each name, got two called {twice[0]!r}. Make it once.")
    inner = (name for k in range(1, 2 * len(nodes) + 1) if (name := f"q{k}") not in taken)
    names = {}
    for node in nodes:
        if node.gate == VARIABLE:
            names[node] = node.name
        elif node.gate == CONSTANT:
            names[node] = shown(node.constant)
        else:
            names[node] = "f" if node is nodes[-1] and "f" not in taken else next(inner)
    return names


def written_gate(node: GraphNode, names: Mapping[GraphNode, str]) -> str:
    """Return what one gate computes of its inputs by name: ``x + y``."""
    parts = [
        names[below] if below.inputs else _in_parentheses(names[below], node, place)
        for place, below in enumerate(node.inputs)
    ]
    return GATES[node.gate].template.format(*parts)


def written_expression(nodes: Sequence[GraphNode]) -> str:
    """Return the whole expression of the last node as text; dots stand for parts that are too long."""
    texts: dict[GraphNode, str] = {}
    for node in nodes:
        if not node.inputs:
            texts[node] = node.name if node.gate == VARIABLE else shown(node.constant)
            continue
        parts = [_in_parentheses(texts[below], node, place) for place, below in enumerate(node.inputs)]
        text = GATES[node.gate].template.format(*parts)
        texts[node] = text if len(text) <= LONGEST else TOO_LONG
    return texts[nodes[-1]]


def _in_parentheses(text: str, node: GraphNode, place: int) -> str:
    """Return an input with parentheses if it binds less strongly than its gate; of equals only the first has none."""
    inner, outer = _binds(node.inputs[place]), GATES[node.gate].binds
    if outer == CALL:
        return text
    return f"({text})" if inner < outer or (inner == outer and place > 0) else text


def _binds(node: GraphNode) -> int:
    """Return how strongly the text of a node holds together: a fraction as a quotient does, −2 as a negation."""
    if node.inputs:
        return GATES[node.gate].binds
    text = node.name or shown(node.constant)
    return GATES["negate"].binds if text.startswith("−") else GATES["divide"].binds if "/" in text else CALL


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
