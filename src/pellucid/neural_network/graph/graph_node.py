"""Nodes of a graph, and Python's arithmetic on them. A node says what is computed; gates compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.neural_network.graph.values import Value, as_value

VARIABLE, CONSTANT = "variable", "constant"


@dataclass(frozen=True, eq=False)
class GraphNode:
    """A variable, a constant, or what a gate makes of others; :func:`~pellucid.neural_network.variable` makes one."""

    gate: str
    """What it does: the name of an operation such as "add", or "variable", or "constant"."""
    inputs: tuple[GraphNode, ...] = ()
    """The nodes that the gate works on; none of a variable or a constant."""
    name: str = ""
    """Of a variable."""
    constant: Value = None
    """The value of a constant, a Fraction, a float or an array of them; None for all others."""

    __array_ufunc__ = None  # so that an array on the left of a sign leaves the operation to us

    def __add__(self, other: Any) -> GraphNode:
        return GraphNode("add", (self, as_node(other)))

    def __radd__(self, other: Any) -> GraphNode:
        return GraphNode("add", (as_node(other), self))

    def __sub__(self, other: Any) -> GraphNode:
        return GraphNode("subtract", (self, as_node(other)))

    def __rsub__(self, other: Any) -> GraphNode:
        return GraphNode("subtract", (as_node(other), self))

    def __mul__(self, other: Any) -> GraphNode:
        return GraphNode("multiply", (self, as_node(other)))

    def __rmul__(self, other: Any) -> GraphNode:
        return GraphNode("multiply", (as_node(other), self))

    def __truediv__(self, other: Any) -> GraphNode:
        return GraphNode("divide", (self, as_node(other)))

    def __rtruediv__(self, other: Any) -> GraphNode:
        return GraphNode("divide", (as_node(other), self))

    def __matmul__(self, other: Any) -> GraphNode:
        return GraphNode("matmul", (self, as_node(other)))

    def __rmatmul__(self, other: Any) -> GraphNode:
        return GraphNode("matmul", (as_node(other), self))

    def __pow__(self, exponent: Any) -> GraphNode:
        """Return a power; one with an exponent that varies is worked as ``exp(exponent * log(base))``."""
        node = as_node(exponent)
        return GraphNode("power", (self, node)) if node.gate == CONSTANT else exp(node * log(self))

    def __rpow__(self, base: Any) -> GraphNode:
        return as_node(base) ** self

    def __neg__(self) -> GraphNode:
        return GraphNode("negate", (self,))

    def __repr__(self) -> str:  # without the inputs, which may be thousands
        if self.gate == VARIABLE:
            return f"variable({self.name!r})"
        return f"GraphNode({self.gate!r}, {len(self.inputs)} inputs)"

    @property
    def T(self) -> GraphNode:  # noqa: N802  (as NumPy calls it)
        """The transpose."""
        return GraphNode("transpose", (self,))


def variable(name: str) -> GraphNode:
    """Return a variable, to be joined to others by Python's arithmetic.

    Parameters
    ----------
    name : str
        A word such as "x" or "w1", by which a graph is given its value.

    Examples
    --------
    >>> from pellucid.neural_network import Graph
    >>> x, y, z = variable("x"), variable("y"), variable("z")
    >>> Graph((x + y) * z, x=-2, y=5, z=-4)
    Graph('(x + y) · z', value=−12)
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"name must be a word such as 'x' or 'w1', got {name!r}.")
    return GraphNode(VARIABLE, name=name)


def as_node(value: Any) -> GraphNode:
    """Return a node as it is, and anything else as a constant."""
    return value if isinstance(value, GraphNode) else GraphNode(CONSTANT, constant=as_value(value, "constant"))


def exp(u: Any) -> GraphNode:
    """Return e to the power of a node, entry by entry.

    Parameters
    ----------
    u : GraphNode, number or array
        A node; what is none becomes a constant.
    """
    return GraphNode("exp", (as_node(u),))


def log(u: Any) -> GraphNode:
    """Return the natural logarithm of a node, entry by entry.

    Parameters
    ----------
    u : GraphNode, number or array
        A node with values above 0; what is none becomes a constant.
    """
    return GraphNode("log", (as_node(u),))


def tanh(u: Any) -> GraphNode:
    """Return the hyperbolic tangent of a node, entry by entry.

    Parameters
    ----------
    u : GraphNode, number or array
        A node; what is none becomes a constant.
    """
    return GraphNode("tanh", (as_node(u),))


def sigmoid(u: Any) -> GraphNode:
    """Return 1 / (1 + exp(−u)) of a node, entry by entry.

    Parameters
    ----------
    u : GraphNode, number or array
        A node; what is none becomes a constant.
    """
    return GraphNode("sigmoid", (as_node(u),))


def relu(u: Any) -> GraphNode:
    """Return max(0, u) of a node, entry by entry; at 0 its gradient is 0.

    Parameters
    ----------
    u : GraphNode, number or array
        A node; what is none becomes a constant.
    """
    return GraphNode("relu", (as_node(u),))


def maximum(first: Any, second: Any, *others: Any) -> GraphNode:
    """Return the largest of several nodes, entry by entry, as gates of two inputs; equals share the gradient.

    Parameters
    ----------
    first, second : GraphNode, number or array
        Of shapes that fit together; what is no node becomes a constant.
    *others : GraphNode, number or array
        More of the same.
    """
    found = GraphNode("max", (as_node(first), as_node(second)))
    for other in others:
        found = GraphNode("max", (found, as_node(other)))
    return found


def total(u: Any) -> GraphNode:
    """Return the sum of all entries of a node.

    Parameters
    ----------
    u : GraphNode, number or array
        A node; what is none becomes a constant.
    """
    return GraphNode("sum", (as_node(u),))


def transpose(u: Any) -> GraphNode:
    """Return a node with its rows as columns.

    Parameters
    ----------
    u : GraphNode, number or array
        A node; what is none becomes a constant.
    """
    return as_node(u).T
