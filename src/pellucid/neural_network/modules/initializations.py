"""First weights of a linear layer by name, drawn from torch's own generator."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import torch
from torch import nn

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
