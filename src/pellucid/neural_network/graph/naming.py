"""What the nodes of a graph are called, and what they compute, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pellucid.neural_network.graph.gates import CALL, GATES
from pellucid.neural_network.graph.graph_node import CONSTANT, VARIABLE, GraphNode
from pellucid.neural_network.graph.values import shown

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
