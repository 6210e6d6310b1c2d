"""Graph: an expression as gates joined by values, with the value and the gradient of every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pellucid.neural_network.graph.gates import GATES
from pellucid.neural_network.graph.graph_node import CONSTANT, VARIABLE, GraphNode
from pellucid.neural_network.graph.naming import name_nodes, written_expression, written_gate
from pellucid.neural_network.graph.reading import read_expression
from pellucid.neural_network.graph.values import Value, as_value, is_exact, is_finite, shown, summed_to


class Graph:
    """An expression as a computation graph: values forward, gradients backward, at every node.

    Whole numbers and fractions stay exact as long as the gates allow: sums, products, quotients, whole powers, maxima
    and products of matrices do. Where a value is used several times its gradients add up. Where the inputs of a maximum
    are equal they share the gradient; the gradient of relu at 0 is 0.

    Parameters
    ----------
    expression : str or GraphNode
        Text such as ``"(x + y) * z"`` of names, numbers, ``+ - * / ** @ .T`` and the functions exp, log, max, relu,
        sigmoid, sum, tanh, transpose; or what Python's arithmetic makes of :func:`variable`.
    **values : number or array of up to two dimensions
        One for each variable, or none at all: then :meth:`at` gives them later.

    Attributes
    ----------
    variables : tuple of str
        Names of the variables, in reading order.
    nodes : tuple of GraphNode
        All nodes, each after its inputs; the last is the output.
    names : dict of GraphNode to str
        Variables have their own, the other nodes are ``q1``, ``q2``, ... and the output ``f``.

    Examples
    --------
    >>> graph = Graph("(x + y) * z", x=-2, y=5, z=-4)
    >>> graph.value
    Fraction(-12, 1)
    >>> {name: int(graph.gradients[name]) for name in graph.variables}
    {'x': -4, 'y': -4, 'z': 3}
    >>> print(graph)
    f = (x + y) · z
    <BLANKLINE>
    f = q1 · z   value −12   gradient 1
    ├─ q1 = x + y   value 3   gradient −4
    │  ├─ x   value −2   gradient −4
    │  └─ y   value 5   gradient −4
    └─ z   value −4   gradient 3
    """

    def __init__(self, expression: str | GraphNode, /, **values: Any) -> None:
        if not isinstance(expression, (str, GraphNode)):
            raise TypeError(f"expression must be text or a node made from variables, got {expression!r}.")
        self.output = read_expression(expression) if isinstance(expression, str) else expression
        self.nodes = in_order(self.output)
        self.names = name_nodes(self.nodes)
        self.variables = tuple(node.name for node in self.nodes if node.gate == VARIABLE)
        self._values = self._forward(values) if values or not self.variables else None
        self._gradients = None
        if self._values is not None and np.ndim(self._values[self.output]) == 0:
            self._gradients = backward(self.nodes, self._values, self.names)

    def at(self, /, **values: Any) -> Graph:
        """Return the same graph with these values of its variables."""
        return Graph(self.output, **values)

    @property
    def expression(self) -> str:
        """The whole expression as text."""
        return written_expression(self.nodes)

    @property
    def has_values(self) -> bool:
        """Whether its variables have values."""
        return self._values is not None

    @property
    def has_gradients(self) -> bool:
        """Whether it has values and its output is one number."""
        return self._gradients is not None

    @property
    def node_values(self) -> dict[GraphNode, Value]:
        """The value of every node."""
        if self._values is None:
            wanted = ", ".join(f"{name}=..." for name in self.variables)
            raise ValueError(f"graph must have values to be worked, got none. Call graph.at({wanted}).")
        return self._values

    @property
    def node_gradients(self) -> dict[GraphNode, Value]:
        """The gradient of the output with respect to every node."""
        return self._backward()[0]

    @property
    def handed_back(self) -> dict[GraphNode, tuple[Value, ...]]:
        """What each gate hands back to each of its inputs; the gradient of a node is the sum of what it gets."""
        return self._backward()[1]

    @property
    def uses(self) -> dict[GraphNode, list[tuple[GraphNode, int]]]:
        """Where the value of every node goes: to which gate, and as which of its inputs."""
        found: dict[GraphNode, list[tuple[GraphNode, int]]] = {node: [] for node in self.nodes}
        for gate in self.nodes:
            for place, below in enumerate(gate.inputs):
                found[below].append((gate, place))
        return found

    @property
    def value(self) -> Value:
        """The value of the output."""
        return self.node_values[self.output]

    @property
    def values(self) -> dict[str, Value]:
        """The value of every variable and every gate, by name."""
        return self._by_name(self.node_values)

    @property
    def gradients(self) -> dict[str, Value]:
        """The gradient of the output with respect to every variable and every gate, by name."""
        return self._by_name(self.node_gradients)

    def text(self) -> str:
        """Return the graph as a tree of lines, the output first."""
        from pellucid.neural_network.graph.naming import draw_text

        return draw_text(self)

    def svg(self) -> str:
        """Return the graph as a drawing: values above the lines, gradients below them."""
        from pellucid.neural_network.graph.graph_svg import draw_svg

        return draw_svg(self)

    def _repr_svg_(self) -> str | None:
        from pellucid.neural_network.graph.graph_svg import MOST_NODES

        return self.svg() if len(self.nodes) <= MOST_NODES else None  # a notebook then shows the short form

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        value = f", value={shown(self.value)}" if self.has_values else ""
        return f"Graph({self.expression!r}{value})"

    def _forward(self, values: dict[str, Any]) -> dict[GraphNode, Value]:
        missing = [name for name in self.variables if name not in values]
        unknown = [name for name in values if name not in self.variables]
        if missing or unknown:
            got = f"none for {', '.join(missing)}" if missing else f"one for {', '.join(unknown)}"
            raise ValueError(f"values must be given for exactly the variables {', '.join(self.variables)}, got {got}.")
        leaves = {node: self._leaf(node, values) for node in self.nodes if not node.inputs}
        return forward(self.nodes, leaves, self.names)

    @staticmethod
    def _leaf(node: GraphNode, values: dict[str, Any]) -> Value:
        if node.gate == CONSTANT:
            return node.constant
        value = as_value(values[node.name], node.name)
        if np.ndim(value) > 2 or np.size(value) == 0 or not is_finite(value):
            got = f"got {values[node.name]!r}"
            raise ValueError(f"{node.name} must be finite numbers, at least one, in at most two dimensions, {got}.")
        return value

    def _backward(self) -> tuple[dict[GraphNode, Value], dict[GraphNode, tuple[Value, ...]]]:
        if self._gradients is None:
            shape = np.shape(self.value)
            raise ValueError(f"expression must end in one number to have gradients, got shape {shape}. Use sum(...).")
        return self._gradients

    def _by_name(self, found: dict[GraphNode, Value]) -> dict[str, Value]:
        return {self.names[node]: value for node, value in found.items() if node.gate != CONSTANT}


Values = dict[GraphNode, Value]

WHICH_FIT = "@ takes matrices and vectors, the other signs equal shapes, a row, or a number."


def in_order(output: GraphNode) -> tuple[GraphNode, ...]:
    """Return all nodes that an output depends on, each after its inputs, in reading order."""
    done: dict[GraphNode, None] = {}
    waiting = [(output, False)]
    while waiting:
        node, has_inputs = waiting.pop()
        if node in done:
            continue
        if has_inputs:
            done[node] = None
        else:
            waiting.append((node, True))
            waiting += [(below, False) for below in reversed(node.inputs)]
    return tuple(done)


def forward(nodes: Sequence[GraphNode], leaves: Mapping[GraphNode, Value], names: Mapping[GraphNode, str]) -> Values:
    """Return the value of every node; ``leaves`` holds those of variables and constants."""
    values: Values = {}
    for node in nodes:
        if not node.inputs:
            values[node] = leaves[node]
            continue
        inputs = [values[below] for below in node.inputs]
        values[node] = _carried_out(GATES[node.gate].forward, inputs, _words(node, values, names))
    return values


def backward(
    nodes: Sequence[GraphNode], values: Mapping[GraphNode, Value], names: Mapping[GraphNode, str]
) -> tuple[Values, dict[GraphNode, tuple[Value, ...]]]:
    """Return the gradient of the last node with respect to each, and what each gate hands to each of its inputs.

    A node that several gates use gets the sum of what they hand back: the rule of the copy gate. Gradients are exact if
    the last value is.
    """
    gradients: Values = {nodes[-1]: Fraction(1) if is_exact(values[nodes[-1]]) else 1.0}
    handed: dict[GraphNode, tuple[Value, ...]] = {}
    for node in reversed(nodes):
        if not node.inputs:
            continue
        inputs = [values[below] for below in node.inputs]
        words = _words(node, values, names)
        slopes = _slopes(node, gradients[node], values[node], inputs, f"the gradient of {words}")
        handed[node] = slopes
        for below, slope in zip(node.inputs, slopes, strict=True):
            gradients[below] = as_value(gradients[below] + slope) if below in gradients else slope
    return gradients, handed


def _slopes(node: GraphNode, gradient: Value, output: Value, inputs: list[Value], words: str) -> tuple[Value, ...]:
    """Return what a gate hands back; to an input that is always a constant, 0."""
    local = GATES[node.gate].backward

    def summed() -> list[Value]:
        found = local(gradient, output, *inputs)
        pairs = zip(found, inputs, strict=True)
        return [Fraction(0) if slope is None else summed_to(slope, np.shape(value)) for slope, value in pairs]

    return tuple(_checked(slope, words) for slope in _guarded(summed, inputs, words))


def _carried_out(operation: Callable[..., Any], inputs: list[Value], words: str) -> Value:
    return _checked(_guarded(lambda: operation(*inputs), inputs, words), words)


def _guarded(operation: Callable[[], Any], inputs: list[Value], words: str) -> Any:
    """Carry an operation out; what has no value or wrong shapes is refused in a sentence."""
    try:
        with np.errstate(all="ignore"):
            return operation()
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError(f"{words} must be a finite number, got none. Take other values.") from error
    except ValueError as error:
        shapes = " and ".join(str(np.shape(value)) for value in inputs)
        raise ValueError(f"{words} must have inputs of shapes that fit, got {shapes}. {WHICH_FIT}") from error


def _checked(result: Any, words: str) -> Value:
    if np.iscomplexobj(result):
        raise ValueError(f"{words} must be a real number, got {result}. Take other values.")
    value = as_value(result)
    if not is_finite(value):
        raise ValueError(f"{words} must be a finite number, got {shown(value)}. Take other values.")
    return value


def _words(node: GraphNode, values: Mapping[GraphNode, Value], names: Mapping[GraphNode, str]) -> str:
    """Return a gate and its inputs for a message: ``log(x) at x = −2``."""
    inputs = dict.fromkeys(below for below in node.inputs if below.gate != CONSTANT)
    at = ", ".join(f"{names[below]} = {shown(values[below])}" for below in inputs)
    return f"{written_gate(node, names)} at {at}" if at else written_gate(node, names)
