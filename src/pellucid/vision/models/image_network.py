"""What all networks of the zoo share: settings for channels and classes, named stages, a head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import torch
from torch import Tensor, nn

from pellucid.core.kinds.plain import Nothing, Whole
from pellucid.neural_network.architecture import Architecture

CHANNELS = Nothing() | Whole(1, 4096)
CLASSES = Nothing() | Whole(1, 2**17)


class ImageArchitecture(Architecture):
    """A network of images: ``channels`` come in, a score per class comes out; None is filled by the data."""

    channels: int | None
    classes: int | None

    def for_data(self, shape: tuple[int, ...], outputs: int) -> Self:
        """Return the same architecture for images of ``shape`` (channels, height, width) and ``outputs`` classes."""
        if len(shape) != 3:
            raise ValueError(f"an image must have the shape (channels, height, width), got {shape}. Reshape X.")
        found = {"channels": shape[0], "classes": outputs}
        return replace(self, **{name: size for name, size in found.items() if getattr(self, name) is None})  # type: ignore[type-var]  # each subclass is a dataclass

    def sizes(self) -> tuple[int, int]:
        """Return channels and classes, which must be known by now."""
        if self.channels is None or self.classes is None:
            raise ValueError(f"channels and classes must be numbers to build {self!r}. Set them, or use for_data.")
        return self.channels, self.classes


class ImageNetwork(nn.Module):
    """A module that knows its architecture, and its stages by name.

    A stage whose weights are all frozen stays in test mode while the rest trains: its batch statistics do not move.
    """

    stage_parts: Mapping[str, tuple[str, ...]]
    """Stage -> its submodules with weights; stages from the input to the head, whose last part gives the scores."""

    size_multiple: int = 1
    """Of which height and width of an image must be multiples."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture

    def train(self, mode: bool = True) -> Self:
        """Set all stages to training or test mode, but for frozen ones."""
        super().train(mode)
        for stage in stages(self).values():
            if not any(weight.requires_grad for weight in stage.parameters()):
                stage.eval()
        return self


def stages(module: nn.Module) -> dict[str, nn.ModuleList]:
    """Return the stages of a network by name, from the input to the head; of another module, its children.

    Parameters
    ----------
    module : torch module
        Of a network of the zoo the stages are those that it names; those without weights are left out.

    Examples
    --------
    >>> from pellucid.vision.models import ResNet
    >>> list(stages(ResNet(18).build()))
    ['stem', 'layer1', 'layer2', 'layer3', 'layer4', 'head']
    """
    children = {name: (name,) for name, _ in module.named_children()}
    parts = module.stage_parts if isinstance(module, ImageNetwork) else children
    found = {name: nn.ModuleList(map(module.get_submodule, names)) for name, names in parts.items()}
    return {name: stage for name, stage in found.items() if any(True for _ in stage.parameters())}


def draw_he_weights(module: nn.Module) -> None:
    """Draw the weights of all convolutions for layers followed by ReLU: variance 2 over the entries that leave."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def flattened_mean(maps: Tensor) -> Tensor:
    """Return the mean of each feature map: (B, C, H, W) -> (B, C)."""
    return torch.flatten(nn.functional.adaptive_avg_pool2d(maps, 1), 1)
