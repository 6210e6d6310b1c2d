"""A computation graph by hand: values forward, gradients backward, gate by gate, and a check by differences."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from pellucid.neural_network.graph import Graph, GraphNode
from pellucid.neural_network.graph.gates import COPY, GATES
from pellucid.neural_network.graph.graph_node import CONSTANT, VARIABLE
from pellucid.neural_network.graph.values import Value
from pellucid.optimize.workings.step_notation import added
from pellucid.show.comparison import CUT_REMARK, has_cut_numbers
from pellucid.show.document import Block, Document, Drawing, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import (
    ExactNumber,
    Fence,
    Math,
    Script,
    Symbol,
    Words,
    factor,
    fenced,
    math,
    matrix,
    over,
    total,
)
from pellucid.show.text_layout import inline, width

MOST_NODES = 40
MOST_ENTRIES = 12
"""Entries of all variables together that are checked one by one."""
WIDEST_TREE = 76
SMALL = Fraction(1, 1000)
"""Half the step of the differences that check the gradients."""


def show_graph(expression: str | GraphNode | Graph, /, **values: Any) -> Document:
    """Return the forward and the backward pass of an expression, as a person would write them.

    Parameters
    ----------
    expression : str, GraphNode or Graph
        Text such as ``"(x + y) * z"``, or a graph; its value must be one number.
    **values : number or array
        One for each variable. Whole numbers and fractions are worked exactly.

    Returns
    -------
    Document
        ``answer`` has ``value``, and ``gradients`` by the names of the variables.

    Examples
    --------
    >>> work = show_graph("(x + y) * z", x=-2, y=5, z=-4)
    >>> {name: str(slope) for name, slope in work.answer["gradients"].items()}
    {'x': '-4', 'y': '-4', 'z': '3'}
    """
    graph = expression if isinstance(expression, Graph) else Graph(expression, **values)
    if len(graph.nodes) > MOST_NODES:
        raise ValueError(f"expression must have at most {MOST_NODES} nodes to show the work, got {len(graph.nodes)}.")
    answer = {"value": graph.value, "gradients": {name: graph.gradients[name] for name in graph.variables}}
    steps = (_forward_step(graph), _backward_step(graph), *_copies_step(graph), _answer_step(graph), _check_step(graph))
    cut = [CUT_REMARK] if has_cut_numbers(steps) else []
    return Document("A computation graph, forward and backward", (*_opening(graph), *cut), steps, answer)


def _opening(graph: Graph) -> tuple[Block, ...]:
    text = graph.text()
    fits = max(map(width, text.splitlines())) <= WIDEST_TREE
    caption = "The graph. In the drawing, values stand above the lines and gradients below."
    return (
        sentence(
            "Every gate computes one thing. Forward, it hands its value on; backward, it gets the gradient "
            "of the output "
            "with respect to its value, and hands to each input that gradient times its own local "
            "derivative. That is the "
            "chain rule, one gate at a time."
        ),
        Drawing(text if fits else "(a tree too wide for a page; its gates follow)", graph.svg(), caption),
    )


def _forward_step(graph: Graph) -> Step:
    blocks: list[Block] = [sentence("From the inputs to the output, each gate after its inputs:")]
    for node in graph.nodes:
        if node.inputs:
            symbols = GATE_NOTATION[node.gate](*(_symbol(graph, below) for below in node.inputs))
            numbers = GATE_NOTATION[node.gate](*(notated(graph.node_values[below]) for below in node.inputs))
            value = notated(graph.node_values[node])
            parts = [named(graph.names[node]), "=", symbols, "=", numbers]
            blocks.append(formula(*parts, *(["=", value] if inline(value) != inline(numbers) else [])))
    return step("Forward: the values", *blocks)


def _symbol(graph: Graph, node: GraphNode) -> Any:
    return notated(node.constant) if node.gate == CONSTANT else named(graph.names[node])


def _slope(graph: Graph, name: str) -> Any:
    return over(math("∂", named(graph.names[graph.output])), math("∂", named(name)))


def _backward_step(graph: Graph) -> Step:
    output = graph.names[graph.output]
    blocks: list[Block] = [
        sentence(
            "From the output back to the inputs. It begins with the gradient of the output by itself, which is 1:"
        ),
        formula(_slope(graph, output), "= 1"),
    ]
    for node in reversed(graph.nodes):
        if node.inputs:
            blocks += _gate_blocks(graph, node)
    return step("Backward: the gradients", *blocks)


def _gate_blocks(graph: Graph, node: GraphNode) -> list[Block]:
    """Return what one gate hands back, with its rule in words."""
    symbols = GATE_NOTATION[node.gate](*(_symbol(graph, below) for below in node.inputs))
    handed = [
        (graph.names[below], slope)
        for below, slope in zip(node.inputs, graph.handed_back[node], strict=True)
        if below.gate != CONSTANT
    ]
    gradient = graph.node_gradients[node]
    told: list[Any] = [
        math(named(graph.names[node]), "=", symbols),
        " has the gradient ",
        notated(gradient),
        f". Its gate ({node.gate}) {GATES[node.gate].rule}:",
    ]
    parts: list[Any] = []
    for name, slope in handed:
        parts += [*([","] if parts else []), Words("to"), named(name), ":", notated(slope)]
    return [sentence(*told), formula(*parts)] if parts else []


def _copies_step(graph: Graph) -> list[Step]:
    shared = [node for node, uses in graph.uses.items() if len(uses) > 1 and node.gate != CONSTANT]
    if not shared:
        return []
    blocks: list[Block] = [sentence(f"There is one more rule: {COPY}:")]
    for node in shared:
        parts = [notated(graph.handed_back[gate][place]) for gate, place in graph.uses[node]]
        whole = added(parts) if isinstance(graph.node_values[node], np.ndarray) else total(parts)
        gradient = notated(graph.node_gradients[node])
        blocks.append(formula(_slope(graph, graph.names[node]), "=", whole, "=", gradient))
    return [step("Copies: gradients add up", *blocks)]


def _answer_step(graph: Graph) -> Step:
    arrays = [name for name in graph.variables if isinstance(graph.values[name], np.ndarray)]
    rows = [
        [named(name), notated(graph.values[name]), notated(graph.gradients[name])]
        for name in graph.variables
        if name not in arrays
    ]
    blocks: list[Block] = [table(["input", "value", "gradient"], rows)] if rows else []
    return step("The answer", *blocks, *(result(_slope(graph, a), "=", notated(graph.gradients[a])) for a in arrays))


def _check_step(graph: Graph) -> Step:
    """Compare with central differences, exact where the graph is; large arrays are left out."""
    values = {node.name: graph.node_values[node] for node in graph.nodes if node.gate == VARIABLE}
    entries = [(name, place) for name, value in values.items() for place in np.ndindex(np.shape(value))]
    rows = []
    for name, place in entries[:MOST_ENTRIES]:
        ahead, back = (graph.at(**{**values, name: _moved(values[name], place, h)}).value for h in (SMALL, -SMALL))
        slope = graph.gradients[name][place] if place else graph.gradients[name]
        quotient = (ahead - back) / (2 * SMALL)
        rows.append([_entry(name, place), notated(slope), notated(quotient)])
    blocks: list[Block] = [
        sentence(
            "Move one input by ",
            math(SMALL),
            " to either side and divide the change of the output by ",
            math(2 * SMALL),
            ":",
        ),
        table(["input", "gradient", "difference quotient"], rows),
    ]
    if len(entries) > MOST_ENTRIES:
        blocks.append(sentence(f"These are the first {MOST_ENTRIES} of {len(entries)} entries."))
    blocks.append(remark("They agree up to the square of the step, unless a max or relu has its corner in between."))
    return step("Check by differences", *blocks)


def _entry(name: str, place: tuple[int, ...]) -> str:
    return name if not place else f"{name}[{', '.join(str(k + 1) for k in place)}]"


def _moved(value: Value, place: tuple[int, ...], by: Fraction) -> Value:
    if not place:
        return value + by if isinstance(value, Fraction) else value + float(by)
    moved = value.copy()
    moved[place] += by if value.dtype == object else float(by)
    return moved


def named(name: str) -> Math:
    """Return a name as a symbol, digits at its end as an index: q1 is ``q_1``."""
    found = re.fullmatch(r"([^\W\d_]+)(\d+)", name)
    return math(f"{found[1]}_{found[2]}") if found else math(name)


def notated(value: Value) -> Math:
    """Return a value; of a float the first digits are written, an array is a matrix."""
    if isinstance(value, np.ndarray):
        return matrix([[Fraction(cell) for cell in row] for row in np.atleast_2d(value)])
    return math(Fraction(value))


def called(name: str) -> Callable[..., Math]:
    """Return what writes a function with its arguments in parentheses."""

    def write(first: Math, *others: Math) -> Math:
        inside: list[Math | str] = [first]
        for other in others:
            inside += [",", other]
        return math(Symbol(name), fenced(math(*inside)))

    return write


def _base(node: Math) -> Math:
    """Return what is raised to a power; a fraction or a number below 0 stands in parentheses."""
    if not isinstance(node, ExactNumber):
        return node
    value = Fraction(int(node.value.numerator), int(node.value.denominator))
    return node if value >= 0 and value.denominator == 1 else Fence(node)


GATE_NOTATION: dict[str, Callable[..., Math]] = {
    "add": lambda u, v: math(u, "+", factor(v)),
    "subtract": lambda u, v: math(u, "−", factor(v)),
    "negate": lambda u: math("−", factor(u)),
    "multiply": lambda u, v: math(factor(u), "·", factor(v)),
    "divide": over,
    "matmul": lambda u, v: math(u, v),
    "power": lambda u, v: Script(_base(u), above=v),
    "transpose": lambda u: Script(u, above=math("T")),
    **{name: called(name) for name in ("max", "relu", "exp", "log", "tanh", "sigmoid", "sum")},
}
"""Name of a gate -> the notation of what it does to its inputs."""
