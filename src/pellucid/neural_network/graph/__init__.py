"""Computation graphs: expressions as gates, values forward and gradients backward."""

from pellucid.neural_network.graph.graph import Graph
from pellucid.neural_network.graph.graph_node import (
    GraphNode,
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

__all__ = [
    "Graph",
    "GraphNode",
    "exp",
    "log",
    "maximum",
    "relu",
    "sigmoid",
    "tanh",
    "total",
    "transpose",
    "variable",
]
