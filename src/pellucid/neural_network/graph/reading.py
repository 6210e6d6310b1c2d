"""Expressions read from text: Python's own grammar, a closed list of what may stand in it, and nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pellucid.neural_network.graph.graph_node import (
    CONSTANT,
    GraphNode,
    as_node,
    exp,
    log,
    maximum,
    relu,
    sigmoid,
    tanh,
    total,
    transpose,
    variable,
)

LONGEST_TEXT = 10_000

FUNCTIONS: dict[str, tuple[Callable[..., GraphNode], int]] = {
    "exp": (exp, 1),
    "log": (log, 1),
    "max": (maximum, 2),
    "relu": (relu, 1),
    "sigmoid": (sigmoid, 1),
    "sum": (total, 1),
    "tanh": (tanh, 1),
    "transpose": (transpose, 1),
}
"""Name in a text -> the function on nodes, and how many inputs it takes at least; only max takes more."""

OPERATORS: dict[type, Callable[[Any, Any], GraphNode]] = {
    ast.Add: lambda u, v: u + v,
    ast.Sub: lambda u, v: u - v,
    ast.Mult: lambda u, v: u * v,
    ast.Div: lambda u, v: u / v,
    ast.MatMult: lambda u, v: u @ v,
    ast.Pow: lambda u, v: u**v,
}


def read_expression(text: str) -> GraphNode:
    """Return the node that a text such as ``"max(x, 0) * (y + 1/2)"`` describes; a name is one variable throughout.

    Numbers are taken as they are typed: 0.1 is one tenth.
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"expression must have at most {LONGEST_TEXT} characters, got {len(text)}.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _GraphReader(text).node(tree.body)
    except (SyntaxError, MemoryError) as error:
        raise ValueError(f"expression must be one such as '(x + y) * z', got {text[:60]!r}.") from error
    except RecursionError as error:
        raise ValueError("expression must be nested less deeply. Build it from nodes instead.") from error


class _GraphReader:
    """Turns Python's syntax tree into nodes, and remembers which variables it has made."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables: dict[str, GraphNode] = {}

    def node(self, tree: ast.AST) -> GraphNode:
        match tree:
            case ast.Name(id=name):
                return self.variables.setdefault(name, variable(name))
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self._number(tree, number)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
                return _joined(sign, self.node(left), self.node(right))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return _negated(self.node(inner))
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.node(inner)
            case ast.Attribute(value=inner, attr="T"):
                return self.node(inner).T
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                return self._call(name, arguments)
        raise ValueError(f"expression must be made of {_allowed()}, got {self._source(tree)!r}.{_hint(tree)}")

    def _number(self, tree: ast.AST, number: float) -> GraphNode:
        try:
            return as_node(Fraction(self._source(tree).replace("_", "")))  # as typed: 0.1 is one tenth
        except ValueError:  # 0x10
            return as_node(number)

    def _call(self, name: str, arguments: list[ast.expr]) -> GraphNode:
        function, least = FUNCTIONS[name]
        if len(arguments) < least or (least == 1 and len(arguments) > 1):
            wanted = "one input" if least == 1 else "two inputs or more"
            raise ValueError(f"{name} must have {wanted}, got {len(arguments)}.")
        return function(*(self.node(argument) for argument in arguments))

    def _source(self, tree: ast.AST) -> str:
        return ast.get_source_segment(self.text.strip(), tree) or ""


def _joined(sign: ast.operator, left: GraphNode, right: GraphNode) -> GraphNode:
    """Return two nodes joined by a sign; a fraction of two numbers is one number and takes no gate."""
    are_numbers = left.gate == right.gate == CONSTANT
    if isinstance(sign, ast.Div) and are_numbers and right.constant != 0:
        return as_node(left.constant / right.constant)
    return OPERATORS[type(sign)](left, right)


def _negated(node: GraphNode) -> GraphNode:
    """Return minus a node: of a number, the number below 0, which takes no gate."""
    return as_node(-node.constant) if node.gate == CONSTANT else -node


def _allowed() -> str:
    return f"names, numbers, + - * / ** @ .T and {', '.join(FUNCTIONS)}"


def _hint(tree: ast.AST) -> str:
    is_caret = isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitXor)
    return " Write a power as x**2." if is_caret else ""
