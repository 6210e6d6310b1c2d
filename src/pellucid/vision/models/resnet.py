"""Residual networks for ImageNet (He, Zhang, Ren and Sun, 2015, Table 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol

from torch import Tensor, nn
from torch.nn.functional import max_pool2d, pad, relu

from pellucid.core.kinds.plain import OneOfWholes, Whole
from pellucid.neural_network.architecture import Architecture
from pellucid.vision.models.image_network import (
    CHANNELS,
    CLASSES,
    ImageArchitecture,
    ImageNetwork,
    draw_he_weights,
    flattened_mean,
)

Shortcut = Callable[[int, int, int], nn.Module]
"""``(inputs, outputs, stride)``: the way around a block whose output has another shape than its input."""


class Block(Protocol):
    """A kind of block."""

    expansion: int
    """Channels of the output, as a multiple of the block's width."""

    def __call__(self, inputs: int, width: int, stride: int, downsample: nn.Module | None) -> nn.Module:
        """Return one block."""


class BasicBlock(nn.Module):
    """Two convolutions of 3 x 3."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(x + F(x)): (B, C, H, W) -> (B, width, H / stride, W / stride)."""
        change = relu(self.bn1(self.conv1(x)))
        change = self.bn2(self.conv2(change))
        return relu(change + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """A convolution of 3 x 3 between two of 1 x 1, which make the maps few and many again."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(x + F(x)): (B, C, H, W) -> (B, 4 width, H / stride, W / stride)."""
        change = relu(self.bn1(self.conv1(x)))
        change = relu(self.bn2(self.conv2(change)))
        change = self.bn3(self.conv3(change))
        return relu(change + (x if self.downsample is None else self.downsample(x)))


def projection(inputs: int, outputs: int, stride: int) -> nn.Module:
    """Return the shortcut of option B: a convolution of 1 x 1."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))


def residual_stage(
    block: Block, inputs: int, width: int, n_blocks: int, stride: int, shortcut: Shortcut = projection
) -> nn.Sequential:
    """Return ``n_blocks`` blocks in a row; the first takes the stride and, if the shape changes, the shortcut."""
    outputs = width * block.expansion
    around = shortcut(inputs, outputs, stride) if stride != 1 or inputs != outputs else None
    first = block(inputs, width, stride, around)
    return nn.Sequential(first, *(block(outputs, width, 1, None) for _ in range(n_blocks - 1)))


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
    classes : int or None, default=1000
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.

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


class ResidualTrunk(ImageNetwork):
    """A first convolution and four stages: what a network for whole images, for pixels or for boxes begins with."""

    strides = (4, 8, 16, 32)
    """Of the maps that ``features`` gives: pixels of the image per pixel of a map, each way."""

    stage_parts = MappingProxyType(
        {"stem": ("conv1", "bn1"), **{name: (name,) for name in ("layer1", "layer2", "layer3", "layer4")}}
    )

    def __init__(self, architecture: Architecture, depth: int, channels: int) -> None:
        super().__init__(architecture)
        block, counts = DEPTHS[depth]
        self.widths = tuple(width * block.expansion for width in WIDTHS)
        self.conv1 = nn.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for number, (width, n_blocks) in enumerate(zip(WIDTHS, counts, strict=True), start=1):
            stage = residual_stage(block, inputs, width, n_blocks, stride=1 if number == 1 else 2)
            self.add_module(f"layer{number}", stage)
            inputs = width * block.expansion
        draw_he_weights(self)

    def features(self, images: Tensor) -> list[Tensor]:
        """Return the maps behind each stage, at strides 4, 8, 16 and 32."""
        maps = relu(self.bn1(self.conv1(images)))  # (B, 64, H/2, W/2)
        maps = max_pool2d(maps, 3, stride=2, padding=1)  # (B, 64, H/4, W/4)
        found = []
        for name in ("layer1", "layer2", "layer3", "layer4"):
            maps = self.get_submodule(name)(maps)
            found.append(maps)
        return found


class ResidualNetwork(ResidualTrunk):
    """The trunk, a mean over the pixels, and a dense layer."""

    stage_parts = MappingProxyType({**ResidualTrunk.stage_parts, "head": ("fc",)})

    def __init__(self, architecture: ResNet) -> None:
        channels, classes = architecture.sizes()
        super().__init__(architecture, architecture.depth, channels)
        self.fc = nn.Linear(self.widths[-1], classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        return self.fc(flattened_mean(self.features(images)[-1]))


@dataclass(frozen=True)
class CifarResNet(ImageArchitecture):
    """Three stages of n blocks with 16, 32 and 64 maps: 6 n + 2 layers with weights.

    Shortcuts have no weights (option A): where the shape changes, every second pixel and zeros for the new maps.

    Parameters
    ----------
    depth : int
        6 n + 2: 20, 32, 44, 56, 110 and 1202 in the paper.
    classes : int or None, default=10
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.

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
