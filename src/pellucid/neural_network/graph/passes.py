"""The two passes over a graph: values from the inputs on, gradients from the output back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pellucid.neural_network.graph.gates import GATES
from pellucid.neural_network.graph.graph_node import CONSTANT, GraphNode
from pellucid.neural_network.graph.naming import written_gate
from pellucid.neural_network.graph.values import Value, as_value, is_exact, is_finite, shown, summed_to

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
