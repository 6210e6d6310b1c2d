"""From a photo to the objects in it: found by a trained network, drawn, and written as COCO does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.app.pictures.image_files import ImageFile
from pellucid.app.pictures.segment_image import as_channels, as_color, class_colors
from pellucid.core.types import Array
from pellucid.vision.detection.annotation_files import coco_detections
from pellucid.vision.detection.annotations import Detections

if TYPE_CHECKING:
    from pellucid.vision.detection.detector import Detector

OPACITY = 0.45
"""How much of a mask's color is seen."""
LINE = 14
"""Height of a line of the font that Pillow brings, in pixels."""

Color = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class DetectedFile:
    """What was found in an image file."""

    before: ImageFile
    """The image as it was read."""
    found: Detections
    """The surest first, none below the threshold."""
    model: Detector
    """The detector that found them."""
    threshold: float
    """The least score of a detection that is kept."""
    seconds: float
    """How long it took to find them."""

    @property
    def picture(self) -> Array:
        """The photo with boxes, labels and scores drawn."""
        return drawn_detections(as_color(self.before.pixels), self.found, self.model.classes_.tolist())

    def document(self, name: str) -> dict[str, object]:
        """Return COCO's form of what was found."""
        height, width = self.before.pixels.shape[:2]
        return coco_detections([self.found], [name], [(height, width)], self.model.classes_.tolist())


def detect_image(image: ImageFile, model: Detector, threshold: float = 0.5) -> DetectedFile:
    """Return the objects of an image that the model is sure enough of.

    Parameters
    ----------
    image : ImageFile
        What ``read_image`` returns; gray becomes color, or color gray, as the model takes it.
    model : Detector
        A fitted one.
    threshold : float, default=0.5
        Least score of an object, from 0 to 1.
    """
    start = time.perf_counter()
    (found,) = model.predict([as_channels(image.pixels, model.channels_)])
    return DetectedFile(image, surest(found, threshold), model, threshold, time.perf_counter() - start)


def surest(found: Detections, threshold: float) -> Detections:
    """Return the detections with a score of at least the threshold, by falling score."""
    order = np.argsort(-found.scores, kind="stable")
    order = order[found.scores[order] >= threshold]
    masks = None if found.masks is None else found.masks[order]
    return Detections(found.boxes[order], found.scores[order], found.labels[order], masks)


def drawn_detections(picture: Array, found: Detections, classes: Sequence[object]) -> Array:
    """Return a picture with masks, boxes, and above each box its label and score; the surest on top."""
    colors = dict(zip(classes, class_colors(len(classes)), strict=True))
    labels = found.labels.tolist()
    picture = picture.astype(np.float64)
    if found.masks is not None:
        for mask, label in zip(found.masks[::-1], labels[::-1], strict=True):
            picture[mask] = (1.0 - OPACITY) * picture[mask] + OPACITY * np.array(colors[label])
    texts = [f"{label} {score:.2f}" for label, score in zip(labels, found.scores, strict=True)]
    return draw_boxes(np.rint(picture).astype(np.uint8), found.boxes, texts, [colors[label] for label in labels])


def draw_boxes(picture: Array, boxes: Array, texts: Sequence[str], colors: Sequence[Color]) -> Array:
    """Return a picture with boxes and a text above each; the first box is drawn last."""
    from PIL import Image, ImageDraw

    drawn = Image.fromarray(picture)
    draw = ImageDraw.Draw(drawn)
    thick = max(1, round(max(picture.shape[:2]) / 300))
    for box, text, color in list(zip(boxes.tolist(), texts, colors, strict=True))[::-1]:
        left, top, right, bottom = box[0], box[1], max(box[2] - 1, box[0]), max(box[3] - 1, box[1])
        draw.rectangle((left, top, right, bottom), outline=color, width=thick)
        if text:
            above = max(top - LINE, 0)
            draw.rectangle((left, above, left + draw.textlength(text) + 4, above + LINE), fill=color)
            is_bright = sum(color) > 382
            draw.text((left + 2, above + 1), text, fill="black" if is_bright else "white")
    return np.asarray(drawn)
