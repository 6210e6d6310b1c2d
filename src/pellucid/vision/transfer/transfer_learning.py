"""What another network learned, put to use: its weights loaded, its head replaced, some of its stages tuned."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.files import load
from pellucid.core.files.container import DOCUMENT_KEY
from pellucid.neural_network.modules.model_input import module_of
from pellucid.vision.models.image_network import ImageNetwork, stages


def fine_tune(module: nn.Module, rates: Sequence[float] | Mapping[str, float]) -> list[dict[str, Any]]:
    """Freeze all stages but those with a learning rate, and return groups of weights for an optimizer.

    A frozen stage of a network of the zoo stays in test mode when the rest trains: its batch statistics are kept.

    Parameters
    ----------
    module : torch module
        Its stages are those of ``pellucid.vision.models.stages``; they are frozen and freed in place.
    rates : sequence of float, or dict from name of stage to float
        Learning rates of the last stages, the head's last: ``(1e-4, 1e-3)`` trains the last two; ``()`` freezes all.

    Returns
    -------
    list of dict
        ``{"params": [...], "lr": ...}`` for each stage that learns, as torch's optimizers take them.

    Examples
    --------
    >>> from pellucid.vision.models import LeNet5
    >>> module = LeNet5().build()
    >>> [(len(group["params"]), group["lr"]) for group in fine_tune(module, (1e-4, 1e-3))]
    [(2, 0.0001), (2, 0.001)]
    >>> [name for name, weight in module.named_parameters() if weight.requires_grad]
    ['F6.weight', 'F6.bias', 'output.weight', 'output.bias']
    """
    if is_number(rates) or isinstance(rates, str):
        raise TypeError(f"rates must be several, the head's last, or a dict by stage, got {rates!r}. Write (rate,).")
    found = stages(module)
    by_name = dict(rates) if isinstance(rates, Mapping) else _of_the_last(list(found), rates)
    unknown = sorted(set(by_name) - set(found))
    if unknown:
        raise ValueError(f"a stage must be one of {tuple(found)}, got {unknown[0]!r}.")
    for name, rate in by_name.items():
        check_positive("Leave it out to freeze the stage.", **{f"learning rate of {name}": rate})
    for name, stage in found.items():
        stage.requires_grad_(name in by_name)
    module.train(module.training)  # frozen stages go to test mode
    return [{"params": list(found[name].parameters()), "lr": rate} for name, rate in by_name.items()]


def _of_the_last(names: Sequence[str], rates: Sequence[float]) -> dict[str, float]:
    if len(rates) > len(names):
        raise ValueError(f"there must be at most {len(names)} learning rates, one per stage, got {len(rates)}.")
    return dict(zip(names[len(names) - len(rates) :], rates, strict=True))


def replace_head(module: nn.Module, classes: int) -> nn.Module:
    """Return a copy whose last layer is new, with random weights and a score for each of ``classes`` classes.

    A network of the zoo knows its new architecture, so that the copy can be saved.

    Parameters
    ----------
    module : torch module
        Its last layer must be linear, or a convolution of 1 x 1; it stays as it is.
    classes : int
        Scores that come out of the copy, at least 1.

    Examples
    --------
    >>> from pellucid.vision.models import ResNet
    >>> new = replace_head(ResNet(18).build(), 5)
    >>> new.architecture, new.fc
    (ResNet(depth=18, classes=5, channels=3), Linear(in_features=512, out_features=5, bias=True))
    """
    check_whole(classes=classes)
    changed = copy.deepcopy(module)
    name = _head_name(changed)
    changed.set_submodule(name, _like(changed.get_submodule(name), classes))
    architecture = getattr(changed, "architecture", None)
    if is_dataclass(architecture) and not isinstance(architecture, type):
        setting = next(field.name for field in fields(architecture) if field.name in ("classes", "outputs"))
        changed.architecture = replace(architecture, **{setting: classes})  # type: ignore[assignment]  # torch's stub
    return changed


def _head_name(module: nn.Module) -> str:
    """Return the last part of the last stage; of a module that is not ours, the last layer with weights."""
    if isinstance(module, ImageNetwork):
        return list(module.stage_parts.values())[-1][-1]
    inner = [name for name, layer in module.named_modules() if name and any(True for _ in layer.parameters(False))]
    if not inner:
        raise ValueError(
            f"a module must have layers with weights inside to get a new head, got {type(module).__name__}."
        )
    return inner[-1]


def _like(head: nn.Module, classes: int) -> nn.Module:
    """Return a new layer that takes what the old one took."""
    weight = getattr(head, "weight", None)
    if isinstance(head, nn.Linear):
        new: nn.Module = nn.Linear(head.in_features, classes, head.bias is not None)
    elif isinstance(head, nn.Conv2d) and head.kernel_size == (1, 1) and head.groups == 1:
        new = nn.Conv2d(head.in_channels, classes, 1, bias=head.bias is not None)
    else:
        raise ValueError(
            f"the last layer must be linear, or a convolution of 1 x 1, to be replaced, got {type(head).__name__}. "
            "Build the network with other classes, and load_weights(..., without=...)."
        )
    return new if weight is None else new.to(weight.device, weight.dtype)


COUNTER = "num_batches_tracked"
"""Batches seen by a normalization: older state dicts lack it, and no score depends on it."""

Weights: TypeAlias = nn.Module | Mapping[str, Tensor] | str | os.PathLike[str]


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
