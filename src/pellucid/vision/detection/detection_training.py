"""Annotated images as the trainer takes them, on a device, and the findings of a network as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array
from pellucid.neural_network.training.device_rows import tensor_of
from pellucid.vision.detection.annotations import Annotations, Detections
from pellucid.vision.detection.networks.detection_network import Found, Objects
from pellucid.vision.scene_augmentation import Scene, SceneChange, as_floats, change_scene
from pellucid.vision.scene_estimator import images_to

PROPOSED = -1
"""Label of boxes that are proposals: they move with the image, as objects do."""

Proposer = Callable[[Array], Array]
"""From an image (height, width, channels) to boxes (n, 4) where objects may be."""


class DetectionBatch(NamedTuple):
    """Images (C, h, w) of any sizes, and what is to be found in each."""

    images: list[Tensor]
    objects: list[Objects]


@dataclass(frozen=True)
class AnnotatedImages:
    """Checked images (height, width, channels), their objects, codes of the labels of these, and proposals or None."""

    images: Sequence[Array]
    truth: Sequence[Annotations]
    codes: Sequence[Array]
    proposals: Sequence[Array] | None = None

    def __len__(self) -> int:
        return len(self.images)

    def take(self, places: Iterable[int]) -> Self:
        """Return some of them."""
        chosen = list(places)
        return type(self)(
            [self.images[i] for i in chosen],
            [self.truth[i] for i in chosen],
            [self.codes[i] for i in chosen],
            None if self.proposals is None else [self.proposals[i] for i in chosen],
        )

    def arrays(self) -> Iterable[Array | None]:
        """Return all numbers, by which the data are known again."""
        masks = [one.masks for one in self.truth if one.masks is not None]
        return (
            *self.images,
            *(one.boxes for one in self.truth),
            *(one.crowd for one in self.truth),
            *self.codes,
            *masks,
        )


class AnnotatedRows:
    """Annotated images that lie on a device; crowds, which nobody has to find, are not learned."""

    weight = None

    def __init__(self, scenes: AnnotatedImages, like: Tensor, changes: tuple[SceneChange, ...], masks: bool) -> None:
        self.changes, self.dtype, device = changes, like.dtype, like.device
        self.images = [tensor_of(image).to(device).permute(2, 0, 1) for image in scenes.images]
        self.objects: list[Objects] = []
        for place, (one, codes) in enumerate(zip(scenes.truth, scenes.codes, strict=True)):
            kept = ~one.crowd
            outlines = tensor_of(one.masks[kept]).to(device) if masks and one.masks is not None else None
            boxes = tensor_of(one.boxes[kept]).to(device, self.dtype)
            proposals = None
            if scenes.proposals is not None:
                proposals = tensor_of(scenes.proposals[place]).to(device, self.dtype)
            self.objects.append(Objects(boxes, tensor_of(codes[kept]).to(device), outlines, proposals))

    def __len__(self) -> int:
        return len(self.images)

    def take(self, places: Tensor) -> DetectionBatch:
        """Return a batch, each image changed in its own way together with its objects."""
        made = [self._changed(place) for place in places.tolist()]
        return DetectionBatch([image for image, _ in made], [objects for _, objects in made])

    def _changed(self, place: int) -> tuple[Tensor, Objects]:
        image, own = as_floats(self.images[place], self.dtype), self.objects[place]
        if not self.changes:
            return image, own
        boxes, labels = own.boxes, own.labels
        if own.proposals is not None:
            boxes = torch.cat((boxes, own.proposals))
            labels = torch.cat((labels, torch.full((len(own.proposals),), PROPOSED, device=labels.device)))
        scene = change_scene(self.changes, Scene(image, boxes, labels, own.masks))
        assert scene.boxes is not None
        assert scene.labels is not None
        is_object = scene.labels != PROPOSED
        proposals = None if own.proposals is None else scene.boxes[~is_object]
        return scene.image, Objects(scene.boxes[is_object], scene.labels[is_object], scene.masks, proposals)


def found_in(
    module: nn.Module, images: Sequence[Array], classes: Array, propose: Proposer | None, batch_size: int
) -> Iterator[Detections]:
    """Yield what a network in test mode finds in each image, labels in words of the user."""
    like = next(module.parameters())
    for start in range(0, len(images), batch_size):
        batch = images[start : start + batch_size]
        tensors = [images_to(image, like.device, like.dtype) for image in batch]
        proposals = None
        if propose is not None:
            boxes = run_blocks(propose, batch)
            proposals = [tensor_of(own).to(like.device, like.dtype) for own in boxes]
        with torch.inference_mode():
            for found in module(tensors, proposals):
                yield _detections(found, classes)


def _detections(found: Found, classes: Array) -> Detections:
    masks = None if found.masks is None else (found.masks >= 0.5).cpu().numpy()
    numbers: list[Any] = [part.double().cpu().numpy() for part in (found.boxes, found.scores)]
    return Detections(numbers[0], numbers[1], classes[found.labels.cpu().numpy()], masks)


class LossParts:
    """Remembers the parts of the loss of each batch of an epoch, without waiting for the device."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.rows: list[Tensor] = []

    def see(self, losses: dict[str, Tensor]) -> Tensor:
        """Take in the parts of one batch; return their sum."""
        self.names = tuple(losses)
        values = torch.stack([loss.float() for loss in losses.values()])
        self.rows.append(values.detach())
        return values.sum()

    def means(self) -> dict[str, float]:
        """Return the mean of each part since the last time, and forget them."""
        if not self.rows:
            return {}
        found = torch.stack(self.rows).double().mean(dim=0).cpu().numpy()
        self.rows = []
        return {f"{name}_loss": float(value) for name, value in zip(self.names, found, strict=True)}

    def blame(self) -> str:
        """Return a sentence about the first part that is no number; empty if all are."""
        for values in self.rows:
            wrong = [
                name for name, value in zip(self.names, np.asarray(values.cpu()), strict=True) if not np.isfinite(value)
            ]
            if wrong:
                return f"It is the loss of {' and '.join(wrong)}. "
        return ""
