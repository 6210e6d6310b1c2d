"""What all detectors share: images brought to size, the losses and the findings as plain records."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from pellucid.core.kinds.plain import Nothing, Whole
from pellucid.core.types import Array
from pellucid.neural_network.architecture import Architecture
from pellucid.vision.detection.boxes.box_geometry import clip_boxes
from pellucid.vision.detection.boxes.suppression import suppress
from pellucid.vision.models.image_network import CHANNELS, CLASSES

MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the channels of photographs (ImageNet)."""

DIVISOR = 32
"""Sides of a batch are multiples of it, so that halving five times loses no row."""

SIDE = Nothing() | Whole(1, 8192)
IMAGE_SETTINGS = {"classes": CLASSES, "channels": CHANNELS, "short_side": SIDE, "long_side": SIDE}
"""Of every detector that takes images of any shape."""


class Objects(NamedTuple):
    """What is to be found in one image: boxes (n, 4) in pixels, classes (n,) from 0 on, masks (n, h, w) or None."""

    boxes: Tensor
    labels: Tensor
    masks: Tensor | None = None
    proposals: Tensor | None = None
    """(m, 4): where a detector without proposals of its own is to look."""


class Found(NamedTuple):
    """What was found in one image: boxes (n, 4), classes (n,) from 0 on, scores (n,) falling, masks (n, h, w)."""

    boxes: Tensor
    labels: Tensor
    scores: Tensor
    masks: Tensor | None = None


@dataclass(frozen=True)
class Sized:
    """A batch brought to size."""

    images: Tensor
    """(B, C, H, W), padded with zeros to common sides."""
    sizes: list[tuple[int, int]]
    """Height and width of each image inside."""
    factors: list[tuple[float, float]]
    """By which y and x of each image were multiplied."""


class DetectorArchitecture(Architecture):
    """Base of detectors as values. A child is a frozen dataclass with these settings and more."""

    classes: int | None
    channels: int | None
    short_side: int | None
    long_side: int | None

    def for_data(self, shape: tuple[int, ...], outputs: int) -> Self:
        """Return the same architecture for images of ``shape`` (channels, height, width) and ``outputs`` classes."""
        found = {"channels": shape[0], "classes": outputs}
        return replace(self, **{name: size for name, size in found.items() if getattr(self, name) is None})  # type: ignore[type-var]  # each child is a dataclass

    def sizes(self) -> tuple[int, int]:
        """Return channels and classes, which must be known by now."""
        if self.channels is None or self.classes is None:
            raise ValueError(f"channels and classes must be numbers to build {self!r}. Set them, or use for_data.")
        return self.channels, self.classes

    @property
    def needs_proposals(self) -> bool:
        """Whether somebody else must say where to look."""
        return False


class DetectionNetwork(nn.Module):
    """Base of the modules: transform, then what a child does with the batch."""

    masks = False
    """Whether outlines are found, too."""

    def __init__(self, architecture: DetectorArchitecture) -> None:
        super().__init__()
        self.architecture: Any = architecture
        self.channels, self.classes = architecture.sizes()

    @abstractmethod
    def losses(self, batch: Sized, objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the losses by name; their sum is what is trained."""

    @abstractmethod
    def find(self, batch: Sized, proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return what is found, in pixels of the batch."""

    def training_losses(self, images: Sequence[Tensor], objects: Sequence[Objects]) -> dict[str, Tensor]:
        """Return the losses of images (C, h, w) with white at 1."""
        batch = self.transform(images)
        moved = [
            resized_objects(one, factors, size)
            for one, factors, size in zip(objects, batch.factors, batch.sizes, strict=True)
        ]
        return self.losses(batch, moved)

    def forward(self, images: Sequence[Tensor], proposals: Sequence[Tensor] | None = None) -> list[Found]:
        """Return what is found in images (C, h, w), in their own pixels."""
        batch = self.transform(images)
        if proposals is not None:
            proposals = [_scaled(own, factors) for own, factors in zip(proposals, batch.factors, strict=True)]
        found = self.find(batch, proposals)
        return [
            self._in_own_pixels(one, factors, (int(image.shape[-2]), int(image.shape[-1])))
            for one, factors, image in zip(found, batch.factors, images, strict=True)
        ]

    def transform(self, images: Sequence[Tensor]) -> Sized:
        """Return images resized to the sides that the architecture asks for, normalized and padded."""
        resized, factors = [], []
        for image in images:
            height, width = image.shape[-2:]
            size = self.target_size(height, width)
            if size != (height, width):
                image = functional.interpolate(image[None], size, mode="bilinear", align_corners=False)[0]
            resized.append(self.normalized(image))
            factors.append((size[0] / height, size[1] / width))
        sizes = [(int(image.shape[-2]), int(image.shape[-1])) for image in resized]
        return Sized(padded(resized), sizes, factors)

    def normalized(self, image: Tensor) -> Tensor:
        """Return an image with channels of mean 0 and spread 1, as photographs have them, or as its body is used to."""
        body: Any = getattr(self.architecture, "body", None) or self.architecture.backbone.body
        if hasattr(body, "brightness"):
            return (image - body.brightness[0]) / body.brightness[1]  # type: ignore[no-any-return]
        mean, spread = (image.new_tensor(values if len(image) == 3 else values[:1]) for values in (MEAN, SPREAD))
        return (image - mean[:, None, None]) / spread[:, None, None]

    def target_size(self, height: int, width: int) -> tuple[int, int]:
        """Return height and width to which an image is resized: its short side, unless its long one gets too long."""
        short, long = self.architecture.short_side, self.architecture.long_side
        if short is None:
            return height, width
        scale = min(short / min(height, width), (long or 8192) / max(height, width))
        return max(1, int(height * scale)), max(1, int(width * scale))

    def _in_own_pixels(self, found: Found, factors: tuple[float, float], size: tuple[int, int]) -> Found:
        boxes = clip_boxes(found.boxes / _corner_factors(found.boxes, factors), *size)
        if found.masks is None:
            return found._replace(boxes=boxes)
        return found._replace(boxes=boxes, masks=paste_masks(found.masks, boxes, size))


def resized_objects(objects: Objects, factors: tuple[float, float], size: tuple[int, int]) -> Objects:
    """Return objects where they are in a resized image."""
    if factors == (1.0, 1.0):
        return objects
    masks = objects.masks
    if masks is not None and len(masks):
        masks = functional.interpolate(masks[:, None].to(torch.float32), size)[:, 0].to(masks.dtype)
    proposals = None if objects.proposals is None else _scaled(objects.proposals, factors)
    return Objects(_scaled(objects.boxes, factors), objects.labels, masks, proposals)


def _scaled(boxes: Tensor, factors: tuple[float, float]) -> Tensor:
    return boxes * _corner_factors(boxes, factors)


def _corner_factors(boxes: Tensor, factors: tuple[float, float]) -> Tensor:
    return boxes.new_tensor([factors[1], factors[0]]).repeat(2)


def padded(images: Sequence[Tensor]) -> Tensor:
    """Return images in one batch whose sides are multiples of 32, zeros at the right and below."""
    height, width = (-(-max(image.shape[axis] for image in images) // DIVISOR) * DIVISOR for axis in (-2, -1))
    if all(tuple(image.shape[-2:]) == (height, width) for image in images):
        return torch.stack(list(images))
    batch = images[0].new_zeros((len(images), images[0].shape[0], height, width))
    for row, image in zip(batch, images, strict=True):
        row[:, : image.shape[-2], : image.shape[-1]] = image
    return batch


def best_boxes(
    boxes: Tensor,
    scores: Tensor,
    labels: Tensor,
    *,
    threshold: float,
    overlap: float,
    most: int,
    smallest: float = 1e-2,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return boxes, classes and scores that are sure enough and not suppressed by one of their class, and their places.

    Findings are ordered by falling score; boxes narrower than ``smallest`` pixels are left out.
    """
    sides = boxes[:, 2:] - boxes[:, :2]
    places = torch.nonzero((scores > threshold) & (sides.min(dim=1).values >= smallest))[:, 0]
    kept = places[suppress(boxes[places], scores[places], overlap, labels[places]).kept[:most]]
    return boxes[kept], labels[kept], scores[kept], kept


def paste_masks(masks: Tensor, boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Return masks (n, 1, m, m) of boxes as masks (n, height, width) of the image: the chance of each pixel.

    Each pixel of the image is looked up at its place inside the box, between the values around it; outside is 0.
    """
    height, width = size
    if not len(boxes):
        return masks.new_zeros((0, height, width))
    x = (torch.arange(width, device=boxes.device, dtype=boxes.dtype) + 0.5)[None]
    y = (torch.arange(height, device=boxes.device, dtype=boxes.dtype) + 0.5)[None]
    left, top, right, bottom = (boxes[:, k, None] for k in range(4))
    grid_x = 2.0 * (x - left) / (right - left).clamp(min=1e-6) - 1.0
    grid_y = 2.0 * (y - top) / (bottom - top).clamp(min=1e-6) - 1.0
    shape = (len(boxes), height, width)
    grid = torch.stack((grid_x[:, None, :].expand(shape), grid_y[:, :, None].expand(shape)), dim=3)
    return functional.grid_sample(masks, grid.to(masks.dtype), align_corners=False)[:, 0]


@lru_cache(maxsize=64)
def tensors_of(maker: Any, key: tuple[Any, ...], device: torch.device) -> tuple[Tensor, ...]:
    """Return what ``maker(*key)`` makes, arrays on a device, and remember it: anchors of a size are always the same."""
    made: Sequence[Array] = maker(*key)
    return tuple(torch.from_numpy(array).to(device) for array in made)
