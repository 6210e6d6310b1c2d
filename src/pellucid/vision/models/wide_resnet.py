"""Wide residual networks (Zagoruyko and Komodakis, 2016): few blocks with many maps."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import relu

from pellucid.core.kinds.plain import Number, Whole
from pellucid.vision.models.image_network import (
    CHANNELS,
    CLASSES,
    ImageArchitecture,
    ImageNetwork,
    draw_he_weights,
    flattened_mean,
)


@dataclass(frozen=True)
class WideResNet(ImageArchitecture):
    """Three groups of n blocks with 16 k, 32 k and 64 k maps; WRN-28-10 is ``WideResNet(28, 10)``.

    Parameters
    ----------
    depth : int
        6 n + 4: 16, 22, 28 and 40 in the paper.
    widen : int
        The factor k by which the network is wider than a plain residual one.
    classes : int or None, default=10
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    dropout : float, default=0.0
        Share of the maps' values left out between the two convolutions of a block while it trains.

    Examples
    --------
    >>> sum(weight.numel() for weight in WideResNet(16, 4).build().parameters())
    2748890
    """

    depth: int
    widen: int
    classes: int | None = 10
    channels: int | None = 3
    dropout: float = 0.0

    settings: ClassVar = {
        "depth": Whole(10, 1000),
        "widen": Whole(1, 64),
        "classes": CLASSES,
        "channels": CHANNELS,
        "dropout": Number(low=0, below=1),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth % 6 != 4:
            raise ValueError(f"depth must be 6 n + 4, such as 16, 22, 28 or 40, got {self.depth}.")

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return WideResidualNetwork(self)


class WideResidualNetwork(ImageNetwork):
    """A first convolution, three groups, a mean over the pixels, and a dense layer."""

    stage_parts = MappingProxyType(
        {
            "stem": ("conv1",),
            "group1": ("group1",),
            "group2": ("group2",),
            "group3": ("group3", "norm"),
            "head": ("fc",),
        }
    )

    def __init__(self, architecture: WideResNet) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        widths = [architecture.widen * maps for maps in (16, 32, 64)]
        n_blocks, dropout = (architecture.depth - 4) // 6, architecture.dropout
        self.conv1 = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.group1 = wide_group(16, widths[0], n_blocks, 1, dropout)
        self.group2 = wide_group(widths[0], widths[1], n_blocks, 2, dropout)
        self.group3 = wide_group(widths[1], widths[2], n_blocks, 2, dropout)
        self.norm = nn.BatchNorm2d(widths[2])
        draw_he_weights(self)
        self.fc = nn.Linear(widths[2], classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = self.group3(self.group2(self.group1(self.conv1(images))))  # (B, 64 k, H/4, W/4)
        return self.fc(flattened_mean(relu(self.norm(maps))))


class WideBlock(nn.Module):
    """Two convolutions of 3 x 3, each after normalization and ReLU, added to the input."""

    def __init__(self, inputs: int, outputs: int, stride: int, dropout: float) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.dropout = nn.Dropout(dropout)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        same = inputs == outputs and stride == 1
        self.shortcut = None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return x + F(x): (B, C, H, W) -> (B, outputs, H / stride, W / stride)."""
        active = relu(self.norm1(x))
        change = self.dropout(relu(self.norm2(self.conv1(active))))
        return self.conv2(change) + (x if self.shortcut is None else self.shortcut(active))


def wide_group(inputs: int, outputs: int, n_blocks: int, stride: int, dropout: float) -> nn.Sequential:
    """Return blocks in a row; the first takes the stride and the new number of maps."""
    first = WideBlock(inputs, outputs, stride, dropout)
    return nn.Sequential(first, *(WideBlock(outputs, outputs, 1, dropout) for _ in range(n_blocks - 1)))
