"""A residual network that scores every pixel: strides traded for dilation, two heads, as torchvision has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import interpolate

from pellucid.core.kinds.plain import Flag, OneOfWholes
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork
from pellucid.vision.models.resnet import Bottleneck, ResidualTrunk


@dataclass(frozen=True)
class ResNetFCN(ImageArchitecture):
    """A fully convolutional network on a residual one whose last maps are an eighth of the image, each way.

    Names and weights are those of torchvision's ``fcn_resnet50`` and ``fcn_resnet101``.

    Parameters
    ----------
    depth : {50, 101}
        Layers with weights of the trunk.
    classes : int or None, default=21
        Scores of each pixel, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    auxiliary : bool, default=True
        Whether a second head scores the maps before the last stage; only training listens to it.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):  # names and shapes, no memory
    ...     sum(weight.numel() for weight in ResNetFCN(50).build().parameters())
    35322218
    """

    depth: int
    classes: int | None = 21
    channels: int | None = 3
    auxiliary: bool = True

    settings: ClassVar = {
        "depth": OneOfWholes((50, 101)),
        "classes": CLASSES,
        "channels": CHANNELS,
        "auxiliary": Flag(),
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return ResidualPixelNetwork(self)


class ResidualPixelNetwork(ImageNetwork):
    """The trunk with dilation, and a head on its last maps; another one on those before."""

    def __init__(self, architecture: ResNetFCN) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        self.backbone = ResidualTrunk(architecture, architecture.depth, channels)
        trade_stride(self.backbone.get_submodule("layer3").children(), dilation=1)  # type: ignore[arg-type]
        trade_stride(self.backbone.get_submodule("layer4").children(), dilation=2)  # type: ignore[arg-type]
        *_, before, last = self.backbone.widths
        self.classifier = _head(last, classes)
        self.aux_classifier = _head(before, classes) if architecture.auxiliary else None
        parts = {name: tuple(f"backbone.{part}" for part in own) for name, own in self.backbone.stage_parts.items()}
        auxiliary = {"auxiliary head": ("aux_classifier",)} if architecture.auxiliary else {}
        heads = {"head": ("classifier.0", "classifier.1", "classifier.4")}
        self.stage_parts = MappingProxyType({**parts, **auxiliary, **heads})

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class and pixel: (B, C, H, W) -> (B, classes, H, W)."""
        return _enlarged(self.classifier(self.backbone.features(images)[-1]), images)

    def both_scores(self, images: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the scores of both heads; training adds half the loss of the second."""
        *_, before, last = self.backbone.features(images)
        second = None if self.aux_classifier is None else _enlarged(self.aux_classifier(before), images)
        return _enlarged(self.classifier(last), images), second


def trade_stride(blocks: Iterator[Bottleneck], dilation: int) -> None:
    """Let a stage keep the size of its maps: its stride goes, and blocks behind it look twice as far apart.

    The weights are those of the network with strides: what each sees of the image is the same.
    """
    for number, block in enumerate(blocks):
        reach = dilation if number == 0 else 2 * dilation
        block.conv2.stride, block.conv2.dilation, block.conv2.padding = (1, 1), (reach, reach), (reach, reach)
        if block.downsample is not None:
            block.downsample[0].stride = (1, 1)  # type: ignore[index]  # a projection


def _head(maps: int, classes: int) -> nn.Sequential:
    inner = maps // 4
    first = nn.Conv2d(maps, inner, 3, padding=1, bias=False)
    return nn.Sequential(first, nn.BatchNorm2d(inner), nn.ReLU(), nn.Dropout(0.1), nn.Conv2d(inner, classes, 1))


def _enlarged(scores: Tensor, images: Tensor) -> Tensor:
    return interpolate(scores, images.shape[-2:], mode="bilinear", align_corners=False)
