"""Residual networks for small images (He, Zhang, Ren and Sun, 2015, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import pad, relu

from pellucid.kinds.plain import Whole
from pellucid.vision.models.image_network import (
    CHANNELS,
    CLASSES,
    ImageArchitecture,
    ImageNetwork,
    draw_he_weights,
    flattened_mean,
)
from pellucid.vision.models.residual_blocks import BasicBlock, residual_stage


@dataclass(frozen=True)
class CifarResNet(ImageArchitecture):
    """Three stages of n blocks with 16, 32 and 64 maps: 6 n + 2 layers with weights.

    Shortcuts have no weights (option A): where the shape changes, every second pixel and zeros for the new maps.

    Parameters
    ----------
    depth : int
        6 n + 2: 20, 32, 44, 56, 110 and 1202 in the paper.
    classes, channels : int or None, default=10 and 3
        Scores that come out, channels that go in; None: as the data have.

    Examples
    --------
    >>> sum(weight.numel() for weight in CifarResNet(20).build().parameters())
    269722
    """

    depth: int
    classes: int | None = 10
    channels: int | None = 3

    settings: ClassVar = {"depth": Whole(8, 1202), "classes": CLASSES, "channels": CHANNELS}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth % 6 != 2:
            raise ValueError(f"depth must be 6 n + 2, such as 20, 32, 44, 56 or 110, got {self.depth}.")

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return CifarResidualNetwork(self)


class CifarResidualNetwork(ImageNetwork):
    """A first convolution, three stages, a mean over the pixels, and a dense layer."""

    stage_parts = MappingProxyType(
        {
            "stem": ("conv1", "bn1"),
            "layer1": ("layer1",),
            "layer2": ("layer2",),
            "layer3": ("layer3",),
            "head": ("fc",),
        }
    )

    def __init__(self, architecture: CifarResNet) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        n_blocks = (architecture.depth - 2) // 6
        self.conv1 = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = residual_stage(BasicBlock, 16, 16, n_blocks, 1)
        self.layer2 = residual_stage(BasicBlock, 16, 32, n_blocks, 2, PaddedShortcut)
        self.layer3 = residual_stage(BasicBlock, 32, 64, n_blocks, 2, PaddedShortcut)
        draw_he_weights(self)
        self.fc = nn.Linear(64, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = self.layer1(relu(self.bn1(self.conv1(images))))  # (B, 16, H, W)
        maps = self.layer3(self.layer2(maps))  # (B, 64, H/4, W/4)
        return self.fc(flattened_mean(maps))


class PaddedShortcut(nn.Module):
    """The shortcut of option A: every ``stride``-th pixel, and zeros for the maps that the input does not have."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.stride, self.missing = stride, outputs - inputs

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, C, H, W) -> (B, C + missing, H / stride, W / stride)."""
        return pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.missing))
