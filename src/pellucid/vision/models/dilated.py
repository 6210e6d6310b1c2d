"""A dilated network (after Yu and Koltun, 2015): a front end that keeps its maps large, and the context module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import interpolate, softplus

from pellucid.core.kinds.plain import Number, OneOf, OneOfWholes, Whole
from pellucid.vision.models.context_module import WIDTHS as FORMS
from pellucid.vision.models.context_module import ContextModule, dilated
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork, draw_he_weights

BLOCKS = ((2, 1), (2, 2), (3, 4), (3, 8), (3, 8))
"""Convolutions of 3 x 3 in each block of VGG-16, and their maps in units of the width."""


@dataclass(frozen=True)
class DilatedNetwork(ImageArchitecture):
    """VGG-16's blocks with dilation in place of the last poolings, scores, and a context module behind them.

    Every convolution of the front end is followed by batch normalization, so that it learns without weights to start
    from; in place of VGG's dense layer of 7 x 7 stands one of 3 x 3.

    Parameters
    ----------
    classes : int or None, default=21
        Scores of each pixel, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    width : int, default=32
        Maps of the first block; 64 in the paper.
    stride : {8, 4, 2}, default=8
        Pixels of the image per pixel of the scores, each way. 8 in the paper; small images need a smaller one. Each
        pooling that is left out doubles the dilation of all that follows: every layer sees as much of the image.
    form : {"basic", "large"}, default="large"
        Of the context module.
    dropout : float, default=0.5
        Share of the maps left out before the scores while it trains.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):  # names and shapes, no memory
    ...     DilatedNetwork(11).build()(torch.empty(1, 3, 50, 70)).shape
    torch.Size([1, 11, 50, 70])
    """

    classes: int | None = 21
    channels: int | None = 3
    width: int = 32
    stride: int = 8
    form: str = "large"
    dropout: float = 0.5

    settings: ClassVar = {
        "classes": CLASSES,
        "channels": CHANNELS,
        "width": Whole(1, 1024),
        "stride": OneOfWholes((8, 4, 2)),
        "form": OneOf(tuple(FORMS)),
        "dropout": Number(low=0, below=1),
    }

    def build(self) -> nn.Module:
        """Return the network with random weights; the context module starts as the identity, or near it."""
        return DilatedPixelNetwork(self)


class DilatedPixelNetwork(ImageNetwork):
    """Front end and context module."""

    def __init__(self, architecture: DilatedNetwork) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        layers: list[nn.Module] = []
        inputs, reach, stride = channels, 1, 1
        for n_convolutions, multiple in BLOCKS:
            for _ in range(n_convolutions):
                layers += _normalized(inputs, multiple * architecture.width, reach)
                inputs = multiple * architecture.width
            if stride < architecture.stride:
                layers.append(nn.MaxPool2d(2, ceil_mode=True))
                stride *= 2
            else:
                reach *= 2  # a pooling left out
        self.features = nn.Sequential(*layers)
        self.fc6 = nn.Sequential(*_normalized(inputs, 2 * inputs, reach))
        self.fc7 = nn.Sequential(nn.Conv2d(2 * inputs, 2 * inputs, 1), nn.ReLU(), nn.Dropout2d(architecture.dropout))
        draw_he_weights(self)
        self.scores = nn.Conv2d(2 * inputs, classes, 1)
        self.context = ContextModule(classes, architecture.form).build()
        own = ("features", "fc6", "fc7", "scores")
        self.stage_parts = {**{name: (name,) for name in own}, "context": ("context",)}

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class and pixel: (B, C, H, W) -> (B, classes, H, W)."""
        scores = self.scores(self.fc7(self.fc6(self.features(images))))  # (B, classes, H / stride, W / stride)
        scores = self.context(softplus(scores))  # its identity passes on what is not negative; ReLU would kill classes
        return interpolate(scores, images.shape[-2:], mode="bilinear", align_corners=False)


def _normalized(inputs: int, outputs: int, reach: int) -> list[nn.Module]:
    return [dilated(inputs, outputs, reach), nn.BatchNorm2d(outputs), nn.ReLU()]
