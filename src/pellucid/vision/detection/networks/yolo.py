"""YOLO: the image is a grid, and the cell in which the center of an object lies is to find it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Number, Whole
from pellucid.vision.detection.boxes.box_geometry import box_iou, clip_boxes, from_corners, to_corners
from pellucid.vision.detection.networks.backbones import BODIES, ResNetBody, SmallBody
from pellucid.vision.detection.networks.detection_network import (
    IMAGE_SETTINGS,
    DetectionNetwork,
    DetectorArchitecture,
    Found,
    Objects,
    Sized,
    best_boxes,
)

OF_COORDINATES, OF_NOTHING = 5.0, 0.5
"""How much errors of boxes count, and confidence where there is no object: most cells are empty."""

THRESHOLD, OVERLAP, MOST = 0.05, 0.5, 100


@dataclass(frozen=True)
class YOLO(DetectorArchitecture):
    """You only look once (Redmon 2016): each cell of a grid gives some boxes with a confidence, and one class.

    A box is its center inside of the cell and its size. Without ``anchors`` the size is a share of the image, as in
    the first version; with them it is a multiple of an anchor's, as in the second, and each anchor has a class of its
    own, so that one cell can hold several objects.

    Parameters
    ----------
    body : SmallBody or ResNetBody
        Network of the image; its last map is the grid: of stride 4, 8, 16, ... for each width it has.
    boxes : int, default=2
        Boxes of each cell, where there are no anchors.
    anchors : tuple of pairs of float, default=()
        Widths and heights in pixels.
    width : int, default=128
        Maps of the convolution before the last one.
    classes : int or None, default=None
        Classes of objects, background not counted; None: as many as the data have.
    channels : int or None, default=None
        Channels of the images; None: as many as the data have.
    short_side : int or None, default=None
        Pixels to which the shorter side of an image is resized; None: images stay as they are.
    long_side : int or None, default=None
        Most pixels of the longer side: it wins over ``short_side``, without which it has no effect; None: 8192.
    """

    body: SmallBody | ResNetBody = SmallBody((24, 48, 96, 128))
    boxes: int = 2
    anchors: tuple[tuple[float, ...], ...] = ()
    width: int = 128
    classes: int | None = None
    channels: int | None = None
    short_side: int | None = None
    long_side: int | None = None

    settings: ClassVar = {
        "body": BODIES,
        "boxes": Whole(1, 16),
        "anchors": Items(Items(Number(above=0, high=8192))),
        "width": Whole(1, 4096),
        **IMAGE_SETTINGS,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(len(anchor) != 2 for anchor in self.anchors):
            raise ValueError(f"anchors must be pairs of width and height, got {self.anchors}.")

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return YOLONetwork(self)


@dataclass(frozen=True)
class _Grid:
    """What the network says: confidence (B, P), boxes (B, P, 4) in pixels, class scores (B, P, K); P = cells x boxes.

    ``shape`` of a box is what the loss compares: center in cells, and the root of the size (or its logarithm).
    """

    confidence: Tensor
    boxes: Tensor
    scores: Tensor
    center: Tensor
    size: Tensor
    cells: tuple[int, int]


class YOLONetwork(DetectionNetwork):
    """A body, two convolutions, and the grid they give."""

    def __init__(self, settings: YOLO) -> None:
        super().__init__(settings)
        self.stride = 4 * 2 ** (len(settings.body.maps) - 1)
        self.each = len(settings.anchors) or settings.boxes
        self.has_anchors = bool(settings.anchors)
        self.body = settings.body.build(self.channels)
        # v1: class scores once per cell; v2: once per anchor
        outputs = self.each * (5 + self.classes) if self.has_anchors else self.each * 5 + self.classes
        self.neck = nn.Sequential(
            nn.Conv2d(settings.body.maps[-1], settings.width, 3, padding=1, bias=False),
            nn.BatchNorm2d(settings.width),
            nn.ReLU(),
        )
        self.head = nn.Conv2d(settings.width, outputs, 1)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)  # type: ignore[arg-type]  # there is one
        with torch.no_grad():  # a cell is rarely the one: confidence starts near 0.02
            self.head.bias[: self.each].fill_(-4.0)  # type: ignore[index]

    def _grid(self, batch: Sized) -> _Grid:
        """Return what each cell says, boxes in pixels."""
        maps = self.head(self.neck(self.body(batch.images)[-1])).float()
        n_images, _, rows, columns = maps.shape
        flat = maps.permute(0, 2, 3, 1).reshape(n_images, rows * columns, -1)
        confidence = flat[..., : self.each]
        numbers = flat[..., self.each : 5 * self.each].reshape(n_images, -1, self.each, 4)
        scores = flat[..., 5 * self.each :]
        if self.has_anchors:
            scores = scores.reshape(n_images, -1, self.each, self.classes)
        else:
            scores = scores[:, :, None].expand(-1, -1, self.each, -1)
        center = torch.sigmoid(numbers[..., :2])
        corner = _corners(rows, columns, maps.device)[:, None]  # (cells, 1, 2)
        sides = numbers.new_tensor([batch.images.shape[-1], batch.images.shape[-2]])
        if self.has_anchors:
            size = numbers[..., 2:]
            pixels = numbers.new_tensor(self.architecture.anchors) * torch.exp(size.clamp(max=4.0))
        else:
            size = torch.sigmoid(numbers[..., 2:])  # the root of the share of the image
            pixels = sides * size.square()
        boxes = to_corners(torch.cat(((center + corner) * self.stride, pixels), dim=3), "cxcywh")
        count = rows * columns * self.each

        def flatten(part: Tensor) -> Tensor:
            return part.reshape(n_images, count, *part.shape[3:])

        return _Grid(
            confidence=flatten(confidence),
            boxes=flatten(boxes),
            scores=flatten(scores),
            center=flatten(center),
            size=flatten(size),
            cells=(rows, columns),
        )

    def losses(self, batch: Sized, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the sums of squares of the first paper, and the cross entropy of the classes, per image."""
        grid = self._grid(batch)
        parts = [self._losses_of(image, grid, batch, one) for image, one in enumerate(objects)]
        return {name: torch.stack([part[name] for part in parts]).mean() for name in parts[0]}

    def _losses_of(self, image: int, grid: _Grid, batch: Sized, objects: Objects) -> dict[str, Tensor]:
        chance = torch.sigmoid(grid.confidence[image])
        if not len(objects.boxes):
            nothing = grid.confidence.sum() * 0.0
            return {"box": nothing, "confidence": OF_NOTHING * chance.square().sum(), "class": nothing}
        place, center, wanted_size = self._assigned(image, grid, batch, objects)
        with torch.no_grad():
            overlap = box_iou(grid.boxes[image], objects.boxes.float())
            is_empty = overlap.max(dim=1).values < 0.6  # a box that finds an object though another cell is to
            is_empty[place] = False
            truth = overlap[place, torch.arange(len(place), device=place.device)] if not self.has_anchors else 1.0
        of_box = (grid.center[image, place] - center).square().sum()
        of_box = of_box + (grid.size[image, place] - wanted_size).square().sum()
        of_confidence = (chance[place] - truth).square().sum() + OF_NOTHING * chance[is_empty].square().sum()
        entropy = functional.cross_entropy(grid.scores[image, place], objects.labels, reduction="sum")
        return {"box": OF_COORDINATES * of_box, "confidence": of_confidence, "class": entropy}

    def _assigned(self, image: int, grid: _Grid, batch: Sized, objects: Objects) -> tuple[Tensor, Tensor, Tensor]:
        """Return which box of the grid is to find each object, and the center and size it is to give.

        Of the boxes of the cell the one that overlaps the object most is responsible; of anchors, the one whose shape
        is nearest.
        """
        middle = from_corners(objects.boxes.float(), "cxcywh")
        rows, columns = grid.cells
        column = (middle[:, 0] / self.stride).floor().clamp(0, columns - 1)
        row = (middle[:, 1] / self.stride).floor().clamp(0, rows - 1)
        first = (row * columns + column).long() * self.each
        center = middle[:, :2] / self.stride - torch.stack((column, row), dim=1)
        places = first[:, None] + torch.arange(self.each, device=first.device)
        if self.has_anchors:
            anchors = middle.new_tensor(self.architecture.anchors)
            shapes = torch.cat((-anchors, anchors), dim=1) / 2
            own = torch.cat((-middle[:, 2:], middle[:, 2:]), dim=1) / 2
            best = box_iou(own, shapes).argmax(dim=1)
            return first + best, center, torch.log(middle[:, 2:] / anchors[best])
        with torch.no_grad():
            nearby = grid.boxes[image, places]  # (n, each, 4)
            overlap = torch.stack(
                [box_iou(own, one[None])[:, 0] for own, one in zip(nearby, objects.boxes.float(), strict=True)]
            )
        sides = middle.new_tensor([batch.images.shape[-1], batch.images.shape[-2]])
        return first + overlap.argmax(dim=1), center, (middle[:, 2:] / sides).sqrt()

    def find(self, batch: Sized, proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return boxes whose confidence times the chance of their class is high enough."""
        grid = self._grid(batch)
        chances = torch.sigmoid(grid.confidence)[..., None] * torch.softmax(grid.scores, dim=-1)
        found = []
        for boxes, chance, size in zip(grid.boxes, chances, batch.sizes, strict=True):
            best, labels = chance.max(dim=1)
            inside = clip_boxes(boxes, *size)
            kept = best_boxes(inside, best, labels, threshold=THRESHOLD, overlap=OVERLAP, most=MOST)
            found.append(Found(*kept[:3]))
        return found


def _corners(rows: int, columns: int, device: torch.device) -> Tensor:
    """Return x and y of the upper left corner of every cell, in cells, row by row."""
    y, x = torch.meshgrid(torch.arange(rows, device=device), torch.arange(columns, device=device), indexing="ij")
    return torch.stack((x, y), dim=2).reshape(-1, 2).float()
