"""Fully convolutional networks (Long, Shelhamer and Darrell, 2015): a class for every pixel, on VGG-16."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from pellucid.core.kinds.plain import Flag, OneOfWholes, Whole
from pellucid.vision.models.dense_as_convolution import convolution_weight
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork, draw_he_weights
from pellucid.vision.models.vgg import blocks_with_weights, vgg_features

BORDER = 100
"""Zeros around the image, so that the scores of small images are large enough to be cut out."""

SKIPS = {32: (), 16: ("pool4",), 8: ("pool4", "pool3")}
"""Stride of the scores -> earlier maps that are scored too, and added."""

POOLED = {"pool3": (4, 0.0001, 9), "pool4": (8, 0.01, 5)}
"""Maps in units of the width, the factor by which the authors shrink them to train all strides at once, and where the
cut begins. Normalized maps need no shrinking."""

FINAL_CUT = {32: 19, 16: 27, 8: 31}
"""Row and column of the last scores at which the image begins."""


@dataclass(frozen=True)
class FCN(ImageArchitecture):
    """VGG-16 whose dense layers are convolutions; scores are enlarged by transposed convolutions.

    Parameters
    ----------
    stride : {32, 16, 8}
        FCN-32s enlarges the last scores 32 times; FCN-16s and FCN-8s add scores of finer maps on the way.
    classes : int or None, default=21
        Scores of each pixel, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    width : int, default=64
        Maps of the first block; later blocks and the dense layers grow with it. 64 is VGG-16.
    batch_normalization : bool, default=False
        Whether each convolution of the trunk is followed by batch normalization: without weights of a VGG to start
        from, it does not learn otherwise.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):  # names and shapes, no memory
    ...     FCN(8).build()(torch.empty(1, 3, 64, 80)).shape
    torch.Size([1, 21, 64, 80])
    """

    stride: int
    classes: int | None = 21
    channels: int | None = 3
    width: int = 64
    batch_normalization: bool = False

    settings: ClassVar = {
        "stride": OneOfWholes(tuple(SKIPS)),
        "classes": CLASSES,
        "channels": CHANNELS,
        "width": Whole(1, 1024),
        "batch_normalization": Flag(),
    }

    def build(self) -> nn.Module:
        """Return the network with random weights; scores start at 0 and are enlarged bilinearly."""
        return FullyConvolutionalNetwork(self)


class FullyConvolutionalNetwork(ImageNetwork):
    """VGG's blocks under VGG's names, two convolutions in place of dense layers, scores, enlargement."""

    def __init__(self, architecture: FCN) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        self.skips = SKIPS[architecture.stride]
        self.final_cut = FINAL_CUT[architecture.stride]
        width, self.normalized = architecture.width, architecture.batch_normalization
        widths = [width * multiple for multiple in (1, 2, 4, 8, 8)]
        self.features = vgg_features("D", channels, self.normalized, BORDER, ceil_mode=True, widths=widths)
        self.fc6 = nn.Conv2d(8 * width, 64 * width, 7)
        self.fc7 = nn.Conv2d(64 * width, 64 * width, 1)
        self.dropout = nn.Dropout2d()
        draw_he_weights(self)
        self.scores = nn.ModuleDict({"pool5": zero_scores(64 * width, classes)})
        self.enlarge = nn.ModuleDict()
        for skip in self.skips:
            self.scores[skip] = zero_scores(POOLED[skip][0] * width, classes)
            self.enlarge[skip] = bilinear_enlargement(classes, 2)
        self.enlarge["image"] = bilinear_enlargement(classes, architecture.stride)
        dense = {"fc6": ("fc6",), "fc7": ("fc7",), "scores": ("scores", "enlarge")}
        self.stage_parts = {**blocks_with_weights(self.features), **dense}

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class and pixel: (B, C, H, W) -> (B, classes, H, W)."""
        pooled = self.pooled_maps(images)
        maps = self.dropout(relu(self.fc6(pooled["pool5"])))
        maps = self.dropout(relu(self.fc7(maps)))
        scores = self.scores["pool5"](maps)
        for skip in self.skips:
            _, factor, cut = POOLED[skip]
            scores = self.enlarge[skip](scores)
            seen = pooled[skip] if self.normalized else factor * pooled[skip]
            scores = scores + cut_out(self.scores[skip](seen), cut, scores)
        return cut_out(self.enlarge["image"](scores), self.final_cut, images)

    def pooled_maps(self, images: Tensor) -> dict[str, Tensor]:
        """Return the maps behind each pooling, by name."""
        found: dict[str, Tensor] = {}
        maps = images
        for layer in self.features:
            maps = layer(maps)
            if isinstance(layer, nn.MaxPool2d):
                found[f"pool{len(found) + 1}"] = maps
        return found


def weights_from_vgg(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of ``VGG("D")`` under the names and in the shapes of an FCN: dense layers as convolutions."""
    found = {name: weight for name, weight in weights.items() if name.startswith("features.")}
    found["fc6.weight"] = convolution_weight(weights["classifier.0.weight"], (7, 7))
    found["fc7.weight"] = convolution_weight(weights["classifier.3.weight"], (1, 1))
    return {**found, "fc6.bias": weights["classifier.0.bias"], "fc7.bias": weights["classifier.3.bias"]}


def cut_out(maps: Tensor, begin: int, like: Tensor) -> Tensor:
    """Return the part of the maps that starts at ``begin``, as high and wide as ``like``."""
    height, width = like.shape[-2:]
    return maps[..., begin : begin + height, begin : begin + width]


def zero_scores(maps: int, classes: int) -> nn.Conv2d:
    """Return a convolution of 1 x 1 that gives 0 until it is trained."""
    layer = nn.Conv2d(maps, classes, 1)
    nn.init.zeros_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def bilinear_enlargement(maps: int, factor: int) -> nn.ConvTranspose2d:
    """Return a transposed convolution that enlarges each map by interpolation, until training changes it."""
    layer = nn.ConvTranspose2d(maps, maps, 2 * factor, factor, bias=False)
    with torch.no_grad():
        layer.weight.zero_()
        layer.weight[range(maps), range(maps)] = bilinear_kernel(factor)
    return layer


def bilinear_kernel(factor: int) -> Tensor:
    """Return the square of 2 ``factor`` numbers by which neighboring pixels are mixed.

    Examples
    --------
    >>> bilinear_kernel(2)[0] * 16
    tensor([1., 3., 3., 1.])
    """
    position = torch.arange(2 * factor, dtype=torch.float32) - (factor - 0.5)
    hat = 1.0 - position.abs() / factor
    return hat[:, None] * hat[None, :]
