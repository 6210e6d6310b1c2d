"""RetinaNet (Lin 2017): one stage on a pyramid, and a loss in which thousands of easy anchors do not drown the few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Whole
from pellucid.vision.detection.boxes.anchors import AnchorGrid
from pellucid.vision.detection.boxes.box_coding import BoxCoding
from pellucid.vision.detection.boxes.box_geometry import clip_boxes
from pellucid.vision.detection.boxes.matching import match_anchors
from pellucid.vision.detection.networks.backbones import PYRAMIDS, FeaturePyramid
from pellucid.vision.detection.networks.detection_losses import focal_loss
from pellucid.vision.detection.networks.detection_network import (
    IMAGE_SETTINGS,
    DetectionNetwork,
    DetectorArchitecture,
    Found,
    Objects,
    Sized,
    best_boxes,
    tensors_of,
)
from pellucid.vision.detection.networks.region_proposals import encoded, rows_of

CODING = BoxCoding()
MATCHED, BACKGROUND = 0.5, 0.4
RATIOS = (0.5, 1.0, 2.0)
OCTAVES = (1.0, 2 ** (1 / 3), 2 ** (2 / 3))
"""Anchors of a level come in three sizes, a third of an octave apart."""

PRIOR = 0.01
"""Chance of an object that every anchor starts with: else the first step would be all about background."""

THRESHOLD, OVERLAP, MOST_PER_LEVEL, MOST = 0.05, 0.5, 1000, 300


@dataclass(frozen=True)
class RetinaNet(DetectorArchitecture):
    """One-stage detector with the focal loss. With its defaults the weights are torchvision's by name and shape.

    Parameters
    ----------
    backbone : FeaturePyramid
        From images to levels.
    anchor_sizes : tuple of int
        Smallest side of the anchors of each level, in pixels; each comes in three sizes and three shapes.
    layers : int, default=4
        Convolutions of each head before its last.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=3
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=800
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=1333
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     sum(weight.numel() for weight in RetinaNet(classes=91).build().parameters())
    34014999
    """

    backbone: FeaturePyramid = FeaturePyramid(first=1, more="convolutions")
    anchor_sizes: tuple[int, ...] = (32, 64, 128, 256, 512)
    layers: int = 4
    classes: int | None = None
    channels: int | None = 3
    short_side: int | None = 800
    long_side: int | None = 1333

    settings: ClassVar = {
        "backbone": PYRAMIDS,
        "anchor_sizes": Items(Whole(1, 8192)),
        "layers": Whole(1, 16),
        **IMAGE_SETTINGS,
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return RetinaNetwork(self)


class RetinaNetwork(DetectionNetwork):
    """Backbone, and two heads that all levels share."""

    def __init__(self, settings: RetinaNet) -> None:
        super().__init__(settings)
        pyramid = settings.backbone
        if len(settings.anchor_sizes) != len(pyramid.levels):
            count, given = len(pyramid.levels), settings.anchor_sizes
            raise ValueError(f"anchor_sizes must be one for each of {count} levels of the backbone, got {given}.")
        self.backbone = pyramid.build(self.channels)
        sizes = tuple(tuple(int(size * octave) for octave in OCTAVES) for size in settings.anchor_sizes)
        self.anchors = AnchorGrid(sizes, (RATIOS,) * len(sizes))
        each = self.anchors.per_place[0]
        self.head = nn.ModuleDict(
            {
                "classification_head": RetinaHead(
                    pyramid.maps, settings.layers, "cls_logits", each * self.classes, -math.log((1 - PRIOR) / PRIOR)
                ),
                "regression_head": RetinaHead(pyramid.maps, settings.layers, "bbox_reg", each * 4, 0.0),
            }
        )

    def _judged(self, batch: Sized) -> tuple[list[Tensor], list[Tensor], tuple[Tensor, ...]]:
        """Return scores, offsets and anchors of each level."""
        levels = self.backbone(batch.images)
        scores = [rows_of(self.head["classification_head"](level), self.classes) for level in levels]
        offsets = [rows_of(self.head["regression_head"](level), 4) for level in levels]
        shapes = tuple((int(level.shape[-2]), int(level.shape[-1])) for level in levels)
        sides = (int(batch.images.shape[-2]), int(batch.images.shape[-1]))
        anchors = tensors_of(self.anchors.at, (shapes, sides), batch.images.device)
        return scores, offsets, tuple(own.to(batch.images.dtype) for own in anchors)

    def losses(self, batch: Sized, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the focal loss of all anchors that are not in doubt, and the distance of offsets where objects are."""
        scores, offsets, anchors = self._judged(batch)
        every, all_scores, all_offsets = torch.cat(anchors), torch.cat(scores, dim=1), torch.cat(offsets, dim=1)
        of_class, of_box = [], []
        for one, score, offset in zip(objects, all_scores.float(), all_offsets.float(), strict=True):
            matched = match_anchors(every, one.boxes, MATCHED, BACKGROUND, keep_best=True).box
            is_object = matched >= 0
            places = torch.nonzero(is_object)[:, 0]
            targets = torch.zeros_like(score)
            targets[places, one.labels[matched[places]]] = 1.0
            count = max(1, len(places))
            of_class.append(focal_loss(score, targets)[matched != -2].sum() / count)
            wanted = encoded(CODING, one.boxes, matched, every)[places]
            of_box.append((offset[places] - wanted).abs().sum() / count)
        return {"class": torch.stack(of_class).mean(), "box": torch.stack(of_box).mean()}

    def find(self, batch: Sized, proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return the surest of each level, without those that say the same."""
        scores, offsets, anchors = self._judged(batch)
        found = []
        for image, size in enumerate(batch.sizes):
            best = [_best_of_level(s[image], o[image], a) for s, o, a in zip(scores, offsets, anchors, strict=True)]
            boxes, chances, labels = (torch.cat(parts) for parts in zip(*best, strict=True))
            inside = clip_boxes(boxes, *size)
            kept = best_boxes(inside, chances, labels, threshold=THRESHOLD, overlap=OVERLAP, most=MOST, smallest=0.0)
            found.append(Found(*kept[:3]))
        return found


def _best_of_level(scores: Tensor, offsets: Tensor, anchors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return boxes, chances and classes of the most likely pairs of an anchor and a class."""
    chances = torch.sigmoid(scores.float()).flatten()
    best, places = chances.topk(min(len(chances), MOST_PER_LEVEL))
    places, best = places[best > THRESHOLD], best[best > THRESHOLD]
    anchor = torch.div(places, scores.shape[1], rounding_mode="floor")
    return CODING.decode(offsets[anchor].to(anchors.dtype), anchors[anchor]), best, places % scores.shape[1]


class RetinaHead(nn.Module):
    """Convolutions of 3 x 3, the last one under the name that torchvision gives it."""

    def __init__(self, maps: int, layers: int, last: str, outputs: int, shift: float) -> None:
        super().__init__()
        self.last = last
        self.conv = nn.Sequential(
            *(nn.Sequential(nn.Conv2d(maps, maps, 3, padding=1), nn.ReLU()) for _ in range(layers))
        )
        self.add_module(last, nn.Conv2d(maps, outputs, 3, padding=1))
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.normal_(layer.weight, std=0.01)
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # there is one
        nn.init.constant_(self.get_submodule(last).bias, shift)  # type: ignore[arg-type]  # of a convolution

    def forward(self, maps: Tensor) -> Tensor:
        """Return (B, outputs, H, W)."""
        return self.get_submodule(self.last)(self.conv(maps))  # type: ignore[no-any-return]
