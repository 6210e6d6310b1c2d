"""load_weights: numbers of a file, or of another module, into a module of the same shapes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from pellucid.files import load
from pellucid.files.container import DOCUMENT_KEY
from pellucid.neural_network.modules.model_input import module_of

COUNTER = "num_batches_tracked"
"""Batches seen by a normalization: older state dicts lack it, and no score depends on it."""

Weights = nn.Module | Mapping[str, Tensor] | str | os.PathLike[str]


def load_weights(module: nn.Module, weights: Weights, *, without: Iterable[str] = ()) -> nn.Module:
    """Put weights into a module, in place, and return it. Names and shapes must be those of the module.

    Parameters
    ----------
    module : torch module
        One of the zoo takes torchvision's state dicts where torchvision has the network too.
    weights : torch module, mapping or path
        A module or its state dict; or a safetensors file, of plain weights by name or as ``pellucid.save`` wrote a
        network. No file is unpickled: read a ``.pt`` file that you trust with ``torch.load(path, weights_only=True)``.
    without : tuple of str, default=()
        Beginnings of names to leave as they are, such as ("fc.",) for a head with another number of classes.

    Examples
    --------
    >>> from pellucid.vision.models import LeNet5
    >>> trained, other = LeNet5().build(), LeNet5(classes=3).build()
    >>> _ = load_weights(other, trained.state_dict(), without=("output.",))
    >>> bool((other.C1.weight == trained.C1.weight).all())
    True
    """
    left_out = (without,) if isinstance(without, str) else tuple(without)
    wanted = {name: tensor for name, tensor in module.state_dict().items() if not name.startswith(left_out)}
    found = {name: tensor for name, tensor in _given(weights).items() if not name.startswith(left_out)}
    _check_fit(found, wanted)
    module.load_state_dict(found, strict=False)
    return module


def _given(weights: Weights) -> Mapping[str, Tensor]:
    if isinstance(weights, nn.Module):
        return weights.state_dict()
    if isinstance(weights, Mapping):
        return {name: torch.as_tensor(weight) for name, weight in weights.items()}
    return _read(weights)


def _check_fit(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Refuse names, shapes and kinds of numbers that are not those of the module."""
    missing = sorted(name for name in set(wanted) - set(found) if not name.endswith(COUNTER))
    unknown = sorted(set(found) - set(wanted))
    if missing or unknown:
        name, fault = (missing[0], "there, but it is missing") if missing else (unknown[0], "absent, but it is there")
        raise ValueError(f"weight {name[:80]!r} must be {fault}. Leave names out by their beginnings: without=(...).")
    for name, tensor in found.items():
        if tensor.shape != wanted[name].shape:
            shapes = f"{tuple(wanted[name].shape)}, got {tuple(tensor.shape)}"
            raise ValueError(f"weight {name} must have shape {shapes}. Leave it out: without=({name!r},).")
        if tensor.is_floating_point() != wanted[name].is_floating_point():
            raise ValueError(f"weight {name} must be numbers such as {wanted[name].dtype}, got {tensor.dtype}.")


def _read(path: str | os.PathLike[str]) -> Mapping[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as file:
            is_ours = DOCUMENT_KEY in (file.metadata() or {})
    except SafetensorError as error:
        raise ValueError(
            f"weights must be a safetensors file, got {os.fspath(path)!r}: {error}. Read a .pt file that you trust "
            "with torch.load(path, weights_only=True), and give what that returns."
        ) from error
    return module_of(load(path)).state_dict() if is_ours else load_file(path)
