"""Selective search beside OpenCV's: recall and mean best overlap against the number of boxes, and time.

``PELLUCID_SCENES=FOLDER python -m benchmarks selective_search [--only fast|quality]``: FOLDER holds coco128, with
train2017 and boxes_train2017.csv, and pennfudan, with images and boxes.csv. ``PELLUCID_PART=val2017`` takes another
part of COCO; ``PELLUCID_EVERY=4 PELLUCID_FROM=1`` every fourth image, from the second on. OpenCV's is in
``opencv-contrib-python-headless``; without it ours is printed alone.
"""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from pellucid.vision.detection import box_iou, selective_search

NUMBERS = (100, 300, 1000, 2000)
EVERYTHING = 1 << 40
Search = Callable[[np.ndarray], np.ndarray]
Scene = tuple[np.ndarray, np.ndarray]


def scenes(name: str) -> list[Scene]:
    """Return images and the boxes of their objects."""
    from PIL import Image

    folder = Path(os.environ["PELLUCID_SCENES"]) / name
    part = os.environ.get("PELLUCID_PART", "train2017")
    images, table = (part, f"boxes_{part}.csv") if name == "coco128" else ("images", "boxes.csv")
    boxes: dict[str, list[dict[str, str]]] = {}
    with (folder / table).open(newline="") as file:
        for row in csv.DictReader(file):
            boxes.setdefault(row["image"], []).append(row)
    first, step = int(os.environ.get("PELLUCID_FROM", "0")), int(os.environ.get("PELLUCID_EVERY", "1"))
    files = sorted((folder / images).iterdir())[first::step]
    found = []
    for file in files:
        if file.stem in boxes:
            image = np.asarray(Image.open(file).convert("RGB"))
            found.append((image, np.array([_corners(row, image) for row in boxes[file.stem]])))
    return found


def _corners(row: dict[str, str], image: np.ndarray) -> list[float]:
    """Return (x1, y1, x2, y2): COCO128's boxes are centers and sizes in parts of the image."""
    if "xmin" in row:
        return [float(row[name]) for name in ("xmin", "ymin", "xmax", "ymax")]
    x, y, w, h = (float(row[name]) for name in ("x_center", "y_center", "width", "height"))
    height, width = image.shape[:2]
    return [(x - w / 2) * width, (y - h / 2) * height, (x + w / 2) * width, (y + h / 2) * height]


def searches(mode: str) -> dict[str, Search]:
    """Return ours, and OpenCV's if it is there."""
    found: dict[str, Search] = {"ours": lambda image: selective_search(image, mode).boxes.astype(float)}
    try:
        from cv2.ximgproc import segmentation as peer
    except ImportError:
        return found

    def by_opencv(image: np.ndarray) -> np.ndarray:
        search = peer.createSelectiveSearchSegmentation()
        search.setBaseImage(np.ascontiguousarray(image[:, :, ::-1]))
        (search.switchToSelectiveSearchFast if mode == "fast" else search.switchToSelectiveSearchQuality)()
        x, y, width, height = search.process().astype(float).T
        return np.stack([x, y, x + width, y + height], axis=1)

    return found | {"OpenCV": by_opencv}


def report(console: Console, only: str) -> None:
    """Print a table for each set of images and each mode."""
    if not os.environ.get("PELLUCID_SCENES"):
        console.print("PELLUCID_SCENES must be a folder with coco128 and pennfudan to compare searches.")
        return
    for mode in ("fast", "quality"):
        for name in ("coco128", "pennfudan"):
            if only in mode:
                console.print(_compared(mode, name, scenes(name)))


def _compared(mode: str, name: str, data: list[Scene]) -> Table:
    table = Table(title=f"{name}, {len(data)} images, {mode}: recall at 0.5, at 0.7, mean best overlap")
    for head in ("search", *map(str, NUMBERS), "all", "boxes", "median s"):
        table.add_column(head, justify="left" if head == "search" else "right")
    contenders = searches(mode)
    best: dict[str, dict[int, list[np.ndarray]]] = {one: {} for one in contenders}
    seconds, counts = ({one: list[float]() for one in contenders} for _ in range(2))
    for image, boxes in data:  # in turn: whatever else the machine does is shared
        for one, search in contenders.items():
            start = time.perf_counter()
            found = search(image)
            seconds[one].append(time.perf_counter() - start)
            counts[one].append(len(found))
            overlaps = box_iou(boxes, found)
            for n in (*NUMBERS, EVERYTHING):
                best[one].setdefault(n, []).append(overlaps[:, :n].max(axis=1))
    for one in contenders:
        cells = [_cell(np.concatenate(best[one][n])) for n in (*NUMBERS, EVERYTHING)]
        table.add_row(one, *cells, f"{np.mean(counts[one]):.0f}", f"{np.median(seconds[one]):.2f}")
    return table


def _cell(best: np.ndarray) -> str:
    return f"{np.mean(best >= 0.5):.3f} {np.mean(best >= 0.7):.3f} {best.mean():.3f}"
