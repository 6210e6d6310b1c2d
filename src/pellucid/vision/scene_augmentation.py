"""Changes of a scene in which image, boxes, masks and label map move together, by draws of torch's own generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from pellucid.core.kinds.plain import Number
from pellucid.core.kinds.records import Configured

SMALLEST_SIDE = 1.0
"""Boxes that a crop leaves narrower than this many pixels are left out."""

LEAST_SEEN = 0.3
"""Share of its area that a box must keep inside the picture to stay an object."""


@dataclass(frozen=True)
class Scene:
    """One image (channels, height, width) and what is seen in it; what a task does not have is None."""

    image: Tensor
    boxes: Tensor | None = None
    """(n, 4): left, top, right, bottom, in pixels."""
    labels: Tensor | None = None
    masks: Tensor | None = None
    """(n, height, width), one for each box."""
    label_map: Tensor | None = None
    """(height, width), a class for each pixel."""
    ignored: int = -1
    """What a pixel outside of the picture has in the label map."""

    def keep(self, chosen: Tensor) -> Scene:
        """Return the scene with some of its objects."""
        kept = {
            name: None if value is None else value[chosen]
            for name, value in (("boxes", self.boxes), ("labels", self.labels), ("masks", self.masks))
        }
        return replace(self, **kept)  # type: ignore[arg-type]  # the names of tensors only


class SceneChange(Protocol):
    """A step of an augmentation."""

    def __call__(self, scene: Scene) -> Scene:
        """Return the scene, changed."""
        ...


def as_floats(image: Tensor, dtype: torch.dtype) -> Tensor:
    """Return an image, of bytes or of numbers, in a dtype, with white at 1."""
    return image.to(dtype) / 255.0 if image.dtype == torch.uint8 else image.to(dtype)


def change_scene(changes: Iterable[SceneChange], scene: Scene) -> Scene:
    """Return a scene after several changes, one after the other."""
    for change in changes:
        scene = change(scene)
    return scene


def _uniform(low: float, high: float) -> float:
    return low + (high - low) * float(torch.rand(()))


@dataclass(frozen=True)
class SceneFlip(Configured):
    """Swap left and right.

    Examples
    --------
    >>> scene = Scene(torch.arange(3.0).reshape(1, 1, 3), boxes=torch.tensor([[0.0, 0.0, 1.0, 1.0]]))
    >>> flipped = SceneFlip(probability=1.0)(scene)
    >>> flipped.image.flatten().tolist(), flipped.boxes.tolist()
    ([2.0, 1.0, 0.0], [[2.0, 0.0, 3.0, 1.0]])
    """

    probability: float = 0.5

    settings: ClassVar = {"probability": Number(low=0, high=1)}

    def __call__(self, scene: Scene) -> Scene:
        """Return the scene or its mirror image."""
        if _uniform(0.0, 1.0) >= self.probability:
            return scene
        boxes, width = scene.boxes, scene.image.shape[-1]
        if boxes is not None:
            boxes = torch.stack((width - boxes[:, 2], boxes[:, 1], width - boxes[:, 0], boxes[:, 3]), dim=1)
        masks = None if scene.masks is None else scene.masks.flip(-1)
        label_map = None if scene.label_map is None else scene.label_map.flip(-1)
        return replace(scene, image=scene.image.flip(-1), boxes=boxes, masks=masks, label_map=label_map)


@dataclass(frozen=True)
class SceneScale(Configured):
    """Enlarge or shrink by a factor drawn evenly on a log scale; then cut out or pad to the old size, anywhere.

    Objects of which less than 30 % is left inside are left out.
    """

    low: float = 0.8
    high: float = 1.25

    settings: ClassVar = {"low": Number(above=0, high=1), "high": Number(low=1, high=16)}

    def __call__(self, scene: Scene) -> Scene:
        """Return the scene, seen from nearer or farther."""
        height, width = scene.image.shape[-2:]
        logs = torch.log(torch.tensor([self.low, self.high]))
        factor = float(torch.exp(logs[0] + (logs[1] - logs[0]) * torch.rand(())))
        size = (max(1, round(factor * height)), max(1, round(factor * width)))
        top, left = (round(_uniform(0.0, old - new)) for old, new in ((height, size[0]), (width, size[1])))
        window = _Window(size, top, left, height, width)
        image = window.of(scene.image, "bilinear", 0.0)
        masks = None if scene.masks is None else window.of(scene.masks, "nearest", 0.0)
        label_map = None if scene.label_map is None else window.of(scene.label_map[None], "nearest", scene.ignored)[0]
        moved = replace(scene, image=image, masks=masks, label_map=label_map)
        return moved if scene.boxes is None else _cut_boxes(moved, window.of_boxes(scene.boxes), height, width)


@dataclass(frozen=True)
class _Window:
    """A picture resized to ``size`` and laid at (top, left) of one that is height x width."""

    size: tuple[int, int]
    top: int
    left: int
    height: int
    width: int

    def of(self, maps: Tensor, mode: str, fill: float) -> Tensor:
        """Return maps (k, height, width) resized and laid, in their dtype."""
        smooth = {"antialias": True, "align_corners": False} if mode == "bilinear" else {}
        resized = functional.interpolate(maps[None].to(torch.float32), self.size, mode=mode, **smooth)[0]
        bottom, right = self.height - self.top - self.size[0], self.width - self.left - self.size[1]
        return functional.pad(resized, (self.left, right, self.top, bottom), value=fill).to(maps.dtype)

    def of_boxes(self, boxes: Tensor) -> Tensor:
        """Return boxes where the picture is laid."""
        scale = boxes.new_tensor([self.size[1] / self.width, self.size[0] / self.height]).repeat(2)
        return boxes * scale + boxes.new_tensor([self.left, self.top]).repeat(2)


def _cut_boxes(scene: Scene, boxes: Tensor, height: int, width: int) -> Scene:
    """Return the scene with boxes cut at its border; objects of which little is left go."""
    most = boxes.new_tensor([width, height]).repeat(2)
    cut = torch.minimum(boxes.clamp(min=0.0), most)
    before, after = boxes[:, 2:] - boxes[:, :2], cut[:, 2:] - cut[:, :2]
    share = after.prod(dim=1) / before.prod(dim=1).clamp(min=1e-9)
    return replace(scene, boxes=cut).keep((share >= LEAST_SEEN) & (after.min(dim=1).values >= SMALLEST_SIDE))


@dataclass(frozen=True)
class ColorShift(Configured):
    """Change brightness and contrast of the whole image, and the balance of its channels, each by a random part."""

    brightness: float = 0.2
    contrast: float = 0.2
    balance: float = 0.05

    settings: ClassVar = {name: Number(low=0, high=1) for name in ("brightness", "contrast", "balance")}

    def __call__(self, scene: Scene) -> Scene:
        """Return the scene in another light."""
        image = scene.image
        middle = image.mean()
        contrast, brightness = (
            1.0 + _uniform(-self.contrast, self.contrast),
            _uniform(-self.brightness, self.brightness),
        )
        shifts = (2.0 * torch.rand(len(image), 1, 1) - 1.0).to(image) * self.balance
        return replace(scene, image=((image - middle) * contrast + middle + brightness * 0.5 + shifts).clamp(0.0, 1.0))
