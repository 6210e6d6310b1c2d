"""Weights of a module as arrays, and a module again from its architecture and them."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pellucid.core.types import Array
from pellucid.neural_network.architecture import Architecture


def weights_of(module: nn.Module) -> dict[str, Array]:
    """Return the state dict as NumPy arrays in this machine's memory; they may share it with the module.

    Examples
    --------
    >>> {name: weight.shape for name, weight in weights_of(nn.Linear(3, 2)).items()}
    {'weight': (2, 3), 'bias': (2,)}
    """
    return {name: weight.detach().cpu().numpy() for name, weight in module.state_dict().items()}


def module_from(architecture: Architecture, weights: Mapping[str, Array]) -> nn.Module:
    """Return the module of an architecture with these weights, in test mode, without drawing random ones first.

    The arrays become the module's memory: they are not copied.
    """
    module = empty_module(architecture)
    check_weights(module, weights)
    module.load_state_dict({name: torch.from_numpy(weight) for name, weight in weights.items()}, assign=True)
    module.architecture = architecture  # type: ignore[assignment]  # torch's stub knows tensors and modules only
    return module.eval()


def empty_module(architecture: Architecture) -> nn.Module:
    """Return the module of an architecture without memory for its weights: shapes and names only."""
    with torch.device("meta"):
        return architecture.build()


def check_weights(module: nn.Module, weights: Mapping[str, Array]) -> None:
    """Refuse arrays that are not the weights of the module: names, shapes, and one kind of floats for all."""
    expected: dict[str, Tensor] = module.state_dict()
    if set(expected) != set(weights):
        name = min(set(expected) ^ set(weights))
        raise ValueError(f"weight {name[:80]!r} must be {'there' if name in expected else 'absent'}, and it is not.")
    floats = {weight.dtype for weight in weights.values() if weight.dtype.kind == "f"}
    if len(floats) > 1:
        raise ValueError(f"weights must be of one precision, got {sorted(map(str, floats))}. Convert the module.")
    for name, tensor in expected.items():
        weight = weights[name]
        same_kind = tensor.is_floating_point() == (weight.dtype.kind == "f")
        if tuple(tensor.shape) != weight.shape or not same_kind:
            raise ValueError(
                f"weight {name} must be of shape {tuple(tensor.shape)} and {tensor.dtype}, "
                f"got {weight.shape} and {weight.dtype}."
            )
