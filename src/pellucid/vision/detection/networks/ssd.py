"""SSD (Liu 2016): boxes and classes from maps of several strides, each for objects of its size; hard negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Nothing, Number, Whole
from pellucid.core.kinds.records import Configured, ConfiguredByName
from pellucid.vision.detection.boxes.anchors import default_boxes
from pellucid.vision.detection.boxes.box_coding import BoxCoding
from pellucid.vision.detection.boxes.box_geometry import clip_boxes
from pellucid.vision.detection.boxes.matching import match_anchors
from pellucid.vision.detection.networks.backbones import SmallBody
from pellucid.vision.detection.networks.detection_losses import hard_negatives
from pellucid.vision.detection.networks.detection_network import (
    SIDE,
    DetectionNetwork,
    DetectorArchitecture,
    Found,
    Objects,
    Sized,
    best_boxes,
    tensors_of,
)
from pellucid.vision.detection.networks.region_proposals import encoded, rows_of
from pellucid.vision.models.image_network import CHANNELS, CLASSES, draw_he_weights
from pellucid.vision.models.vgg import vgg_features

CODING = BoxCoding((10.0, 10.0, 5.0, 5.0))
MATCHED = 0.5
NEGATIVES = 3.0
"""Anchors of background that count, for each with an object: the worst ones."""

THRESHOLD, OVERLAP, MOST_PER_CLASS, MOST = 0.01, 0.45, 400, 200
MEAN = (0.48235, 0.45882, 0.40784)
"""Of the channels of photographs, as the authors' VGG took them; white is 255 there."""

START_SCALE = 20.0
"""Length to which the values of a place of the first map are brought, before that is learned."""


@dataclass(frozen=True)
class VGGScales(Configured):
    """VGG-16 and six maps of falling size, for images of 300 x 300: the backbone of SSD300."""

    settings: ClassVar = {}

    @property
    def maps(self) -> tuple[int, ...]:
        """How many maps each level has."""
        return (512, 1024, 512, 256, 256, 256)

    def build(self, channels: int) -> nn.Module:
        """Return the module: images -> six maps."""
        return VGGScaleMaps(channels)


class VGGScaleMaps(nn.Module):
    """The layers of VGG-16 up to conv4_3; the rest with dilated convolutions; four steps that halve or shave."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        layers = list(vgg_features("D", channels))
        pools = [k for k, layer in enumerate(layers) if isinstance(layer, nn.MaxPool2d)]
        layers[pools[2]] = nn.MaxPool2d(2, ceil_mode=True)  # 75 places become 38
        dilated = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1),
            *(nn.Conv2d(512, 1024, 3, padding=6, dilation=6), nn.ReLU()),
            *(nn.Conv2d(1024, 1024, 1), nn.ReLU()),
        )
        steps: tuple[tuple[int, int, int, dict[str, int]], ...] = (
            (1024, 256, 512, {"padding": 1, "stride": 2}),
            (512, 128, 256, {"padding": 1, "stride": 2}),
            (256, 128, 256, {}),
            (256, 128, 256, {}),
        )
        self.features = nn.Sequential(*layers[: pools[3]])
        self.scale_weight = nn.Parameter(torch.full((512,), START_SCALE))
        self.extra = nn.ModuleList([nn.Sequential(*layers[pools[3] : pools[4]], dilated)])
        for inputs, inner, outputs, how in steps:
            narrow, wide = nn.Conv2d(inputs, inner, 1), nn.Conv2d(inner, outputs, 3, **how)  # type: ignore[arg-type]  # padding and stride
            self.extra.append(nn.Sequential(narrow, nn.ReLU(), wide, nn.ReLU()))
        draw_he_weights(self)

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return six maps, from fine to coarse."""
        maps = self.features(images)
        found = [self.scale_weight[:, None, None] * functional.normalize(maps)]
        for step in self.extra:
            maps = step(maps)
            found.append(maps)
        return found


BACKBONES = ConfiguredByName(
    "backbone", {"SmallBody": "pellucid.vision.detection.networks.backbones", "VGGScales": __name__}
)


@dataclass(frozen=True)
class SSD(DetectorArchitecture):
    """Single shot detector. With its defaults the weights are torchvision's (``ssd300_vgg16``) by name and shape.

    Parameters
    ----------
    backbone : VGGScales or SmallBody
        From images to maps, each of which sees objects of its size.
    first : int, default=0
        First of those maps that is used.
    ratios : tuple of tuples of float
        For each map the ratios of its default boxes beside 1.
    scales : tuple of float
        Sizes of the default boxes as shares of the image, one more than there are maps.
    steps : tuple of int or None
        Pixels between two places of each map; None: the map covers the image.
    side : int or None, default=300
        Side to which images are resized, whatever their shape; None: as they are.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images; None: as many as the data have.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     sum(weight.numel() for weight in SSD(classes=90).build().parameters())
    35641826
    """

    backbone: VGGScales | SmallBody = VGGScales()
    first: int = 0
    ratios: tuple[tuple[float, ...], ...] = ((2.0,), (2.0, 3.0), (2.0, 3.0), (2.0, 3.0), (2.0,), (2.0,))
    scales: tuple[float, ...] = (0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05)
    steps: tuple[int, ...] | None = (8, 16, 32, 64, 100, 300)
    side: int | None = 300
    classes: int | None = None
    channels: int | None = 3

    settings: ClassVar = {
        "backbone": BACKBONES,
        "first": Whole(0, 8),
        "ratios": Items(Items(Number(above=0, high=100))),
        "scales": Items(Number(above=0, high=10)),
        "steps": Nothing() | Items(Whole(1, 8192)),
        "side": SIDE,
        "classes": CLASSES,
        "channels": CHANNELS,
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return SSDNetwork(self)


class SSDNetwork(DetectionNetwork):
    """Backbone, and for each of its maps two convolutions: scores and offsets of its default boxes."""

    def __init__(self, settings: SSD) -> None:
        super().__init__(settings)
        self.first, counts = settings.first, settings.backbone.maps[settings.first :]
        if len(counts) != len(settings.ratios):
            raise ValueError(f"ratios must be one for each of {len(counts)} maps, got {len(settings.ratios)}.")
        self.backbone = settings.backbone.build(self.channels)
        each = [2 + 2 * len(own) for own in settings.ratios]
        self.head = nn.ModuleDict(
            {
                "classification_head": ScaleHeads(counts, [count * (self.classes + 1) for count in each]),
                "regression_head": ScaleHeads(counts, [count * 4 for count in each]),
            }
        )
        self.boxes_at = partial(default_boxes, settings.ratios, scales=settings.scales, steps=settings.steps)

    def target_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the square that all images are resized to."""
        side = self.architecture.side
        return (height, width) if side is None else (side, side)

    def transform(self, images: Sequence[Tensor]) -> Sized:
        """Return images of one size, which are not padded."""
        batch = super().transform(images)
        height, width = batch.sizes[0]
        return Sized(batch.images[:, :, :height, :width], batch.sizes, batch.factors)

    def normalized(self, image: Tensor) -> Tensor:
        """Return an image without the mean of photographs, with white at 255."""
        mean = image.new_tensor(MEAN if len(image) == 3 else MEAN[:1])
        white = 255.0 if isinstance(self.architecture.backbone, VGGScales) else 4.0
        return (image - mean[:, None, None]) * white

    def _judged(self, batch: Sized) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores (B, N, classes + 1) and offsets (B, N, 4) of all default boxes, and these."""
        maps = self.backbone(batch.images)[self.first :]
        scores = torch.cat([rows_of(own, self.classes + 1) for own in self.head["classification_head"](maps)], dim=1)
        offsets = torch.cat([rows_of(own, 4) for own in self.head["regression_head"](maps)], dim=1)
        shapes = tuple((int(own.shape[-2]), int(own.shape[-1])) for own in maps)
        sides = (int(batch.images.shape[-2]), int(batch.images.shape[-1]))
        anchors = torch.cat(tensors_of(self.boxes_at, (shapes, sides), batch.images.device))
        return scores, offsets, anchors.to(batch.images.dtype)

    def losses(self, batch: Sized, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the cross entropy of objects and of the worst background, and the distance of offsets."""
        scores, offsets, anchors = self._judged(batch)
        labels, wanted = [], []
        for one in objects:
            matched = match_anchors(anchors, one.boxes, MATCHED, MATCHED, keep_best="one").box
            own = torch.zeros_like(matched)
            if len(one.labels):
                own = torch.where(matched >= 0, one.labels[matched.clamp(min=0)] + 1, own)
            labels.append(own)
            wanted.append(encoded(CODING, one.boxes, matched, anchors))
        label, target = torch.stack(labels), torch.stack(wanted)
        is_object = label > 0
        count = is_object.sum().clamp(min=1)
        entropy = functional.cross_entropy(scores.float().transpose(1, 2), label, reduction="none")  # (B, N)
        is_counted = is_object | hard_negatives(entropy.detach(), is_object, NEGATIVES)
        distance = functional.smooth_l1_loss(offsets[is_object].float(), target[is_object].float(), reduction="sum")
        return {"class": entropy[is_counted].sum() / count, "box": distance / count}

    def find(self, batch: Sized, proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return the surest boxes of each class, without those that say the same."""
        scores, offsets, anchors = self._judged(batch)
        found = []
        for chance, offset, size in zip(torch.softmax(scores.float(), dim=2), offsets, batch.sizes, strict=True):
            boxes = clip_boxes(CODING.decode(offset.to(anchors.dtype), anchors), *size)
            best, places = chance[:, 1:].topk(min(MOST_PER_CLASS, len(boxes)), dim=0)  # (k, classes)
            labels = torch.arange(self.classes, device=chance.device).expand_as(places)
            kept = best_boxes(
                boxes[places.flatten()],
                best.flatten(),
                labels.flatten(),
                threshold=THRESHOLD,
                overlap=OVERLAP,
                most=MOST,
                smallest=0.0,
            )
            found.append(Found(*kept[:3]))
        return found


class ScaleHeads(nn.Module):
    """A convolution of 3 x 3 for each map."""

    def __init__(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        super().__init__()
        self.module_list = nn.ModuleList(
            nn.Conv2d(before, after, 3, padding=1) for before, after in zip(inputs, outputs, strict=True)
        )
        for layer in self.module_list:
            nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]  # of a convolution
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, maps: Sequence[Tensor]) -> list[Tensor]:
        """Return the outputs of each map."""
        return [layer(own) for layer, own in zip(self.module_list, maps, strict=True)]
