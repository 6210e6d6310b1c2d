"""The weights that ship with the package: where they are, what is told about them, and how a method finds its own."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pellucid.core.files import ModelFileError
from pellucid.core.files.saving import load
from pellucid.core.types import Array
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.modules.network_weights import weights_of
from pellucid.neural_network.training.devices import device_named

WEIGHTS = Path(__file__).parent / "weights"


def network_named(weights: Any, files: Mapping[str, str], kind: type[Architecture], device: str) -> nn.Module:
    """Return a network in test mode on a device: shipped under a name, from a file, or the module itself.

    Parameters
    ----------
    weights : str, path or module
        One of the names in ``files``, a file of ``pellucid.save``, or a module built by an architecture of ``kind``.
    """
    module: Any
    if isinstance(weights, nn.Module):
        module = copy.deepcopy(weights)  # the caller's stays where it is
    elif isinstance(weights, str) and weights in files:
        module = _read(WEIGHTS / f"{files[weights]}.safetensors")
    else:
        module = _read(Path(weights), f"weights must be one of {tuple(files)}, a file of pellucid.save or a module")
    found = getattr(module, "architecture", type(module).__name__)
    if not isinstance(found, kind):
        raise ValueError(f"weights must be those of a {kind.__name__}, got {found}. Take one of {tuple(files)}.")
    # with channels last a convolution takes three quarters of the time, measured on ARM with 64 maps
    return module.to(device_named(device), memory_format=torch.channels_last).eval()


def _read(path: Path, wanted: str = "weights must be a file of pellucid.save") -> nn.Module:
    try:
        stamp = path.stat()
    except OSError as error:
        raise ValueError(f"{wanted}, got {str(path)!r}, and no such file is there.") from error
    return _loaded(path, stamp.st_mtime_ns, stamp.st_size)


@cache
def _loaded(path: Path, _changed: int, _size: int) -> nn.Module:
    try:
        return load(path)
    except ModelFileError as error:
        raise ValueError(f"weights must be a file of pellucid.save, got {path.name}: {error}") from error


def record_of_shipped(file: str) -> dict[str, Any]:
    """Return how shipped weights came to be: images, seed, card, minutes, and the table they reach.

    Examples
    --------
    >>> record_of_shipped("srcnn_x2")["card"]
    'NVIDIA H200'
    """
    found: dict[str, Any] = json.loads((WEIGHTS / f"{file}.json").read_text(encoding="utf-8"))
    return found


def evidence_of(module: nn.Module) -> dict[str, Array]:
    """Return the weights by names that a proof can ask for: ``convolutions_0_weight``."""
    return {name.replace(".", "_"): weight for name, weight in weights_of(module).items()}
