"""Activations by name."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from pellucid.neural_network.modules.maxout import Maxout

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
