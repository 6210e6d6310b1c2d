"""AlexNet (Krizhevsky, Sutskever and Hinton, 2012) in the form with one tower (Krizhevsky, 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor, nn

from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork


@dataclass(frozen=True)
class AlexNet(ImageArchitecture):
    """Five convolutions, three dense layers: 61,100,840 weights. Their names are those of torchvision.

    This is the form with one tower that torchvision has too (Krizhevsky, "One weird trick", 2014), with 64, 192, 384,
    256 and 256 maps. The network of 2012 was split over two cards, and had 96, 256, 384, 384 and 256 maps and
    normalization between neighboring maps. Made for images of 224 x 224.

    Parameters
    ----------
    classes : int or None, default=1000
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.

    Examples
    --------
    >>> sum(weight.numel() for weight in AlexNet().build().parameters())
    61100840
    """

    classes: int | None = 1000
    channels: int | None = 3

    settings: ClassVar = {"classes": CLASSES, "channels": CHANNELS}

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return AlexNetwork(self)


class AlexNetwork(ImageNetwork):
    """Convolutions with pooling after the first, second and fifth, then dense layers with dropout."""

    stage_parts = MappingProxyType(
        {
            **{f"conv{number}": (f"features.{at}",) for number, at in enumerate((0, 3, 6, 8, 10), start=1)},
            "fc6": ("classifier.1",),
            "fc7": ("classifier.4",),
            "head": ("classifier.6",),
        }
    )

    def __init__(self, architecture: AlexNet) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        self.features = nn.Sequential(
            *(nn.Conv2d(channels, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(192, 384, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(384, 256, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2)),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(6)
        self.classifier = nn.Sequential(
            *(nn.Dropout(), nn.Linear(256 * 6 * 6, 4096), nn.ReLU()),
            *(nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU()),
            nn.Linear(4096, classes),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = self.avgpool(self.features(images))  # (B, 256, 6, 6)
        return self.classifier(torch.flatten(maps, 1))
