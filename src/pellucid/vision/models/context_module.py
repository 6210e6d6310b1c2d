"""The dilated context module (Yu and Koltun, 2015): scores see far without losing a pixel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from pellucid.core.kinds.plain import OneOf
from pellucid.neural_network.architecture import Architecture
from pellucid.vision.models.image_network import CLASSES, ImageNetwork

DILATIONS = (1, 1, 2, 4, 8, 16, 1)
"""Of the convolutions of 3 x 3; together they see 67 x 67 pixels."""

WIDTHS = {"basic": (1, 1, 1, 1, 1, 1, 1, 1), "large": (2, 2, 4, 8, 16, 32, 32, 1)}
"""Form -> maps of each layer, as a multiple of the number of classes (Table 1 of the paper)."""

NOISE = 0.001
"""Standard deviation of the entries of the large form that are not part of the identity."""


@dataclass(frozen=True)
class ContextModule(Architecture):
    """Seven convolutions that see twice as far each time, and one of 1 x 1; it starts as the identity.

    It takes as many maps as there are classes, none of them negative, and returns scores of the same shape.

    Parameters
    ----------
    classes : int or None, default=21
        Maps that go in and come out; None: as the data have.
    form : {"basic", "large"}, default="basic"
        "large" has up to 32 times as many maps in the layers between.

    Examples
    --------
    >>> maps = torch.rand(1, 3, 8, 8)
    >>> bool((ContextModule(classes=3).build()(maps) == maps).all())
    True
    """

    classes: int | None = 21
    form: str = "basic"

    settings: ClassVar = {"classes": CLASSES, "form": OneOf(tuple(WIDTHS))}

    def for_data(self, shape: tuple[int, ...], outputs: int) -> Self:
        """Return the same module for maps of ``shape`` (classes, height, width)."""
        return replace(self, classes=outputs) if self.classes is None else self

    def build(self) -> nn.Module:
        """Return the module, which passes maps on as they are until it is trained."""
        return ContextNetwork(self)


class ContextNetwork(ImageNetwork):
    """The layers in a row."""

    def __init__(self, architecture: ContextModule) -> None:
        super().__init__(architecture)
        classes = architecture.classes
        if classes is None:
            raise ValueError("classes must be a number to build a ContextModule. Set it, or use for_data.")
        inputs = classes
        layers: list[nn.Module] = []
        for multiple, dilation in zip(WIDTHS[architecture.form], (*DILATIONS, None), strict=True):
            layers += [dilated(inputs, multiple * classes, dilation) if dilation else nn.Conv2d(inputs, classes, 1)]
            start_as_identity(layers[-1], classes)  # type: ignore[arg-type]  # a convolution
            layers += [nn.ReLU()] if dilation else []
            inputs = multiple * classes
        self.layers = nn.Sequential(*layers)
        names = [f"layers.{2 * number}" for number in range(len(DILATIONS) + 1)]
        self.stage_parts = {f"layer{number}": (name,) for number, name in enumerate(names, start=1)}

    def forward(self, maps: Tensor) -> Tensor:
        """Return scores: (B, classes, H, W) -> (B, classes, H, W)."""
        return self.layers(maps)


def dilated(inputs: int, outputs: int, dilation: int) -> nn.Conv2d:
    """Return a convolution of 3 x 3 that keeps the size of its maps."""
    return nn.Conv2d(inputs, outputs, 3, padding=dilation, dilation=dilation)


def start_as_identity(layer: nn.Conv2d, classes: int) -> None:
    """Let each output map take its share of the input maps of its class, at the middle of the kernel.

    With C classes and c output maps the share is C / c, so that all layers together pass maps on as they are. If a
    class has several maps, the other entries are small noise, without which these maps would stay alike.
    """
    outputs, inputs, *size = layer.weight.shape
    row_class = torch.arange(outputs) * classes // outputs
    column_class = torch.arange(inputs) * classes // inputs
    same = (row_class[:, None] == column_class[None, :]).to(layer.weight.dtype)
    with torch.no_grad():
        if inputs == outputs == classes:
            layer.weight.zero_()
        else:
            layer.weight.normal_(0.0, NOISE)
            layer.weight[:, :, size[0] // 2, size[1] // 2] *= 1.0 - same
        layer.weight[:, :, size[0] // 2, size[1] // 2] += same * (classes / outputs)
        if layer.bias is not None:
            layer.bias.zero_()
