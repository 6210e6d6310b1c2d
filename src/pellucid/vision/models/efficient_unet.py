"""A light decoder on EfficientNet-Lite0: maps of five sizes joined from small to large, as in a U-Net."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from pellucid.core.kinds.plain import Number, OneOfWholes, Whole
from pellucid.vision.models.efficientnet import BRIGHTNESS, STAGES, EfficientTrunk
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork, draw_he_weights
from pellucid.vision.models.unet import two_convolutions

JOINED = (4, 2, 1, 0)
"""Stages whose maps join on the way up, at strides 16, 8, 4 and 2."""

SHARES = (8, 4, 2, 1)
"""Maps of the way up at these strides, in units of the width."""


@dataclass(frozen=True)
class EfficientUNet(ImageArchitecture):
    """EfficientNet-Lite0 on the way down, two convolutions a size on the way up.

    Images have white at 1; they are brought to the brightness that the published weights expect.

    Parameters
    ----------
    classes : int or None, default=21
        Scores of each pixel, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    width : int, default=32
        Maps of the way up at half the size of the image; they double on each step down.
    enlarge : {1, 2, 4}, default=1
        By how much the image is enlarged first: small images have small objects, and the trunk has seen large ones.
    dropout : float, default=0.2
        Share of the maps left out before the scores while it trains.

    Examples
    --------
    >>> with torch.device("meta"):  # names and shapes, no memory
    ...     EfficientUNet(11).build()(torch.empty(1, 3, 50, 70)).shape
    torch.Size([1, 11, 50, 70])
    """

    classes: int | None = 21
    channels: int | None = 3
    width: int = 32
    enlarge: int = 1
    dropout: float = 0.2

    settings: ClassVar = {
        "classes": CLASSES,
        "channels": CHANNELS,
        "width": Whole(1, 1024),
        "enlarge": OneOfWholes((1, 2, 4)),
        "dropout": Number(low=0, below=1),
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return EfficientPixelNetwork(self)


class EfficientPixelNetwork(ImageNetwork):
    """The trunk, steps up, and scores at half the size of the enlarged image."""

    def __init__(self, architecture: EfficientUNet) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        self.enlarge = architecture.enlarge
        self.trunk = EfficientTrunk(architecture, channels)
        inputs = STAGES[-1].width
        self.up = nn.ModuleList()
        for stage, share in zip(JOINED, SHARES, strict=True):
            outputs = share * architecture.width
            self.up.append(two_convolutions(inputs + STAGES[stage].width, outputs, padding=1, normalized=True))
            inputs = outputs
        draw_he_weights(self.up)
        self.dropout = nn.Dropout2d(architecture.dropout)
        self.scores = nn.Conv2d(inputs, classes, 1)
        trunk = {name: tuple(f"trunk.{part}" for part in own) for name, own in self.trunk.stage_parts.items()}
        self.stage_parts = {**trunk, "up": ("up",), "head": ("scores",)}

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class and pixel: (B, C, H, W) -> (B, classes, H, W)."""
        dark, spread = BRIGHTNESS
        height, width = images.shape[-2:]
        seen = (255.0 * images - dark) / spread
        if self.enlarge > 1:
            seen = _resized(seen, (self.enlarge * height, self.enlarge * width))
        found = self.trunk.all_maps(seen)
        maps = found[-1]
        for stage, layers in zip(JOINED, self.up, strict=True):
            maps = layers(torch.cat((_resized(maps, found[stage].shape[-2:]), found[stage]), dim=1))
        return _resized(self.scores(self.dropout(maps)), (height, width))


def _resized(maps: Tensor, size: tuple[int, ...]) -> Tensor:
    return interpolate(maps, tuple(size), mode="bilinear", align_corners=False)
