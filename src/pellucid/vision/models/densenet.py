"""Densely connected networks (Huang, Liu, van der Maaten and Weinberger, 2016): each layer sees all before it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from pellucid.core.kinds.plain import Flag, OneOfWholes, Whole
from pellucid.vision.models.image_network import (
    CHANNELS,
    CLASSES,
    ImageArchitecture,
    ImageNetwork,
    draw_he_weights,
    flattened_mean,
)

DEPTHS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}
"""Depth -> maps of the first convolution, maps that each layer adds, layers of each block."""


@dataclass(frozen=True)
class DenseNet(ImageArchitecture):
    """Four blocks of layers, each of which adds maps to all maps before it. Names of weights as in torchvision.

    Parameters
    ----------
    depth : {121, 161, 169, 201}
        Layers with weights.
    classes : int or None, default=1000
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.

    Examples
    --------
    >>> sum(weight.numel() for weight in DenseNet(121).build().parameters())
    7978856
    """

    depth: int
    classes: int | None = 1000
    channels: int | None = 3

    settings: ClassVar = {"depth": OneOfWholes(tuple(DEPTHS)), "classes": CLASSES, "channels": CHANNELS}

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        channels, _ = self.sizes()
        width, growth, counts = DEPTHS[self.depth]
        stem = {
            "conv0": nn.Conv2d(channels, width, 7, stride=2, padding=3, bias=False),
            "norm0": nn.BatchNorm2d(width),
            "relu0": nn.ReLU(),
            "pool0": nn.MaxPool2d(3, stride=2, padding=1),
        }
        return DenselyConnectedNetwork(self, stem, width, growth, counts, bottleneck=True)


@dataclass(frozen=True)
class CifarDenseNet(ImageArchitecture):
    """Three blocks of dense layers for small images; DenseNet-BC (L=100, k=12) is ``CifarDenseNet(100, 12)``.

    Parameters
    ----------
    depth : int
        Layers with weights: 6 n + 4 with bottlenecks, 3 n + 4 without.
    growth : int
        Maps that each layer adds.
    bottleneck : bool, default=True
        Whether a convolution of 1 x 1 comes before each of 3 x 3, and the maps are halved between blocks ("BC").
    classes : int or None, default=10
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.

    Examples
    --------
    >>> sum(weight.numel() for weight in CifarDenseNet(100, 12).build().parameters())
    769162
    """

    depth: int
    growth: int
    bottleneck: bool = True
    classes: int | None = 10
    channels: int | None = 3

    settings: ClassVar = {
        "depth": Whole(7, 400),
        "growth": Whole(1, 256),
        "bottleneck": Flag(),
        "classes": CLASSES,
        "channels": CHANNELS,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        per_block = 6 if self.bottleneck else 3
        if (self.depth - 4) % per_block:
            raise ValueError(f"depth must be {per_block} n + 4, such as {16 * per_block + 4}, got {self.depth}.")

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        channels, _ = self.sizes()
        width = 2 * self.growth if self.bottleneck else 16
        stem = {"conv0": nn.Conv2d(channels, width, 3, padding=1, bias=False)}
        counts = ((self.depth - 4) // (6 if self.bottleneck else 3),) * 3
        return DenselyConnectedNetwork(self, stem, width, self.growth, counts, bottleneck=self.bottleneck)


class DenselyConnectedNetwork(ImageNetwork):
    """A stem, dense blocks with a transition between two of them, a mean over the pixels, and a dense layer."""

    def __init__(
        self,
        architecture: ImageArchitecture,
        stem: Mapping[str, nn.Module],
        width: int,
        growth: int,
        counts: Sequence[int],
        bottleneck: bool,
    ) -> None:
        super().__init__(architecture)
        self.features = nn.Sequential(OrderedDict(stem))
        for number, n_layers in enumerate(counts, start=1):
            self.features.add_module(f"denseblock{number}", DenseBlock(n_layers, width, growth, bottleneck))
            width += n_layers * growth
            if number < len(counts):
                outputs = width // 2 if bottleneck else width
                self.features.add_module(f"transition{number}", transition(width, outputs))
                width = outputs
        self.features.add_module(f"norm{len(counts) + 1}", nn.BatchNorm2d(width))
        draw_he_weights(self)
        self.classifier = nn.Linear(width, architecture.sizes()[1])
        self.stage_parts = self._stages_of(len(counts), stem)

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        return self.classifier(flattened_mean(relu(self.features(images))))

    @staticmethod
    def _stages_of(n_blocks: int, stem: Mapping[str, nn.Module]) -> dict[str, tuple[str, ...]]:
        """Return each block together with the transition, or the last normalization, behind it."""
        behind = [f"transition{number}" for number in range(1, n_blocks)] + [f"norm{n_blocks + 1}"]
        blocks = {
            f"block{number}": (f"features.denseblock{number}", f"features.{after}")
            for number, after in enumerate(behind, start=1)
        }
        return {"stem": tuple(f"features.{name}" for name in stem), **blocks, "head": ("classifier",)}


class DenseLayer(nn.Module):
    """Makes ``growth`` maps of all it sees: normalization, ReLU, convolution; twice, if there is a bottleneck."""

    def __init__(self, inputs: int, growth: int, bottleneck: bool) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        if bottleneck:
            self.conv1 = nn.Conv2d(inputs, 4 * growth, 1, bias=False)
            self.norm2 = nn.BatchNorm2d(4 * growth)
            self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)
        else:
            self.conv1 = nn.Conv2d(inputs, growth, 3, padding=1, bias=False)
        self.bottleneck = bottleneck

    def forward(self, maps: Tensor) -> Tensor:
        """Return the new maps: (B, C, H, W) -> (B, growth, H, W)."""
        made = self.conv1(relu(self.norm1(maps)))
        return self.conv2(relu(self.norm2(made))) if self.bottleneck else made


class DenseBlock(nn.Sequential):
    """Layers, each of which sees the input of the block and the maps of all layers before it."""

    def __init__(self, n_layers: int, inputs: int, growth: int, bottleneck: bool) -> None:
        layers = (DenseLayer(inputs + i * growth, growth, bottleneck) for i in range(n_layers))
        super().__init__(OrderedDict((f"denselayer{i}", layer) for i, layer in enumerate(layers, start=1)))

    def forward(self, maps: Tensor) -> Tensor:
        """Return input and new maps, side by side: (B, C, H, W) -> (B, C + n_layers growth, H, W)."""
        for layer in self:
            maps = torch.cat((maps, layer(maps)), dim=1)
        return maps


def transition(inputs: int, outputs: int) -> nn.Sequential:
    """Return what stands between two blocks: a convolution of 1 x 1, and pixels pooled 2 x 2."""
    return nn.Sequential(
        OrderedDict(
            norm=nn.BatchNorm2d(inputs),
            relu=nn.ReLU(),
            conv=nn.Conv2d(inputs, outputs, 1, bias=False),
            pool=nn.AvgPool2d(2),
        )
    )
