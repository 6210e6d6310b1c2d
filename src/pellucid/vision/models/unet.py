"""U-Net (Ronneberger, Fischer and Brox, 2015): down to few large patterns, up again with what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn

from pellucid.core.kinds.plain import Flag, Number, OneOf, Whole
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork, draw_he_weights

LEVELS = 4
"""How often the maps are pooled on the way down."""

SMALLEST = {"valid": 188, "same": 16}
"""Padding -> the least height and width; further ones are 16 apart, so that all maps that are pooled are even."""


@dataclass(frozen=True)
class UNet(ImageArchitecture):
    """Four levels down and up, two convolutions of 3 x 3 on each: 31,030,658 weights, in 23 convolutions.

    Parameters
    ----------
    classes : int or None, default=2
        Scores of each pixel, one for each class; None: as many as the data have.
    channels : int or None, default=1
        Channels of the images that go in; None: as many as the data have.
    padding : {"valid", "same"}, default="valid"
        "valid", as published: no padding, and the scores are those of the middle of the image (572 x 572 gives 388 x
        388); height and width must be 188 or a multiple of 16 more. "same": scores for all pixels; height and width
        must be multiples of 16.
    width : int, default=64
        Maps on the first level; they double on each.
    dropout : float, default=0.5
        Share of values left out on the lowest level while it trains.
    batch_normalization : bool, default=False
        Whether each convolution of 3 x 3 is followed by batch normalization, which is younger than the paper.

    Examples
    --------
    >>> sum(weight.numel() for weight in UNet().build().parameters())
    31030658
    """

    classes: int | None = 2
    channels: int | None = 1
    padding: str = "valid"
    width: int = 64
    dropout: float = 0.5
    batch_normalization: bool = False

    settings: ClassVar = {
        "classes": CLASSES,
        "channels": CHANNELS,
        "padding": OneOf(("valid", "same")),
        "width": Whole(1, 1024),
        "dropout": Number(low=0, below=1),
        "batch_normalization": Flag(),
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return UNetwork(self)


class UNetwork(ImageNetwork):
    """Levels on the way down, the lowest one, enlargements and levels on the way up, and scores."""

    def __init__(self, architecture: UNet) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        self.size_multiple = 2**LEVELS
        layers = partial(
            two_convolutions,
            padding=1 if architecture.padding == "same" else 0,
            normalized=architecture.batch_normalization,
        )
        widths = [architecture.width * 2**level for level in range(LEVELS + 1)]
        for level, (inputs, outputs) in enumerate(zip([channels, *widths], widths, strict=False), start=1):
            self.add_module(f"down{level}", layers(inputs, outputs))
        for level in range(LEVELS, 0, -1):
            high, low = widths[level - 1], widths[level]
            self.add_module(f"enlarge{level}", nn.ConvTranspose2d(low, high, 2, stride=2))
            self.add_module(f"up{level}", layers(low, high))
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(architecture.dropout)
        draw_he_weights(self)
        self.scores = nn.Conv2d(widths[0], classes, 1)
        way_down = {f"down{level}": (f"down{level}",) for level in range(1, LEVELS + 2)}
        way_up = {f"up{level}": (f"enlarge{level}", f"up{level}") for level in range(LEVELS, 0, -1)}
        self.stage_parts = {**way_down, **way_up, "head": ("scores",)}

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class and pixel: (B, C, H, W) -> (B, classes, H', W')."""
        _check_size(images, self.architecture.padding)  # type: ignore[attr-defined]  # an UNet's
        seen: list[Tensor] = []
        maps = images
        for level in range(1, LEVELS + 1):
            seen.append(self.get_submodule(f"down{level}")(maps))
            maps = self.pool(seen[-1])
        maps = self.dropout(self.get_submodule(f"down{LEVELS + 1}")(maps))
        for level in range(LEVELS, 0, -1):
            maps = self.get_submodule(f"enlarge{level}")(maps)
            maps = torch.cat((middle(seen.pop(), maps), maps), dim=1)
            maps = self.get_submodule(f"up{level}")(maps)
        return self.scores(maps)


def _check_size(images: Tensor, padding: str) -> None:
    """Refuse sizes of which a row would be lost when an odd number of them is pooled."""
    height, width = images.shape[-2:]
    smallest = SMALLEST[padding]
    if min(height, width) < smallest or (height - smallest) % 2**LEVELS or (width - smallest) % 2**LEVELS:
        sizes = ", ".join(str(smallest + step * 2**LEVELS) for step in range(3))
        raise ValueError(
            f"height and width must be of {sizes}, ... for padding={padding!r}, got {height} x {width}. Pad the images."
        )


def two_convolutions(inputs: int, outputs: int, padding: int, normalized: bool = False) -> nn.Sequential:
    """Return two convolutions of 3 x 3, each followed by ReLU, and normalized before it, if so."""
    layers: list[nn.Module] = []
    for maps in (inputs, outputs):
        layers.append(nn.Conv2d(maps, outputs, 3, padding=padding))
        layers += [nn.BatchNorm2d(outputs), nn.ReLU()] if normalized else [nn.ReLU()]
    return nn.Sequential(*layers)


def middle(maps: Tensor, like: Tensor) -> Tensor:
    """Return the middle of the maps, as high and wide as ``like``."""
    (height, width), (inner_height, inner_width) = maps.shape[-2:], like.shape[-2:]
    top, left = (height - inner_height) // 2, (width - inner_width) // 2
    return maps[..., top : top + inner_height, left : left + inner_width]
