"""The computation graph of a formula: values forward from the variables, gradients back from the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import GraphLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import ANSWER, Report
from pellucid.app.playing.telling import told_certificate, told_columns, told_workings
from pellucid.proofs.certificate import Certificate, Claim

MOST_NODES = 40
STEP = 1e-5
CLOSE = 1e-4
"""How near slopes must be to differences, as a share of their size and of the value's: differences are rough."""


def perform_computation_graph(data: GivenData, report: Report | None = None) -> Performance:
    """Work a formula forward and backward, gate by gate."""
    from pellucid.neural_network import Graph

    expression = str(data.formula)
    plain = Graph(expression)
    start = tuple(data.start or ())
    if len(start) != len(plain.variables):
        raise ValueError(
            f"start must have a number for each of {', '.join(plain.variables)}, got {len(start)}: {list(start)}."
        )
    if len(plain.nodes) > MOST_NODES:
        raise ValueError(f"formula must have at most {MOST_NODES} gates and names, got {len(plain.nodes)}.")
    values = {
        name: int(value) if float(value).is_integer() else value
        for name, value in zip(plain.variables, start, strict=True)
    }
    graph = Graph(expression, **values)
    order = list(range(len(graph.nodes)))
    steps = [("forward", k) for k in order] + [("back", k) for k in reversed(order)]
    places = _places(graph)
    frames = []
    for number, (way, k) in enumerate(steps):
        valued = set(order[: k + 1]) if way == "forward" else set(order)
        sloped = set() if way == "forward" else set(order[k:])
        name = graph.names[graph.nodes[k]]
        label = f"value of {name}" if way == "forward" else f"gradient of {name}"
        label = ANSWER if number == len(steps) - 1 else label
        frames.append(Frame(label, (_drawn(graph, places, valued, sloped, k),), number))
        if report is not None:
            report(number + 1, label, 0.0)
    shown = [float(_number(graph, k, way)) for way, k in steps]
    recording = Recording(
        title=f"The computation graph of {expression}",
        method="Graph",
        parameters={name: repr(value) for name, value in values.items()},
        python=(
            "from pellucid.neural_network import Graph\n\n"
            f"graph = Graph({expression!r}, {', '.join(f'{name}={value!r}' for name, value in values.items())})\n"
            "print(graph)\nprint(graph.gradients)\n"
        ),
        data={"name": expression, "columns": plain.variables, "rows": 1, "classes": None},
        axes={axis: {"label": "", "range": [0, 1]} for axis in "xy"} | {"equal": True},
        layers=(),
        frames=tuple(frames),
        trace=told_columns({"iteration": np.arange(1, len(steps) + 1), "value or gradient": shown}),
        certificate=told_certificate(_certificate(graph, values)),
        workings=told_workings("graph", expression, **values),
    )
    return Performance(recording)


def _number(graph: Any, k: int, way: str) -> Any:
    node = graph.nodes[k]
    return graph.node_values[node] if way == "forward" else graph.node_gradients[node]


def _places(graph: Any) -> list[tuple[float, float]]:
    """Return a place for each node: to the right of its inputs, and those of one column one above the other."""
    number = {node: k for k, node in enumerate(graph.nodes)}
    level: list[int] = []
    for node in graph.nodes:
        level.append(1 + max((level[number[below]] for below in node.inputs), default=-1))
    widest = max(level)
    columns = [[k for k in range(len(level)) if level[k] == column] for column in range(widest + 1)]
    found = [(0.0, 0.0)] * len(level)
    for column, members in enumerate(columns):
        for rank, k in enumerate(members):
            found[k] = (column / max(widest, 1), 1 - (rank + 0.5) / len(members))
    return found


def _drawn(
    graph: Any, places: list[tuple[float, float]], valued: set[int], sloped: set[int], current: int
) -> GraphLayer:
    from pellucid.neural_network.graph.values import shown

    number = {node: k for k, node in enumerate(graph.nodes)}
    nodes = []
    for k, node in enumerate(graph.nodes):
        lines = [_gate(graph, node)]
        lines += [f"value {shown(graph.node_values[node])}"] if k in valued else []
        lines += [f"gradient {shown(graph.node_gradients[node])}"] if k in sloped else []
        code = (1 if k in sloped else 0) if k == current else None
        nodes.append({"x": places[k][0], "y": places[k][1], "text": "\n".join(lines), "class": code})
    links = [(number[below], k, None) for k, node in enumerate(graph.nodes) for below in node.inputs]
    return GraphLayer(nodes, links, title="values go to the right, gradients come back")


def _gate(graph: Any, node: Any) -> str:
    from pellucid.neural_network.graph.naming import written_gate

    name = str(graph.names[node])
    return f"{name} = {written_gate(node, graph.names)}" if node.inputs else name


def _certificate(graph: Any, values: dict[str, Any]) -> Certificate:
    """Return how far the gradients are from differences of the value, worked anew."""
    claims = []
    for name in graph.variables:
        here = {key: float(value) for key, value in values.items()}
        step = STEP * max(1.0, abs(here[name]))
        ends = [float(graph.at(**{**here, name: here[name] + sign * step}).value) for sign in (1, -1)]
        slope, told = (ends[0] - ends[1]) / (2 * step), float(graph.gradients[name])
        bound = CLOSE * max(1.0, abs(told), abs(float(graph.value)))
        claims.append(Claim(name, f"distance of the gradient of {name} from a difference", abs(slope - told), bound))
    return Certificate("bounded", tuple(claims))


COMPUTATION_GRAPH = idea(
    "computation-graph",
    "Computation graph",
    perform_computation_graph,
    {},
    first={"formula": "(x + y)*z", "start": [-2, 5, -4]},
    data="formula",
)
