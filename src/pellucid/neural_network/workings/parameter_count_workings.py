"""Parameters of a network, layer by layer, with LeNet-5 as it is usually built and as LeCun's table has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.core.checks import check_one_of
from pellucid.show.document import Block, Document, Step, formula, result, sentence, step, table
from pellucid.show.notation import Words


@dataclass(frozen=True)
class CountedLayer:
    """One row of the table: a layer, by what its parameters depend on."""

    name: str
    """What the layer is called, such as ``C1``: no two alike, as counts are given by name."""
    kind: str
    """``convolution``, ``pooling`` or ``dense``."""
    outputs: int = 0
    """Maps or units that come out; pooling leaves as many as come in, and takes no notice of it."""
    size: int = 1
    """Side of the windows in pixels, of convolution and pooling; windows of pooling do not overlap."""
    connections: int | None = None
    """Pairs of an input and an output that are joined; None: all of them."""
    scales: bool = False
    """Whether a pooling layer has a weight and a bias for each map."""


USUAL = (
    CountedLayer("C1", "convolution", outputs=6, size=5),
    CountedLayer("S2", "pooling", size=2),
    CountedLayer("C3", "convolution", outputs=16, size=5),
    CountedLayer("S4", "pooling", size=2),
    CountedLayer("C5", "convolution", outputs=120, size=5),
    CountedLayer("F6", "dense", outputs=84),
    CountedLayer("output", "dense", outputs=10),
)
"""LeNet-5 as it is usually built: C3 sees all maps, pooling has no weights, the output is a dense layer."""

PUBLISHED = (
    CountedLayer("C1", "convolution", outputs=6, size=5),
    CountedLayer("S2", "pooling", size=2, scales=True),
    CountedLayer("C3", "convolution", outputs=16, size=5, connections=60),
    CountedLayer("S4", "pooling", size=2, scales=True),
    CountedLayer("C5", "convolution", outputs=120, size=5),
    CountedLayer("F6", "dense", outputs=84),
)
"""LeNet-5 of 1998: C3 joins 60 of 96 pairs of maps, pooling learns a weight and a bias per map, the output is fixed."""

KINDS = ("convolution", "pooling", "dense")
NETWORKS = {"lenet5": USUAL, "lenet5-1998": PUBLISHED}
TOLD = {
    "lenet5": "LeNet-5 as it is usually built: every map of C3 sees all six maps of S2, pooling has nothing "
    "to learn, and "
    "the last layer is dense.",
    "lenet5-1998": "LeNet-5 of the paper of 1998: C3 joins 60 of the 96 pairs of maps by its table, pooling "
    "learns a weight "
    "and a bias for each map, and the last layer, of fixed codes, learns nothing.",
}


def show_parameter_counts(
    layers: str | Sequence[CountedLayer] = "lenet5", shape: tuple[int, int, int] = (1, 32, 32)
) -> Document:
    """Return the parameters of a network, layer by layer.

    Parameters
    ----------
    layers : {"lenet5", "lenet5-1998"} or sequence of CountedLayer, default="lenet5"
        LeNet-5 as it is usually built, as it was published, or a table of one's own.
    shape : tuple of int, default=(1, 32, 32)
        Channels, height and width of the input.

    Returns
    -------
    Document
        ``answer`` has ``parameters`` by name of the layer, ``total`` and the ``shapes`` that come out.

    Examples
    --------
    >>> show_parameter_counts().answer["total"], show_parameter_counts("lenet5-1998").answer["total"]
    (61706, 60000)
    """
    if isinstance(layers, str):
        check_one_of(NETWORKS, layers=layers)
        rows, told = NETWORKS[layers], TOLD[layers]
    else:
        rows, told = tuple(layers), "A network of your own."
    counts: dict[str, int] = {}
    shapes = [tuple(shape)]
    blocks: list[Step] = []
    for layer in rows:
        check_one_of(KINDS, kind=layer.kind)
        blocks.append(_layer_step(layer, shapes[-1]))
        counts[layer.name] = _weights(layer, shapes[-1]) + _biases(layer, shapes[-1])
        shapes.append(_shape_after(layer, shapes[-1]))
    steps = (*blocks, _table_step(rows, shapes, counts))
    introduction: tuple[Block, ...] = (
        sentence(told),
        sentence(
            "A convolution has one kernel for each pair of input and output maps, whatever the size of the image, "
            "and one bias for each output map. A dense layer has a weight for each pair of units."
        ),
    )
    answer = {"parameters": counts, "total": sum(counts.values()), "shapes": shapes}
    return Document("Parameters, layer by layer", introduction, steps, answer)


def _pairs(layer: CountedLayer, shape: tuple[int, ...]) -> int:
    units = shape[0] if layer.kind == "convolution" else shape[0] * shape[1] * shape[2]
    return units * layer.outputs if layer.connections is None else layer.connections


def _weights(layer: CountedLayer, shape: tuple[int, ...]) -> int:
    if layer.kind == "pooling":
        return shape[0] if layer.scales else 0
    return _pairs(layer, shape) * (layer.size**2 if layer.kind == "convolution" else 1)


def _biases(layer: CountedLayer, shape: tuple[int, ...]) -> int:
    return (shape[0] if layer.scales else 0) if layer.kind == "pooling" else layer.outputs


def _shape_after(layer: CountedLayer, shape: tuple[int, ...]) -> tuple[int, ...]:
    channels, *sides = shape
    if layer.kind == "dense":
        return (layer.outputs, 1, 1)
    if min(sides) < layer.size:
        raise ValueError(f"layer {layer.name} must have windows that fit its input of {sides}, got size {layer.size}.")
    if layer.kind == "pooling":
        return (channels, *(side // layer.size for side in sides))
    return (layer.outputs, *(side - layer.size + 1 for side in sides))


def _layer_step(layer: CountedLayer, shape: tuple[int, ...]) -> Step:
    after, weights, biases = _shape_after(layer, shape), _weights(layer, shape), _biases(layer, shape)
    count = weights + biases
    heading = f"{layer.name}, {layer.kind}"
    told: list[Block] = [sentence(f"It takes {_sizes(shape)} to {_sizes(after)}.")]
    if layer.kind == "pooling" and not layer.scales:
        return step(heading, *told, sentence("Nothing is learned."))
    if layer.kind == "pooling":
        return step(heading, *told, formula(shape[0], Words("weights"), "+", shape[0], Words("biases"), "=", count))
    if layer.kind == "dense":
        inputs = shape[0] * shape[1] * shape[2]
        return step(heading, *told, formula(inputs, "·", layer.outputs, "+", layer.outputs, "=", count))
    pairs = [shape[0], "·", layer.outputs] if layer.connections is None else [layer.connections]
    return step(heading, *told, formula(*pairs, "·", layer.size, "·", layer.size, "+", layer.outputs, "=", count))


def _sizes(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} units" if shape[1:] == (1, 1) else " × ".join(map(str, shape))


def _table_step(layers: Sequence[CountedLayer], shapes: list[Any], counts: dict[str, int]) -> Step:
    rows = [
        [layer.name, layer.kind, _sizes(after), _weights(layer, before), _biases(layer, before), counts[layer.name]]
        for layer, before, after in zip(layers, shapes, shapes[1:], strict=False)
    ]
    whole = sum(counts.values())
    return step(
        "All together",
        table(
            ["layer", "kind", "comes out", "weights", "biases", "parameters"],
            rows,
            summary=[["total", "", "", sum(row[3] for row in rows), sum(row[4] for row in rows), whole]],
        ),
        result(Words("parameters"), "=", whole),
    )
