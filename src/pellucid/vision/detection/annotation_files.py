"""Files that say which objects are where: COCO's JSON, and tables with a line for each box; read and written."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.vision.detection.annotations import Annotations, Detections
from pellucid.vision.detection.mask_coding import mask_of, run_lengths

HEADS: Mapping[str, tuple[str, ...]] = {
    "image": ("image", "file", "file_name", "filename", "image_name", "path"),
    "label": ("label", "class_name", "class", "category", "name"),
}
"""What a column may be called, in any case."""
CORNERS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))
CENTERS = ("x_center", "y_center", "width", "height")
"""Centers and sizes in parts of the image, as YOLO's files have them."""
ROOM = 1.0
"""Pixels by which a box may reach beyond its image: some count pixels from 1. What is outside is cut off."""


@dataclass(frozen=True)
class ListedBox:
    """A box as a file lists it."""

    image: str
    label: str
    box: tuple[float, float, float, float]
    """(x1, y1, x2, y2) in pixels, or in parts of the image."""
    where: str
    """Where in the file it stands, for the user to find it."""
    in_parts: bool = False
    is_crowd: bool = False
    outline: Any = None
    """Its mask as COCO writes it: polygons, or lengths of runs."""


@dataclass(frozen=True)
class AnnotationFile:
    """What a file lists, and all that is wrong with it by itself."""

    name: str
    boxes: dict[str, list[ListedBox]] = field(default_factory=dict)
    """By the name of their image."""
    images: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    """Name of each image that the file knows -> its height and width, where it says so."""
    faults: list[str] = field(default_factory=list)

    @cached_property
    def has_masks(self) -> bool:
        """Whether every object has one: half of them would teach that the others have no pixels."""
        listed = [one for boxes in self.boxes.values() for one in boxes]
        return bool(listed) and all(one.outline for one in listed)

    def in_image(self, image: str, height: int, width: int, *, masks: bool = False) -> tuple[Annotations, list[str]]:
        """Return the objects of an image, cut off at its border, and what is wrong with its boxes.

        Masks, a byte for each pixel of each object, are drawn only if they are asked for.
        """
        faults, boxes, labels, crowds = [], [], [], []
        drawn: list[Array] | None = [] if masks else None
        size = self.images.get(image)
        if size is not None and size != (height, width):
            faults.append(f"{image} has {width} x {height} pixels where {self.name} says {size[1]} x {size[0]}")
        for listed in self.boxes.get(image, []):
            box = _in_pixels(listed, height, width)
            if box[2] <= box[0] or box[3] <= box[1]:
                faults.append(f"{listed.where}: the box {_said(box)} in {image} is empty")
            elif min(box[:2]) < -ROOM or box[2] > width + ROOM or box[3] > height + ROOM:
                faults.append(f"{listed.where}: the box {_said(box)} is outside of {image}, {width} x {height} pixels")
            else:
                boxes.append(np.clip(box, 0.0, [width, height, width, height]))
                labels.append(listed.label)
                crowds.append(listed.is_crowd)
                if drawn is not None:
                    try:
                        drawn.append(mask_of(listed.outline, height, width))
                    except ValueError as error:
                        drawn.append(np.zeros((height, width), dtype=bool))
                        faults.append(f"{listed.where}: {error}")
        known = None if drawn is None else np.array(drawn, dtype=bool).reshape(-1, height, width)
        where, what = np.array(boxes).reshape(-1, 4), np.array(labels, str)
        return Annotations(where, what, np.array(crowds, bool), masks=known), faults


def read_annotation_file(path: str | Path) -> AnnotationFile:
    """Return what a file lists: which objects are where in which image.

    A table has a column for the image, one for the label, and four for the box: x1, y1, x2, y2 in pixels (or xmin,
    ymin, xmax, ymax), or x_center, y_center, width, height in parts of the image. What is wrong is listed in
    ``faults``, all of it; a file that cannot be read at all raises an error.

    Parameters
    ----------
    path : str or Path
        A file ``.json`` as COCO writes it, or ``.csv`` with a line for each box.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"boxes must be a file, got {path}, which does not exist.")
    if path.suffix.lower() not in (".json", ".csv"):
        raise ValueError(f"boxes must be a .csv file, or COCO's .json, got {path.name}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"boxes must be a text file, got {path.name}, which cannot be read: {error}") from error
    return _read_coco(text, path.name) if path.suffix.lower() == ".json" else _read_table(text, path.name)


def _read_table(text: str, name: str) -> AnnotationFile:
    rows = csv.reader(text.splitlines())
    heads = [head.strip().lower() for head in next(rows, [])]
    found = AnnotationFile(name)
    columns = {what: next((heads.index(one) for one in known if one in heads), -1) for what, known in HEADS.items()}
    sides = next((one for one in (*CORNERS, CENTERS) if set(one) <= set(heads)), None)
    if sides is None or min(columns.values()) < 0:
        raise ValueError(
            f"boxes must have columns for image, label and x1, y1, x2, y2, got {', '.join(heads) or 'nothing'} "
            f"in {name}. Name them so in the first line."
        )
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        where = f"line {number}"
        cells = [cell.strip() for cell in row] + [""] * (len(heads) - len(row))
        image, label = cells[columns["image"]], cells[columns["label"]]
        numbers = _numbers(cells[heads.index(side)] for side in sides)
        faults = [f"{where}: no image is named"] * (not image) + [f"{where}: the box has no label"] * (not label)
        if numbers is None:
            faults.append(f"{where}: {', '.join(sides)} are not all numbers")
        found.faults.extend(faults)
        if image:
            found.images.setdefault(image, None)
        if not faults and numbers is not None:
            found.boxes.setdefault(image, []).append(ListedBox(image, label, numbers, where, sides is CENTERS))
    return found


def _read_coco(text: str, name: str) -> AnnotationFile:
    found = AnnotationFile(name)
    try:
        document = json.loads(text)
        names = {one["id"]: str(one["file_name"]) for one in document["images"]}
        classes = {one["id"]: str(one["name"]) for one in document["categories"]}
        listed = list(document["annotations"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"boxes must be COCO's JSON, with images, categories and annotations, got {name}, where {error!r} is wrong."
        ) from error
    for one in document["images"]:
        is_sized = isinstance(one.get("height"), int) and isinstance(one.get("width"), int)
        found.images[names[one["id"]]] = (one["height"], one["width"]) if is_sized else None
    for place, one in enumerate(listed):
        where = f"annotation {one['id'] if isinstance(one, dict) and 'id' in one else place}"
        image, label = (one.get(key) if isinstance(one, dict) else None for key in ("image_id", "category_id"))
        numbers = _numbers(one["bbox"]) if isinstance(one, dict) and isinstance(one.get("bbox"), list) else None
        faults = []
        if image not in names:
            faults.append(f"{where}: the image {image!r} is not listed")
        if label not in classes:
            faults.append(f"{where}: the class {label!r} is not listed")
        if numbers is None:
            faults.append(f"{where}: its bbox is not four numbers")
        found.faults.extend(faults)
        if not faults and numbers is not None:
            x, y, width, height = numbers
            box, is_crowd = (x, y, x + width, y + height), bool(one.get("iscrowd"))
            outline = one.get("segmentation")
            listed_box = ListedBox(names[image], classes[label], box, where, is_crowd=is_crowd, outline=outline)
            found.boxes.setdefault(names[image], []).append(listed_box)
    return found


def _numbers(cells: Iterable[Any]) -> tuple[float, float, float, float] | None:
    """Return four numbers, or None where there are others."""
    try:
        found = [float(cell) for cell in cells]
    except (TypeError, ValueError):
        return None
    return tuple(found) if len(found) == 4 and all(map(math.isfinite, found)) else None  # type: ignore[return-value]


def _in_pixels(listed: ListedBox, height: int, width: int) -> Array:
    if not listed.in_parts:
        return np.array(listed.box)
    x, y, w, h = listed.box
    return np.array([(x - w / 2) * width, (y - h / 2) * height, (x + w / 2) * width, (y + h / 2) * height])


def _said(box: Array) -> str:
    return "[" + ", ".join(f"{side:g}" for side in box.round(2)) + "]"


def coco_detections(
    found: Sequence[Detections], names: Sequence[str], sizes: Sequence[tuple[int, int]], classes: Sequence[Any]
) -> dict[str, Any]:
    """Return detections as COCO writes them: images, categories, and annotations with scores, masks in run lengths.

    Parameters
    ----------
    found : sequence of Detections
        What was found in each image.
    names, sizes : sequences
        File name, and height and width, of each image.
    classes : sequence
        Labels in the order of the categories' numbers, from 1.

    Examples
    --------
    >>> one = Detections(boxes=[[1, 2, 4, 8]], scores=[0.5], labels=["cat"])
    >>> coco_detections([one], ["a.png"], [(9, 9)], ["cat"])["annotations"][0]["bbox"]
    [1.0, 2.0, 3.0, 6.0]
    """
    numbers = {label: number for number, label in enumerate(classes, start=1)}
    annotations: list[dict[str, Any]] = []
    for image, one in enumerate(found, start=1):
        for k, (box, score, label) in enumerate(
            zip(one.boxes.tolist(), one.scores.tolist(), one.labels.tolist(), strict=True)
        ):
            x1, y1, x2, y2 = (round(side, 3) for side in box)
            written = {
                "id": len(annotations) + 1,
                "image_id": image,
                "category_id": numbers[label],
                "bbox": [x1, y1, round(x2 - x1, 3), round(y2 - y1, 3)],
                "area": round((x2 - x1) * (y2 - y1), 3),
                "iscrowd": 0,
                "score": round(score, 6),
            }
            if one.masks is not None:
                written["segmentation"] = {"size": list(one.masks[k].shape), "counts": run_lengths(one.masks[k])}
                written["area"] = int(one.masks[k].sum())
            annotations.append(written)
    images = [
        {"id": number, "file_name": name, "height": height, "width": width}
        for number, (name, (height, width)) in enumerate(zip(names, sizes, strict=True), start=1)
    ]
    categories = [{"id": number, "name": str(label)} for label, number in numbers.items()]
    return {"images": images, "categories": categories, "annotations": annotations}
