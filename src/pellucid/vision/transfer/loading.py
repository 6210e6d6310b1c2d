"""load_weights: numbers of a file, or of another module, into a module of the same shapes."""

from __future__ import annotations

import os
from collections.abc import Mapping

from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from pellucid.files import load
from pellucid.files.container import DOCUMENT_KEY

COUNTER = "num_batches_tracked"
"""Batches seen by a normalization: older state dicts lack it, and no score depends on it."""

Weights = Mapping[str, Tensor] | str | os.PathLike[str]


def load_weights(module: nn.Module, weights: Weights, *, without: tuple[str, ...] = ()) -> nn.Module:
    """Put weights into a module, in place, and return it. Names and shapes must be those of the module.

    Parameters
    ----------
    module : torch module
        One of the zoo takes torchvision's state dicts where torchvision has the network too.
    weights : mapping or path
        A state dict; or a safetensors file, of plain weights by name or as written by ``pellucid.save``. No file is
        unpickled: read a ``.pt`` file that you trust with ``torch.load(path, weights_only=True)`` first.
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
    given = weights if isinstance(weights, Mapping) else _read(weights)
    wanted = {name: tensor for name, tensor in module.state_dict().items() if not name.startswith(without)}
    found = {name: tensor for name, tensor in given.items() if not name.startswith(without)}
    missing = sorted(name for name in set(wanted) - set(found) if not name.endswith(COUNTER))
    unknown = sorted(set(found) - set(wanted))
    if missing or unknown:
        name, fault = (missing[0], "there, but it is missing") if missing else (unknown[0], "absent, but it is there")
        raise ValueError(f"weight {name[:80]!r} must be {fault}. Leave names out by their beginnings: without=(...).")
    for name, tensor in found.items():
        if tensor.shape != wanted[name].shape:
            shapes = f"{tuple(wanted[name].shape)}, got {tuple(tensor.shape)}"
            raise ValueError(f"weight {name} must have shape {shapes}. Leave it out: without=({name!r},).")
    module.load_state_dict(found, strict=False)
    return module


def _read(path: str | os.PathLike[str]) -> Mapping[str, Tensor]:
    with safe_open(path, framework="pt") as file:
        is_ours = DOCUMENT_KEY in (file.metadata() or {})
    if is_ours:
        loaded: nn.Module = load(path)
        return loaded.state_dict()
    return load_file(path)
