"""A fitted MLP as a module of torch."""

from __future__ import annotations

from typing import Any

from pellucid.core.extras import needs_extra
from pellucid.core.types import Array


def as_module(coefs: list[Array], intercepts: list[Array], activation: str, pieces: int, dropout: float) -> Any:
    """Return linear layers with activation and dropout between them, in evaluation mode."""
    with needs_extra("module_"):
        import torch

        from pellucid.neural_network.modules.activations import activation as activation_layer
    layers: list[Any] = []
    for W, b in zip(coefs, intercepts, strict=True):
        layer = torch.nn.utils.skip_init(torch.nn.Linear, *W.shape, dtype=getattr(torch, str(W.dtype)))
        layer.weight.data.copy_(torch.from_numpy(W.T.copy()))
        layer.bias.data.copy_(torch.from_numpy(b.copy()))
        layers += [layer, activation_layer(activation, pieces)] + [torch.nn.Dropout(dropout)] * (dropout > 0)
    last = max(place for place, layer in enumerate(layers) if isinstance(layer, torch.nn.Linear))
    return torch.nn.Sequential(*layers[: last + 1]).eval()
