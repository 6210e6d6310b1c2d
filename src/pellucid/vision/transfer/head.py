"""replace_head: the same network with another number of classes."""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass, replace

from torch import nn

from pellucid.core.checks import check_whole
from pellucid.vision.models.image_network import ImageNetwork


def replace_head(module: nn.Module, classes: int) -> nn.Module:
    """Return a copy whose last layer is new, with random weights and a score for each of ``classes`` classes.

    A network of the zoo knows its new architecture, so that the copy can be saved.

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
