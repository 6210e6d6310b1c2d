"""The layers of a dense network, in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from torch import nn

from pellucid.neural_network.modules.activations import activation
from pellucid.neural_network.modules.initializations import INITIALIZATIONS

if TYPE_CHECKING:
    from pellucid.neural_network.dense_network import DenseNetwork


def dense_layers(network: DenseNetwork, inputs: int, outputs: int) -> nn.Sequential:
    """Return linear, normalization, activation, dropout for each hidden layer, then a linear layer for the scores."""
    return nn.Sequential(*_layers(network, inputs, outputs))


def _layers(network: DenseNetwork, inputs: int, outputs: int) -> Iterator[nn.Module]:
    if network.flatten:
        yield nn.Flatten()
    pieces = network.pieces if network.activation == "maxout" else 1
    for before, units in pairwise((inputs, *network.hidden)):
        yield _linear(before, units * pieces, network)
        if network.batch_normalization:
            yield nn.BatchNorm1d(units * pieces)
        yield activation(network.activation, network.pieces)
        if network.dropout > 0:
            yield nn.Dropout(network.dropout)
    yield _linear((inputs, *network.hidden)[-1], outputs, network)


def _linear(inputs: int, outputs: int, network: DenseNetwork) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    INITIALIZATIONS[network.initialization](layer, network.activation)
    return layer
