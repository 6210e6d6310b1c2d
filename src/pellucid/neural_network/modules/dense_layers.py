"""The layers of a dense network, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import torch
from torch import nn

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


ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "identity": nn.Identity,
    "logistic": nn.Sigmoid,
    "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "elu": nn.ELU,
    "gelu": nn.GELU,
}
"""Those that change each number by itself; maxout, which needs several per unit, is made by :func:`activation`."""


def activation(name: str, pieces: int = 2) -> nn.Module:
    """Return a new layer for an activation's name.

    Examples
    --------
    >>> activation("leaky_relu")
    LeakyReLU(negative_slope=0.01)
    """
    return Maxout(pieces) if name == "maxout" else ACTIVATIONS[name]()


def maxout(values: torch.Tensor, pieces: int) -> torch.Tensor:
    """Return the largest of each ``pieces`` neighbors along the last axis.

    Examples
    --------
    >>> maxout(torch.tensor([[1.0, 5.0, 3.0, 2.0]]), pieces=2)
    tensor([[5., 3.]])
    """
    return values.unflatten(-1, (-1, pieces)).amax(-1)  # (..., units * pieces) -> (..., units)


class Maxout(nn.Module):
    """``maxout`` as a layer: it follows a linear layer that has ``pieces`` outputs for each unit.

    Parameters
    ----------
    pieces : int, default=2
        Neighboring outputs of which the largest is taken: the number of linear functions of a unit.
    """

    def __init__(self, pieces: int = 2) -> None:
        super().__init__()
        self.pieces = pieces

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return the units' values."""
        return maxout(values, self.pieces)

    def extra_repr(self) -> str:
        """Return the setting that a printed network shows."""
        return f"pieces={self.pieces}"


SMALL = 0.01
"""Standard deviation of small random weights."""


@torch.no_grad()
def initialize_he(layer: nn.Linear, _activation: str) -> None:
    """Draw weights of variance 2 / inputs, which keeps the size of signals through rectifiers; biases 0."""
    layer.weight.normal_(0.0, sqrt(2 / layer.in_features))
    layer.bias.zero_()


@torch.no_grad()
def initialize_xavier(layer: nn.Linear, _activation: str) -> None:
    """Draw weights of variance 2 / (inputs + outputs), for activations with slope 1 at 0; biases 0."""
    bound = sqrt(6 / (layer.in_features + layer.out_features))
    layer.weight.uniform_(-bound, bound)
    layer.bias.zero_()


@torch.no_grad()
def initialize_glorot(layer: nn.Linear, activation: str) -> None:
    """Draw weights and biases as scikit-learn does: Xavier's bound, narrower by the root of 3 for the logistic."""
    factor = 2 if activation in ("logistic", "sigmoid") else 6
    bound = sqrt(factor / (layer.in_features + layer.out_features))
    layer.weight.uniform_(-bound, bound)
    layer.bias.uniform_(-bound, bound)


@torch.no_grad()
def initialize_small_random(layer: nn.Linear, _activation: str) -> None:
    """Draw weights around 0 that are small whatever the layer's size: signals fade in deep networks; biases 0."""
    layer.weight.normal_(0.0, SMALL)
    layer.bias.zero_()


@torch.no_grad()
def initialize_zero(layer: nn.Linear, _activation: str) -> None:
    """Set everything to 0, which fails: all units of a layer stay equal forever, as they get equal gradients."""
    layer.weight.zero_()
    layer.bias.zero_()


INITIALIZATIONS: dict[str, Callable[[nn.Linear, str], None]] = {
    "he": initialize_he,
    "xavier": initialize_xavier,
    "glorot": initialize_glorot,
    "small_random": initialize_small_random,
    "zero": initialize_zero,
}
