"""From an image file to a class for each of its pixels: colors laid over the picture, a legend, and COCO's form."""

from __future__ import annotations

import colorsys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from pellucid.app.pictures.image_files import ImageFile
from pellucid.core.types import Array
from pellucid.vision.detection.mask_coding import run_lengths
from pellucid.vision.segmentation.segmenter import Segmenter

OPACITY = 0.55
"""Of the colors that lie over the picture."""

LINE, MARGIN, SWATCH = 22, 10, 12
"""Of the legend, in pixels: height of a line, space at the sides, side of a colored square."""

LETTER = 8
"""Width of a letter of the legend, at most."""


@dataclass(frozen=True)
class FoundClass:
    """One class that was seen."""

    label: Any
    name: str
    color: tuple[int, int, int]
    pixels: int
    share: float
    confidence: float
    """Mean probability that the network gave it at its pixels."""


@dataclass(frozen=True, eq=False)
class SegmentedFile:
    """What was seen in an image file."""

    before: ImageFile
    """The image as it was read."""
    codes: Array
    """(height, width): places among the classes of the model."""
    confidence: Array
    """(height, width): probability of the class chosen."""
    model: Segmenter
    """The segmenter that was asked."""
    names: tuple[str, ...]
    """What the classes of the model are called, in the order of its ``classes_``."""
    found: list[FoundClass]
    """Classes that were seen, the largest first."""
    seconds: float
    """How long it took."""

    @property
    def overlay(self) -> Array:
        """The picture with the colors of the classes laid over it, without their legend."""
        picture = as_color(self.before.pixels).astype(np.float64)
        colors = np.array(class_colors(len(self.names)), dtype=np.float64)[self.codes]
        return np.rint((1.0 - OPACITY) * picture + OPACITY * colors).astype(np.uint8)


def segment_image(image: ImageFile, model: Segmenter, names: Sequence[str] | None = None) -> SegmentedFile:
    """Return the class of each pixel, with the share of the image that each class has.

    Parameters
    ----------
    image : ImageFile
        What ``read_image`` returns; gray becomes color, or color gray, as the model takes it.
    model : Segmenter
        A fitted one.
    names : sequence of str, default=None
        One for each class, in the order of the model's ``classes_``; None takes the labels.
    """
    start = time.perf_counter()
    labels = model.classes_.tolist()
    names = tuple(map(str, labels if names is None else names))
    if len(names) != len(labels):
        raise ValueError(f"names must be one for each of the {len(labels)} classes of the model, got {len(names)}.")
    shares = model.predict_proba([as_channels(image.pixels, model.channels_)])[0]
    codes, confidence = shares.argmax(axis=2), shares.max(axis=2)
    colors, counts = class_colors(len(names)), np.bincount(codes.ravel(), minlength=len(names))
    found = [
        FoundClass(
            labels[k],
            names[k],
            colors[k],
            int(counts[k]),
            float(counts[k] / codes.size),
            float(confidence[codes == k].mean()),
        )
        for k in np.argsort(-counts, kind="stable")
        if counts[k]
    ]
    return SegmentedFile(image, codes, confidence, model, names, found, time.perf_counter() - start)


def class_colors(n_classes: int) -> list[tuple[int, int, int]]:
    """Return colors that are told apart: hues a golden angle apart, in turn brighter and darker."""
    found = []
    for place in range(n_classes):
        hue, value = (0.6 + place * 0.381966) % 1.0, (0.95, 0.7)[place % 2]
        red, green, blue = colorsys.hsv_to_rgb(hue, 0.75, value)
        found.append((round(255 * red), round(255 * green), round(255 * blue)))
    return found


def as_color(pixels: Array) -> Array:
    """Return a picture as bytes of three channels."""
    peak = {"uint8": 255.0, "uint16": 65535.0}.get(pixels.dtype.name, 1.0)
    gray = np.clip(np.rint(pixels.astype(np.float64) * (255.0 / peak)), 0, 255).astype(np.uint8)
    return np.repeat(gray[:, :, None], 3, axis=2) if gray.ndim == 2 else gray


def as_channels(pixels: Array, channels: int) -> Array:
    """Return a picture with the channels that a model takes: gray from color, or color from gray."""
    if channels == 3 and pixels.ndim == 2:
        return np.repeat(pixels[:, :, None], 3, axis=2)
    if channels == 1 and pixels.ndim == 3:
        return pixels.mean(axis=2).astype(pixels.dtype)
    return pixels


def with_legend(picture: Array, entries: Sequence[tuple[str, tuple[int, int, int]]]) -> Array:
    """Return a picture with a legend below it: squares of color and names, as many in a line as fit."""
    from PIL import Image, ImageDraw

    width = max(SWATCH + 6 + LETTER * len(name) for name, _ in entries) + MARGIN
    columns = max(1, (picture.shape[1] - MARGIN) // width)
    rows = -(-len(entries) // columns)
    legend = Image.new("RGB", (max(picture.shape[1], width + MARGIN), rows * LINE + MARGIN), "white")
    draw = ImageDraw.Draw(legend)
    for place, (name, color) in enumerate(entries):
        left, top = MARGIN + place % columns * width, MARGIN // 2 + place // columns * LINE
        draw.rectangle((left, top + 4, left + SWATCH, top + 4 + SWATCH), fill=color)
        draw.text((left + SWATCH + 6, top + 4), name, fill="black")
    below = np.asarray(legend)
    wide = max(picture.shape[1], below.shape[1])
    parts = [
        np.pad(part, ((0, 0), (0, wide - part.shape[1]), (0, 0)), constant_values=255) for part in (picture, below)
    ]
    return np.concatenate(parts)


def label_map_bytes(result: SegmentedFile) -> bytes:
    """Return a PNG whose gray values are the labels, or their places where labels are no bytes."""
    from PIL import Image

    labels = result.model.classes_
    are_bytes = labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() <= 255
    values = labels[result.codes] if are_bytes else result.codes
    content = BytesIO()
    Image.fromarray(values.astype(np.uint8 if len(labels) <= 256 else np.uint16)).save(content, format="PNG")
    return content.getvalue()


def coco_document(result: SegmentedFile, file_name: str) -> dict[str, Any]:
    """Return what was seen as COCO writes it: images, categories, and for each class one region in run lengths."""
    height, width = result.codes.shape
    categories = [{"id": place, "name": name} for place, name in enumerate(result.names)]
    annotations = []
    for number, one in enumerate(result.found, start=1):
        place = result.names.index(one.name)
        mask = result.codes == place
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        box = [columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1]
        annotations.append(
            {
                "id": number,
                "image_id": 1,
                "category_id": place,
                "segmentation": {"size": [height, width], "counts": run_lengths(mask)},
                "area": one.pixels,
                "bbox": [int(side) for side in box],
                "iscrowd": 1,  # a region, not one object: COCO writes those in run lengths
                "score": round(one.confidence, 4),
            }
        )
    images = [{"id": 1, "file_name": file_name, "height": height, "width": width}]
    return {"images": images, "categories": categories, "annotations": annotations}
