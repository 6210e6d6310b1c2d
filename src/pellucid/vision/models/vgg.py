"""VGG networks (Simonyan and Zisserman, 2014, Table 1): small convolutions, many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pellucid.core.kinds.plain import Flag, OneOf
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork, draw_he_weights

WIDTHS = (64, 128, 256, 512, 512)
KERNELS = {
    "A": ((3,), (3,), (3, 3), (3, 3), (3, 3)),
    "B": ((3, 3), (3, 3), (3, 3), (3, 3), (3, 3)),
    "C": ((3, 3), (3, 3), (3, 3, 1), (3, 3, 1), (3, 3, 1)),
    "D": ((3, 3), (3, 3), (3, 3, 3), (3, 3, 3), (3, 3, 3)),
    "E": ((3, 3), (3, 3), (3, 3, 3, 3), (3, 3, 3, 3), (3, 3, 3, 3)),
}
"""Configuration -> sizes of the convolutions in each of the five blocks; a block ends with pooling."""


@dataclass(frozen=True)
class VGG(ImageArchitecture):
    """Five blocks of convolutions and three dense layers. The names of the weights are those of torchvision.

    Parameters
    ----------
    configuration : {"A", "B", "C", "D", "E"}
        Column of the paper's table: A has 11 layers with weights (VGG-11), B 13, C and D 16 (D is VGG-16), E 19.
    classes : int or None, default=1000
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    batch_normalization : bool, default=False
        Whether each convolution is followed by batch normalization, which is younger than the paper.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):  # names and shapes, no memory
    ...     sum(weight.numel() for weight in VGG("D").build().parameters())
    138357544
    """

    configuration: str
    classes: int | None = 1000
    channels: int | None = 3
    batch_normalization: bool = False

    settings: ClassVar = {
        "configuration": OneOf(tuple(KERNELS)),
        "classes": CLASSES,
        "channels": CHANNELS,
        "batch_normalization": Flag(),
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return VGGNetwork(self)


class VGGNetwork(ImageNetwork):
    """Blocks of convolutions, made for images of 224 x 224, then dense layers with dropout."""

    def __init__(self, architecture: VGG) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        self.features = vgg_features(architecture.configuration, channels, architecture.batch_normalization)
        self.avgpool = nn.AdaptiveAvgPool2d(7)
        draw_he_weights(self)
        self.classifier = nn.Sequential(
            *(nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout()),
            *(nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout()),
            nn.Linear(4096, classes),
        )
        dense = {"fc6": ("classifier.0",), "fc7": ("classifier.3",), "head": ("classifier.6",)}
        self.stage_parts = {**blocks_with_weights(self.features), **dense}

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = self.avgpool(self.features(images))  # (B, 512, 7, 7)
        return self.classifier(torch.flatten(maps, 1))


def vgg_features(
    configuration: str,
    channels: int,
    normalized: bool = False,
    first_padding: int = 1,
    ceil_mode: bool = False,
    widths: Sequence[int] = WIDTHS,
) -> nn.Sequential:
    """Return the five blocks in one row of layers."""
    layers: list[nn.Module] = []
    for width, kernels in zip(widths, KERNELS[configuration], strict=True):
        for kernel in kernels:
            layers.append(nn.Conv2d(channels, width, kernel, padding=kernel // 2 if layers else first_padding))
            layers += [nn.BatchNorm2d(width), nn.ReLU()] if normalized else [nn.ReLU()]
            channels = width
        layers.append(nn.MaxPool2d(2, ceil_mode=ceil_mode))
    return nn.Sequential(*layers)


def blocks_with_weights(features: nn.Sequential) -> dict[str, tuple[str, ...]]:
    """Return the names of the layers with weights in each block: it ends where maps are pooled."""
    found: dict[str, tuple[str, ...]] = {}
    block = 1
    for name, layer in features.named_children():
        if isinstance(layer, nn.MaxPool2d):
            block += 1
        elif any(True for _ in layer.parameters()):
            found[f"block{block}"] = (*found.get(f"block{block}", ()), f"features.{name}")
    return found
