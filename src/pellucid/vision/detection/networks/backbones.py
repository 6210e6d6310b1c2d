"""Backbones: the first part of a detector, from images to feature maps at several strides, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import relu

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import OneOf, OneOfWholes, Whole
from pellucid.core.kinds.records import Configured, ConfiguredByName
from pellucid.vision.models.efficientnet import BRIGHTNESS, EfficientNetLite0, EfficientTrunk
from pellucid.vision.models.image_network import draw_he_weights
from pellucid.vision.models.resnet import DEPTHS, BasicBlock, ResidualTrunk, ResNet, residual_stage

NORMALIZATIONS = ("batch", "group", "frozen")
GROUP = 8
"""Maps that a group normalization looks at together."""


class FrozenNormalization(nn.Module):
    """Batch normalization by statistics that do not move: numbers to load, none to learn, as torchvision has it."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, maps: int, tiny: float = 1e-5) -> None:
        super().__init__()
        self.tiny = tiny
        for name, start in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
            self.register_buffer(name, torch.full((maps,), start))

    def forward(self, maps: Tensor) -> Tensor:
        """Return the maps shifted and scaled: one product and one sum."""
        scale = self.weight * (self.running_var + self.tiny).rsqrt()
        shift = self.bias - self.running_mean * scale
        return maps * scale[:, None, None] + shift[:, None, None]


def normalization(kind: str, maps: int, tiny: float = 1e-5) -> nn.Module:
    """Return a layer of this kind; of few images in a batch, groups of maps tell more than the batch does."""
    if kind == "batch":
        return nn.BatchNorm2d(maps, eps=tiny)
    return FrozenNormalization(maps, tiny) if kind == "frozen" else nn.GroupNorm(max(1, maps // GROUP), maps)


def use_normalization(module: nn.Module, kind: str) -> None:
    """Put layers of a kind in the place of all batch normalizations of a module."""
    for name, layer in list(module.named_modules()):
        if isinstance(layer, nn.BatchNorm2d) and kind != "batch":
            module.set_submodule(name, normalization(kind, layer.num_features, layer.eps))


@dataclass(frozen=True)
class ResNetBody(Configured):
    """A residual network of the zoo without its head, under torchvision's names."""

    depth: int = 50
    """Layers with weights of the whole network: 18, 34, 50, 101 or 152."""
    normalization: str = "frozen"
    """How maps are normalized: "frozen" for weights learned elsewhere; "group" or "batch" to learn from scratch."""

    settings: ClassVar = {"depth": OneOfWholes(tuple(DEPTHS)), "normalization": OneOf(NORMALIZATIONS)}

    @property
    def maps(self) -> tuple[int, ...]:
        """How many maps come out at strides 4, 8, 16 and 32."""
        expansion = DEPTHS[self.depth][0].expansion
        return tuple(width * expansion for width in (64, 128, 256, 512))

    def build(self, channels: int) -> nn.Module:
        """Return the module: images -> four maps."""
        module = ResNetMaps(ResNet(self.depth, channels=channels), self.depth, channels)
        use_normalization(module, self.normalization)
        return module


class ResNetMaps(ResidualTrunk):
    """Every stage's maps, and no scores."""

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return maps at strides 4, 8, 16 and 32."""
        return self.features(images)


@dataclass(frozen=True)
class EfficientNetBody(Configured):
    """EfficientNet-Lite0 without its head; ``Detector(initial_weights="imagenet")`` takes the package's weights."""

    normalization: str = "batch"
    """How maps are normalized: by each "batch", or by the "frozen" statistics of the weights that it starts from."""

    settings: ClassVar = {"normalization": OneOf(("batch", "frozen"))}
    brightness: ClassVar = (BRIGHTNESS[0] / 255.0, BRIGHTNESS[1] / 255.0)

    @property
    def maps(self) -> tuple[int, ...]:
        """How many maps come out at strides 4, 8, 16 and 32."""
        return EfficientTrunk.widths

    def build(self, channels: int) -> nn.Module:
        """Return the module: images -> four maps."""
        module = EfficientMaps(EfficientNetLite0(channels=channels), channels)
        use_normalization(module, self.normalization)
        return module


class EfficientMaps(EfficientTrunk):
    """Maps of four stages, and no scores."""

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return maps at strides 4, 8, 16 and 32."""
        return self.features(images)


@dataclass(frozen=True)
class SmallBody(Configured):
    """A small residual network for made scenes and tests: a convolution, then a stage of blocks for each width."""

    widths: tuple[int, ...] = (24, 48, 96, 128)
    """Maps of each stage, at strides 4, 8, 16, ...: one for each width."""
    blocks: int = 1
    """Residual blocks of each stage, 1 to 64."""
    normalization: str = "batch"
    """How maps are normalized: "batch" or "group" to learn from scratch; "frozen" for weights learned elsewhere."""

    settings: ClassVar = {
        "widths": Items(Whole(1, 4096)),
        "blocks": Whole(1, 64),
        "normalization": OneOf(NORMALIZATIONS),
    }

    @property
    def maps(self) -> tuple[int, ...]:
        """How many maps come out at strides 4, 8, ..."""
        return self.widths

    def build(self, channels: int) -> nn.Module:
        """Return the module: images -> a list of maps."""
        module = SmallMaps(channels, self.widths, self.blocks)
        use_normalization(module, self.normalization)
        draw_he_weights(module)
        return module


class SmallMaps(nn.Module):
    """A convolution at stride 2, and residual stages that halve the maps."""

    def __init__(self, channels: int, widths: tuple[int, ...], blocks: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, widths[0], 5, stride=2, padding=2, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        inputs = (widths[0], *widths)
        self.stages = nn.ModuleList(
            residual_stage(BasicBlock, before, width, blocks, stride=2)
            for before, width in zip(inputs, widths, strict=False)
        )

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return maps at strides 4, 8, ..."""
        maps = relu(self.bn1(self.conv1(images)))
        found = []
        for stage in self.stages:
            maps = stage(maps)
            found.append(maps)
        return found


BODIES = ConfiguredByName(
    "body",
    {
        "EfficientNetBody": __name__,
        "ResNetBody": __name__,
        "SmallBody": __name__,
    },
)


@dataclass(frozen=True)
class FeaturePyramid(Configured):
    """A pyramid (Lin 2017): every map is told by a path from above what stands around it; all get as many maps.

    Parameters
    ----------
    body : ResNetBody, SmallBody or EfficientNetBody
        From images to maps.
    maps : int, default=256
        Maps on each level of the pyramid.
    first : int, default=0
        First map of the body that is used: 0 has stride 4, 1 has stride 8.
    more : {"pool", "convolutions", "none"}, default="pool"
        What coarser levels are added: none, one by leaving out pixels (Faster R-CNN), two by convolutions (RetinaNet).
    """

    body: ResNetBody | SmallBody | EfficientNetBody = ResNetBody()
    maps: int = 256
    first: int = 0
    more: str = "pool"

    settings: ClassVar = {
        "body": BODIES,
        "maps": Whole(1, 4096),
        "first": Whole(0, 8),
        "more": OneOf(("pool", "convolutions", "none")),
    }

    @property
    def levels(self) -> tuple[int, ...]:
        """How many maps each level has."""
        count = len(self.body.maps) - self.first + {"pool": 1, "convolutions": 2, "none": 0}[self.more]
        return (self.maps,) * count

    @property
    def strides(self) -> tuple[int, ...]:
        """Pixels of the image between two places of each level."""
        return tuple(4 * 2 ** (self.first + level) for level in range(len(self.levels)))

    def build(self, channels: int) -> nn.Module:
        """Return the module: images -> a list of maps, from fine to coarse."""
        return PyramidNetwork(self, channels)


class PyramidNetwork(nn.Module):
    """A body and the pyramid on it."""

    def __init__(self, settings: FeaturePyramid, channels: int) -> None:
        super().__init__()
        self.first = settings.first
        self.body = settings.body.build(channels)
        self.fpn = PyramidLayers(settings.body.maps[settings.first :], settings.maps, settings.more)

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the levels from fine to coarse."""
        return self.fpn(self.body(images)[self.first :])  # type: ignore[no-any-return]


class PyramidLayers(nn.Module):
    """The path from above: each level is its own map by 1 x 1, plus the coarser level enlarged, smoothed by 3 x 3."""

    def __init__(self, inputs: tuple[int, ...], maps: int, more: str) -> None:
        super().__init__()
        self.inner_blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(count, maps, 1)) for count in inputs)
        self.layer_blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(maps, maps, 3, padding=1)) for _ in inputs)
        self.more = more
        if more == "convolutions":
            halved = {name: nn.Conv2d(maps, maps, 3, stride=2, padding=1) for name in ("p6", "p7")}
            self.extra_blocks = nn.ModuleDict(halved)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_uniform_(layer.weight, a=1)
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # there is one

    def forward(self, maps: list[Tensor]) -> list[Tensor]:
        """Return one level for each map, and the coarser ones."""
        inner = self.inner_blocks[-1](maps[-1])
        found = [self.layer_blocks[-1](inner)]
        for k in range(len(maps) - 2, -1, -1):
            side = self.inner_blocks[k](maps[k])
            inner = side + functional.interpolate(inner, size=side.shape[-2:], mode="nearest")
            found.insert(0, self.layer_blocks[k](inner))
        if self.more == "pool":
            found.append(found[-1][:, :, ::2, ::2])
        elif self.more == "convolutions":
            found.append(self.extra_blocks["p6"](found[-1]))
            found.append(self.extra_blocks["p7"](relu(found[-1])))
        return found


PYRAMIDS = ConfiguredByName("backbone", {"FeaturePyramid": __name__})
