"""Images and label maps as the trainer takes them, on a device, and the loss of their pixels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from pellucid.core.types import Array
from pellucid.neural_network.training.device_rows import tensor_of
from pellucid.vision.models.resnet_fcn import ResidualPixelNetwork
from pellucid.vision.scene_augmentation import Scene, SceneChange, as_floats, change_scene
from pellucid.vision.scene_estimator import images_to
from pellucid.vision.segmentation.label_maps import IGNORED
from pellucid.vision.segmentation.pixel_scores import pixel_scores

SECOND_HEAD = 0.5
"""How much the loss of an auxiliary head counts, as torchvision trains."""


TRIED = 64
"""Height and width of the corner of an image that a network is tried on before it trains."""


class PixelBatch(NamedTuple):
    """Images (B, C, H, W), codes (B, H, W), how much each image counts (None: once), and each class (K,)."""

    inputs: Tensor
    targets: Tensor
    weight: Tensor | None
    class_weight: Tensor


@dataclass(frozen=True)
class LabeledImages:
    """Checked images (height, width, channels), codes of their pixels, the labels of these, and weights of images."""

    images: Sequence[Array]
    codes: Sequence[Array]
    classes: Array
    weight: Array | None

    def __len__(self) -> int:
        return len(self.images)

    def take(self, places: Iterable[int]) -> Self:
        """Return some of them."""
        chosen = list(places)
        weight = None if self.weight is None else self.weight[chosen]
        images, codes = ([own[i] for i in chosen] for own in (self.images, self.codes))
        return type(self)(images, codes, self.classes, weight)

    def arrays(self) -> Iterable[Array | None]:
        """Return all numbers, by which the data are known again."""
        return (*self.images, *self.codes, self.weight)


class PixelRows:
    """Labeled images that lie on a device; a batch is as large as the largest of its images."""

    def __init__(
        self,
        labeled: LabeledImages,
        class_weight: Array,
        like: Tensor,
        changes: tuple[SceneChange, ...],
        channels_last: bool,
    ) -> None:
        device = like.device
        self.changes, self.dtype = changes, like.dtype
        self.layout = torch.channels_last if channels_last else torch.contiguous_format
        self.images = [tensor_of(image).to(device).permute(2, 0, 1) for image in labeled.images]
        self.codes = [tensor_of(codes).to(device) for codes in labeled.codes]
        self.weight = None if labeled.weight is None else torch.from_numpy(labeled.weight).to(device, self.dtype)
        self.class_weight = torch.from_numpy(class_weight).to(device, self.dtype)

    def __len__(self) -> int:
        return len(self.images)

    def take(self, places: Tensor) -> PixelBatch:
        """Return a batch, each image changed in its own way together with its codes."""
        scenes = [self._scene(place) for place in places.tolist()]
        height, width = (max(scene.image.shape[side] for scene in scenes) for side in (-2, -1))
        inputs = torch.stack([_filled(scene.image, height, width, 0.0) for scene in scenes])
        targets = torch.stack([_filled(scene.label_map, height, width, IGNORED) for scene in scenes]).long()
        weight = None if self.weight is None else self.weight[places]
        return PixelBatch(inputs.contiguous(memory_format=self.layout), targets, weight, self.class_weight)

    def _scene(self, place: int) -> Scene:
        image = as_floats(self.images[place], self.dtype)
        return change_scene(self.changes, Scene(image, label_map=self.codes[place], ignored=IGNORED))


def _filled(maps: Tensor | None, height: int, width: int, fill: float) -> Tensor:
    assert maps is not None
    return pad(maps, (0, width - maps.shape[-1], 0, height - maps.shape[-2]), value=fill)


def pixel_loss(module: nn.Module, batch: PixelBatch) -> Tensor:
    """Return the cross entropy, a mean over the pixels that count, by the weights of their classes and images."""
    if module.training and isinstance(module, ResidualPixelNetwork):
        first, second = module.both_scores(batch.inputs)
        loss = _weighted(first, batch)
        return loss if second is None else loss + SECOND_HEAD * _weighted(second, batch)
    return _weighted(pixel_scores(module, batch.inputs), batch)


def _weighted(scores: Tensor, batch: PixelBatch) -> Tensor:
    losses = cross_entropy(scores, batch.targets, ignore_index=IGNORED, reduction="none")
    weight = batch.class_weight[batch.targets.clamp(min=0)] * (batch.targets != IGNORED)
    if batch.weight is not None:
        weight = weight * batch.weight[:, None, None]
    weight = weight.to(losses.dtype)
    return (weight * losses).sum() / weight.sum().clamp(min=torch.finfo(losses.dtype).tiny)


MOST_BALANCE = 10.0
"""The largest weight of a class that "balanced" gives: a class of few pixels would be seen everywhere."""


def class_weights_of(class_weight: Any, labeled: LabeledImages) -> Array:
    """Return how much a pixel of each class counts.

    Examples
    --------
    >>> labeled = LabeledImages([np.zeros((1, 4, 1))], [np.array([[0, 0, 0, 1]])], np.array(["sky", "road"]), None)
    >>> class_weights_of("balanced", labeled)
    array([0.66666667, 2.        ])
    """
    classes = labeled.classes
    if class_weight is None:
        return np.ones(len(classes))
    if not isinstance(class_weight, str):
        known = {label: float(number) for label, number in class_weight.items()}
        unknown = sorted(map(repr, set(known) - set(classes.tolist())))
        if unknown or min(known.values(), default=1.0) < 0:
            raise ValueError(
                f"class_weight must give labels numbers of at least 0, got {dict(class_weight)!r}. "
                f"The labels are {classes.tolist()}."
            )
        return np.array([known.get(label, 1.0) for label in classes.tolist()])
    shares = np.ones(len(labeled)) if labeled.weight is None else labeled.weight
    counts = sum(
        share * np.bincount(own[own != IGNORED], minlength=len(classes))
        for share, own in zip(shares, labeled.codes, strict=True)
    )
    return np.minimum(np.sum(counts) / (len(classes) * np.maximum(counts, 1e-300)), MOST_BALANCE)


@torch.no_grad()
def check_network(module: nn.Module, image: Array, n_classes: int) -> None:
    """Refuse a network that does not score every pixel of (a corner of) an image once for each class."""
    first = next(module.parameters(), None)
    if first is None:
        raise ValueError("network must have weights to learn, got none. Give it a layer that has some.")
    corner = images_to(image[:TRIED, :TRIED], first.device, first.dtype)[None]
    module.eval()
    try:
        scores = pixel_scores(module, corner)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"network must take images of {image.shape[2]} channels, but it does not: "
            f"{str(error).splitlines()[0].rstrip('.')}. Leave channels=None, or change its first layer."
        ) from error
    wanted = (1, n_classes, *corner.shape[-2:])
    if not isinstance(scores, Tensor) or tuple(scores.shape) != wanted:
        got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ValueError(
            f"network must give {n_classes} scores for every pixel, of shape {wanted}, got {got}. "
            "Leave classes=None, and use one that keeps the size of the image, such as UNet(padding='same')."
        )
