"""A fitted MLP as a module of torch."""

from __future__ import annotations

from typing import Any

from pellucid.core.arrays import on_host
from pellucid.core.public_names import needs_extra
from pellucid.core.types import Array


def as_module(coefs: list[Array], intercepts: list[Array], activation: str, pieces: int, dropout: float) -> Any:
    """Return linear layers with activation and dropout between them, in evaluation mode."""
    with needs_extra("module_"):
        import torch

        from pellucid.neural_network.modules.dense_layers import activation as activation_layer

    def linear(W: Array, b: Array) -> Any:
        W, b = on_host(W), on_host(b)
        layer = torch.nn.utils.skip_init(torch.nn.Linear, *W.shape, dtype=getattr(torch, str(W.dtype)))
        layer.weight.data.copy_(torch.from_numpy(W.T.copy()))
        layer.bias.data.copy_(torch.from_numpy(b.copy()))
        return layer

    *hidden, last = map(linear, coefs, intercepts)
    layers: list[Any] = []
    for layer in hidden:
        layers += [layer, activation_layer(activation, pieces)] + [torch.nn.Dropout(dropout)] * (dropout > 0)
    return torch.nn.Sequential(*layers, last).eval()
