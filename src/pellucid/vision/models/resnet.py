"""Residual networks for ImageNet (He, Zhang, Ren and Sun, 2015, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu

from pellucid.kinds.plain import OneOfWholes
from pellucid.vision.models.image_network import (
    CHANNELS,
    CLASSES,
    ImageArchitecture,
    ImageNetwork,
    draw_he_weights,
    flattened_mean,
)
from pellucid.vision.models.residual_blocks import BasicBlock, Block, Bottleneck, residual_stage

DEPTHS: dict[int, tuple[Block, tuple[int, int, int, int]]] = {
    18: (BasicBlock, (2, 2, 2, 2)),
    34: (BasicBlock, (3, 4, 6, 3)),
    50: (Bottleneck, (3, 4, 6, 3)),
    101: (Bottleneck, (3, 4, 23, 3)),
    152: (Bottleneck, (3, 8, 36, 3)),
}
"""Depth -> kind of block, and how many of them each stage has."""

WIDTHS = (64, 128, 256, 512)


@dataclass(frozen=True)
class ResNet(ImageArchitecture):
    """A residual network with four stages of blocks. The names of its weights are those of torchvision.

    As there, a bottleneck takes its stride in the convolution of 3 x 3; in the paper it is the first one.

    Parameters
    ----------
    depth : {18, 34, 50, 101, 152}
        Layers with weights.
    classes, channels : int or None, default=1000 and 3
        Scores that come out, channels that go in; None: as the data have.

    Examples
    --------
    >>> sum(weight.numel() for weight in ResNet(18).build().parameters())
    11689512
    """

    depth: int
    classes: int | None = 1000
    channels: int | None = 3

    settings: ClassVar = {"depth": OneOfWholes(tuple(DEPTHS)), "classes": CLASSES, "channels": CHANNELS}

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return ResidualNetwork(self)


class ResidualNetwork(ImageNetwork):
    """A first convolution, four stages, a mean over the pixels, and a dense layer."""

    stage_parts = MappingProxyType(
        {
            "stem": ("conv1", "bn1"),
            **{name: (name,) for name in ("layer1", "layer2", "layer3", "layer4")},
            "head": ("fc",),
        }
    )

    def __init__(self, architecture: ResNet) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        block, counts = DEPTHS[architecture.depth]
        self.conv1 = nn.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for number, (width, n_blocks) in enumerate(zip(WIDTHS, counts, strict=True), start=1):
            stage = residual_stage(block, inputs, width, n_blocks, stride=1 if number == 1 else 2)
            self.add_module(f"layer{number}", stage)
            inputs = width * block.expansion
        draw_he_weights(self)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = relu(self.bn1(self.conv1(images)))  # (B, 64, H/2, W/2)
        maps = max_pool2d(maps, 3, stride=2, padding=1)  # (B, 64, H/4, W/4)
        for name in ("layer1", "layer2", "layer3", "layer4"):
            maps = self.get_submodule(name)(maps)
        return self.fc(flattened_mean(maps))
