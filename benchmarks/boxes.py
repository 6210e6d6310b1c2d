"""Boxes: non-maximum suppression beside torchvision's, average precision beside pycocotools, and whether both agree.

``python -m benchmarks boxes [--only suppress|precision|parity|card]``; ``PELLUCID_COCO=instances.json`` also compares
all twelve numbers on the objects of that file, with made detections. ``card`` is for a machine with a graphics card.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.harness import OURS, Row
from pellucid.vision.detection import average_precision, suppress, to_corners
from pellucid.vision.detection.annotations import Annotations, Detections

COUNTS = (1_000, 10_000, 100_000)
SCENES = 1_000
Scene = tuple[list[Detections], list[Annotations]]


def clustered(n: int, side: float = 1000.0) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes as a detector leaves them, fifty around each object, and their scores."""
    rng = np.random.default_rng(n)
    objects = max(1, n // 50)
    centers, sizes = rng.random((objects, 2)) * side, np.exp(rng.normal(4.0, 0.6, (objects, 2)))
    which = rng.integers(objects, size=n)
    center = centers[which] + 0.1 * sizes[which] * rng.standard_normal((n, 2))
    size = sizes[which] * np.exp(0.15 * rng.standard_normal((n, 2)))
    boxes = np.concatenate([center - size / 2, center + size / 2], axis=1)
    return boxes.astype(np.float32), (rng.permutation(n) / n).astype(np.float32)


def scattered(n: int, side: float = 1000.0) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes anywhere, and their scores."""
    rng = np.random.default_rng(n)
    corner, size = rng.random((n, 2)) * side, 5.0 + 100.0 * rng.random((n, 2))
    boxes = np.concatenate([corner, corner + size], axis=1)
    return boxes.astype(np.float32), (rng.permutation(n) / n).astype(np.float32)


def made_scene(rng: np.random.Generator, images: int, classes: int, found_per_object: float) -> Scene:
    """Return images with objects and detections near them, some twice, some wrong, with crowds and tied scores."""
    found, there = [], []
    for _ in range(images):
        n = int(rng.integers(0, 8))
        corner, size = rng.integers(0, 400, (n, 2)), rng.integers(1, int(rng.choice([30, 90, 250])), (n, 2))
        boxes, labels = np.c_[corner, corner + size].astype(float), rng.integers(classes, size=n)
        area = size.prod(axis=1) * rng.choice([0.5, 0.8, 1.0], n)
        there.append(Annotations(boxes, labels, rng.random(n) < 0.1, area))
        found.append(detections_near(rng, boxes, labels, int(rng.poisson(found_per_object * n + 0.5)), classes))
    return found, there


def detections_near(
    rng: np.random.Generator, boxes: np.ndarray, labels: np.ndarray, n: int, classes: int
) -> Detections:
    """Return so many detections: objects with their edges moved, and other places."""
    corner = rng.integers(0, 400, (n, 2))
    made, kinds = np.c_[corner, corner + rng.integers(1, 90, (n, 2))].astype(float), rng.integers(classes, size=n)
    if len(boxes):
        which, is_near = rng.integers(len(boxes), size=n), rng.random(n) < 0.8
        size = np.tile(boxes[which, 2:] - boxes[which, :2], 2)
        moved = np.round(boxes[which] + 0.1 * size * rng.standard_normal((n, 4)) * (rng.random((n, 1)) < 0.8))
        moved = np.c_[np.minimum(moved[:, :2], moved[:, 2:]), np.maximum(moved[:, :2], moved[:, 2:])]
        made = np.where(is_near[:, None], moved, made)
        kinds = np.where(is_near & (rng.random(n) < 0.9), labels[which], kinds)
    return Detections(made, np.round(rng.random(n), int(rng.choice([1, 8]))), kinds)


def coco_scene(path: str) -> Scene:
    """Return the objects of a file of COCO's, and made detections."""
    whole = json.loads(Path(path).read_text(encoding="utf-8"))
    rng = np.random.default_rng(0)
    by_image: dict[int, list[dict[str, Any]]] = {image["id"]: [] for image in whole["images"]}
    for one in whole["annotations"]:
        by_image[one["image_id"]].append(one)
    found, there = [], []
    for ones in by_image.values():
        boxes = to_corners(np.array([one["bbox"] for one in ones], dtype=float).reshape(-1, 4), "xywh")
        labels = np.array([one["category_id"] for one in ones], dtype=int)
        crowd, area = (np.array([one[name] for one in ones]) for name in ("iscrowd", "area"))
        there.append(Annotations(boxes, labels, crowd, area))
        found.append(detections_near(rng, boxes, labels, 3 * len(ones) + 2, 90))
    return found, there


def coco_masks(path: str) -> Scene:
    """Return the masks of a file of COCO's, and detections that are these masks moved by some pixels, two of each."""
    from pycocotools.coco import COCO

    rng = np.random.default_rng(0)
    found, there = [], []
    with contextlib.redirect_stdout(io.StringIO()):
        whole = COCO(path)
    for image in whole.getImgIds():
        ones = whole.loadAnns(whole.getAnnIds(imgIds=image))
        shape = (whole.imgs[image]["height"], whole.imgs[image]["width"])
        masks = np.array([whole.annToMask(one) for one in ones], dtype=bool).reshape(-1, *shape)
        boxes = to_corners(np.array([one["bbox"] for one in ones], dtype=float).reshape(-1, 4), "xywh")
        labels = np.array([one["category_id"] for one in ones], dtype=int)
        crowd, area = (np.array([one[name] for one in ones]) for name in ("iscrowd", "area"))
        there.append(Annotations(boxes, labels, crowd, area, masks))
        twice = np.repeat(np.arange(len(ones)), 2)
        moved = np.array([np.roll(masks[k], rng.integers(-9, 10, 2), (0, 1)) for k in twice], dtype=bool)
        scores = np.round(rng.random(len(twice)), 2)
        found.append(Detections(boxes[twice], scores, labels[twice], moved.reshape(-1, *shape)))
    return found, there


def in_their_form(scene: Scene, masks: bool = False) -> Any:
    """Return a COCOeval that has loaded everything."""
    from pycocotools import mask
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    found, there = scene
    rows: list[list[dict[str, Any]]] = [[], []]
    for side, records in zip(rows, (found, there), strict=True):
        for k, one in enumerate(records):
            for j, (x1, y1, x2, y2) in enumerate(one.boxes.tolist()):
                row = {"image_id": k + 1, "id": len(side) + 1, "bbox": [x1, y1, x2 - x1, y2 - y1]}
                row |= {"category_id": int(one.labels[j])}
                if masks:
                    row |= {"segmentation": mask.encode(np.asfortranarray(one.masks[j].astype(np.uint8)))}
                    row.pop("bbox")  # pycocotools would take the mask to be that box
                if isinstance(one, Annotations):
                    row |= {"iscrowd": int(one.crowd[j]), "area": float(one.area[j])}
                else:
                    row |= {"score": float(one.scores[j])}
                side.append(row)
    labels = sorted({row["category_id"] for side in rows for row in side})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        sizes = [(1, 1) if one.masks is None else one.masks.shape[1:] for one in there]
        images = [{"id": k + 1, "height": h, "width": w} for k, (h, w) in enumerate(sizes)]
        truth.dataset = {"images": images, "annotations": rows[1]}
        truth.dataset["categories"] = [{"id": label} for label in labels]
        truth.createIndex()
        return COCOeval(truth, truth.loadRes(rows[0]), "segm" if masks else "bbox")


def by_pycocotools(evaluation: Any) -> np.ndarray:
    """Return the twelve numbers; NaN where there is nothing to find."""
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return np.where(evaluation.stats == -1, np.nan, evaluation.stats)


def report(console: Console, only: str) -> None:
    """Print whether the answers are the peers', and those of a graphics card the processor's."""
    import torch

    if only in "card" and torch.cuda.is_available():
        console.print(_same_on_card())
    if only not in "parity":
        return
    rng = np.random.default_rng(0)
    scenes = [made_scene(rng, int(rng.integers(1, 6)), 3, float(rng.choice([1.5, 40.0]))) for _ in range(SCENES + 30)]
    if os.environ.get("PELLUCID_COCO"):
        scenes.append(coco_scene(os.environ["PELLUCID_COCO"]))
    scenes = [scene for scene in scenes if sum(map(len, scene[0]))]  # pycocotools cannot load nothing
    worst = 0.0
    for scene in scenes:
        ours, peer = np.array(list(average_precision(*scene).summary.values())), by_pycocotools(in_their_form(scene))
        worst = max(worst, float(np.nanmax(np.abs(ours - peer), initial=0.0)), *(np.isnan(ours) != np.isnan(peer)))
    if os.environ.get("PELLUCID_COCO"):
        scene = coco_masks(os.environ["PELLUCID_COCO"])
        ours = np.array(list(average_precision(*scene, masks=True).summary.values()))
        peer = by_pycocotools(in_their_form(scene, masks=True))
        console.print(f"masks of that file: AP {ours[0]:.4f}, largest difference {np.nanmax(np.abs(ours - peer)):.1e}")
    console.print(
        f"average_precision: {len(scenes):,} scenes, largest difference from pycocotools in 12 numbers {worst:.1e}"
    )

    from torchvision.ops import nms

    different = 0
    for k in range(SCENES):
        boxes, scores = (clustered, scattered)[k % 2](int(rng.integers(1, 400)), float(rng.choice([50, 1000])))
        threshold = float(rng.choice([0.0, 0.3, 0.5, 0.7]))
        kept = nms(torch.from_numpy(boxes), torch.from_numpy(scores), threshold).numpy()
        different += not np.array_equal(suppress(boxes, scores, threshold).kept, kept)
    console.print(f"suppress: {SCENES:,} scenes without ties, {different} in which torchvision keeps other boxes")


def _same_on_card() -> str:
    """Say whether a graphics card keeps the boxes that the processor keeps, ties and groups included."""
    import torch

    different, rng = 0, np.random.default_rng(1)
    for k in range(200):
        boxes, scores = (clustered, scattered)[k % 2](int(rng.integers(1, 3000)), float(rng.choice([50, 1000])))
        scores, groups = np.round(scores, int(rng.choice([1, 8]))), rng.integers(5, size=len(scores))
        threshold = float(rng.choice([0.0, 0.3, 0.5, 0.7]))
        ours = suppress(boxes, scores, threshold, groups)
        card = suppress(*(torch.from_numpy(one).cuda() for one in (boxes, scores)), threshold, torch.from_numpy(groups))
        same = all(
            torch.equal(a.cpu(), torch.from_numpy(b))
            for a, b in ((card.kept, ours.kept), (card.suppressed_by, ours.suppressed_by))
        )
        different += not same
    return f"suppress on the card: 200 scenes with ties and groups, {different} in which the processor keeps others"


def rows_on_card() -> list[Row]:
    """Return the rows of a graphics card, with torchvision's beside where it is installed."""
    import torch

    contenders = {OURS: lambda data: _waited(suppress(*data, 0.7).kept)}
    with contextlib.suppress(ImportError):
        from torchvision.ops import nms

        contenders["torchvision"] = lambda data: _waited(nms(*data, 0.7))
    contenders.setdefault("the processor", lambda data: suppress(*(one.cpu() for one in data), 0.7).kept)
    return [
        Row(
            f"suppress on the card, {make.__name__}, {n:,} boxes, IoU 0.7",
            lambda n=n, make=make: tuple(torch.from_numpy(one).cuda() for one in make(n)),
            contenders,
            lambda _, kept: float(len(kept)),
        )
        for make in (clustered, scattered)
        for n in (1_000, 8_000, 30_000)
    ]


def _waited(kept: Any) -> Any:
    import torch

    torch.cuda.synchronize()
    return kept


def rows() -> list[Row]:
    """Return the rows: time to keep the same boxes, and to find the same numbers."""
    import torch

    if torch.cuda.is_available():
        return rows_on_card()
    from torchvision.ops import nms

    torch.set_num_threads(1)
    found = [
        Row(
            f"suppress {make.__name__}, {n:,} boxes, IoU {threshold}",
            lambda n=n, make=make: tuple(map(torch.from_numpy, make(n))),
            {
                OURS: lambda data, t=threshold: suppress(*data, t).kept,
                "torchvision": lambda data, t=threshold: nms(*data, t),
            },
            lambda _, kept: float(len(kept)),
            rounds=3 if n == COUNTS[-1] else 9,
            repeats=20 if n == COUNTS[0] else 1,
        )
        for make in (clustered, scattered)
        for n in COUNTS
        for threshold in (0.3, 0.5, 0.7)
        if n < COUNTS[-1] or threshold == 0.5
    ]
    for images, per_object in ((128, 3.0), (128, 20.0), (1000, 3.0)):
        found.append(
            Row(
                f"average precision, {images:,} images, {per_object:g} detections an object",
                lambda images=images, p=per_object: _both_forms(made_scene(np.random.default_rng(0), images, 20, p)),
                {
                    OURS: lambda data: np.array(list(average_precision(*data[0]).summary.values())),
                    "pycocotools": lambda data: by_pycocotools(data[1]),
                },
                lambda _, numbers: float(-numbers[0]),
                rounds=3,
            )
        )
    return found


def _both_forms(scene: Scene) -> tuple[Scene, Any]:
    return scene, in_their_form(scene)
