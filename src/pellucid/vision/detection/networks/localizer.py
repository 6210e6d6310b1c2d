"""Classification with localization: an image with a known number of objects, one class and one box for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.core.kinds.plain import Number, Whole
from pellucid.vision.detection.boxes.box_geometry import clip_boxes, paired_giou, to_corners
from pellucid.vision.detection.networks.backbones import BODIES, ResNetBody, SmallBody
from pellucid.vision.detection.networks.detection_network import (
    IMAGE_SETTINGS,
    DetectionNetwork,
    DetectorArchitecture,
    Found,
    Objects,
    Sized,
)


@dataclass(frozen=True)
class Localizer(DetectorArchitecture):
    """A network with two heads: scores of the classes, and four numbers for the box; their losses are added.

    Parameters
    ----------
    body : SmallBody or ResNetBody
        Network of the image.
    objects : int, default=1
        Objects in every image; several are told apart by their place: from left to right.
    grid : int, default=4
        The last map is averaged to so many cells per side, which keep where things are.
    width : int, default=256
        Units of the dense layer.
    balance : float, default=2.0
        How much the loss of the box counts beside that of the class.
    classes : int or None, default=None
        Classes to tell apart; None: as many as the data have.
    channels : int or None, default=None
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=None
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=None
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.
    """

    body: SmallBody | ResNetBody = SmallBody((32, 64, 128))
    objects: int = 1
    grid: int = 4
    width: int = 256
    balance: float = 2.0
    classes: int | None = None
    channels: int | None = None
    short_side: int | None = None
    long_side: int | None = None

    settings: ClassVar = {
        "body": BODIES,
        "objects": Whole(1, 64),
        "grid": Whole(1, 32),
        "width": Whole(1, 8192),
        "balance": Number(above=0, high=1000),
        **IMAGE_SETTINGS,
    }

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return LocalizerNetwork(self)


class LocalizerNetwork(DetectionNetwork):
    """A body, a dense layer, and two heads."""

    def __init__(self, settings: Localizer) -> None:
        super().__init__(settings)
        self.count, self.grid = settings.objects, settings.grid
        self.body = settings.body.build(self.channels)
        self.dense = nn.Linear(settings.body.maps[-1] * settings.grid**2, settings.width)
        self.class_head = nn.Linear(settings.width, self.count * self.classes)
        self.box_head = nn.Linear(settings.width, self.count * 4)

    def _judged(self, batch: Sized) -> tuple[Tensor, Tensor]:
        """Return scores (B, objects, classes) and boxes (B, objects, 4) in pixels."""
        cells = functional.adaptive_avg_pool2d(self.body(batch.images)[-1], self.grid)
        units = torch.relu(self.dense(cells.flatten(1)))
        scores = self.class_head(units).reshape(-1, self.count, self.classes)
        shares = torch.sigmoid(self.box_head(units).float()).reshape(-1, self.count, 4)
        sides = shares.new_tensor([batch.images.shape[-1], batch.images.shape[-2]]).repeat(2)
        return scores, to_corners(shares * sides, "cxcywh")

    def losses(self, batch: Sized, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the cross entropy of the classes, and 1 minus the generalized overlap plus distance of the boxes."""
        if any(len(one.boxes) != self.count for one in objects):
            raise ValueError(f"every image must have {self.count} objects for {self.architecture!r}. Use a detector.")
        order = [one.boxes[:, 0].argsort(stable=True) for one in objects]
        labels = torch.stack([one.labels[own] for one, own in zip(objects, order, strict=True)])
        wanted = torch.stack([one.boxes[own] for one, own in zip(objects, order, strict=True)]).float()
        scores, boxes = self._judged(batch)
        side = float(max(batch.images.shape[-2:]))
        overlap = paired_giou(boxes.reshape(-1, 4), wanted.reshape(-1, 4))
        distance = (boxes - wanted).abs().mean() / side
        return {
            "class": functional.cross_entropy(scores.float().flatten(0, 1), labels.flatten()),
            "box": self.architecture.balance * ((1.0 - overlap).mean() + 4.0 * distance),
        }

    def find(self, batch: Sized, proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return one class and one box for each object, whatever their scores."""
        scores, boxes = self._judged(batch)
        best, labels = torch.softmax(scores.float(), dim=2).max(dim=2)
        found = []
        for chance, label, box, size in zip(best, labels, boxes, batch.sizes, strict=True):
            order = chance.argsort(descending=True, stable=True)
            found.append(Found(clip_boxes(box, *size)[order], label[order], chance[order]))
        return found
