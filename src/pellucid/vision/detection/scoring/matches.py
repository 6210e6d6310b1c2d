"""Which detection takes which object, by the rules of COCO and VOC: the evidence behind an average precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from pellucid.core.types import Array
from pellucid.vision.detection.annotations import Annotations, Detections, mask_areas
from pellucid.vision.detection.boxes.box_geometry import box_area
from pellucid.vision.detection.scoring.average_precision_kernels import box_overlaps, take_by_coco, take_by_voc

FAR = 1e5**2
SIZES = {"all": (0.0, FAR), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, FAR)}
"""COCO's sizes of objects, in square pixels."""


@dataclass(frozen=True)
class CountingRule:
    """How detections are counted: at which overlaps, for which sizes, how many, and by which area under the curve."""

    thresholds: tuple[float, ...]
    points: tuple[float, ...]
    """Recalls at which the precision is averaged."""
    by_points: bool
    """Whether it is: else the area under the whole curve is taken."""
    sizes: tuple[str, ...]
    at_most: tuple[int, ...]
    """How many detections of an image and class are looked at."""


HUNDREDTHS = tuple(np.linspace(0.0, 1.0, 101).tolist())
RULES = {
    "coco": CountingRule(tuple(np.linspace(0.5, 0.95, 10).tolist()), HUNDREDTHS, True, tuple(SIZES), (1, 10, 100)),
    "voc": CountingRule((0.5,), HUNDREDTHS, False, ("all",), (2**62,)),
    "voc07": CountingRule((0.5,), tuple(np.linspace(0.0, 1.0, 11).tolist()), True, ("all",), (2**62,)),
}


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """Which detection took which object: the evidence. Detections stand by class, and there by falling score."""

    image: Array
    """(n,): number of the image."""
    detection: Array
    """(n,): number of the detection in its image."""
    label: Array
    """(n,): number of its class."""
    score: Array
    rank: Array
    """(n,): how many of its class and image come before it."""
    taken: Array
    """(sizes, thresholds, n): number of the object in its image that it took; -1 if none."""
    counts: Array
    """(sizes, thresholds, n): whether it is right or wrong; else it is left out."""
    objects: Array
    """(sizes, images, classes): how many objects there are to be found."""

    @property
    def class_starts(self) -> Array:
        """Where the detections of each class begin, and where those of the last one end."""
        return np.searchsorted(self.label, np.arange(self.objects.shape[2] + 1))


def match(
    found: list[Detections], there: list[Annotations], rule: CountingRule, levels: Array, masks: bool
) -> tuple[Array, Matches]:
    """Return the classes, and which detection takes which object at each threshold and for each size."""
    classes, label, true_label = _labels(found, there)
    mine = _Table.of(found, label, masks, -_joined([one.scores for one in found]))
    mine = mine.rows(mine.rank < rule.at_most[-1])
    theirs = _Table.of(there, true_label, masks, np.zeros(len(true_label)))
    crowd = _joined([one.crowd for one in there], bool)[theirs.place]
    by_coco = rule is RULES["coco"]
    pairs = _Pairs.of(mine, theirs, len(found))
    if masks:
        overlaps = _overlaps_of_masks(pairs, mine, theirs, found, there, crowd & by_coco)
    else:
        overlaps = np.empty(int(pairs.sizes.sum()))
        starts = (pairs.found_starts, pairs.object_starts, pairs.starts)
        box_overlaps(mine.boxes, theirs.boxes, crowd & by_coco, *starts, overlaps)

    shape = (len(rule.sizes), len(levels), len(mine.label))
    taken, counts = np.empty(shape, np.int64), np.empty(shape, bool)
    within = (overlaps, pairs.starts, pairs.found_starts, pairs.object_starts)
    if by_coco:
        true_area = _joined([one.area for one in there])[theirs.place]
        limits = np.array([SIZES[name] for name in rule.sizes])
        take_by_coco(*within, mine.area, true_area, crowd, levels, limits, taken, counts)
        is_object = ~crowd & (true_area >= limits[:, :1]) & (true_area <= limits[:, 1:])
    else:
        take_by_voc(*within, crowd, levels, taken, counts)
        is_object = ~crowd[None]
    objects = np.zeros((len(rule.sizes), len(found), len(classes)))
    for s, which in enumerate(is_object):
        np.add.at(objects[s], (theirs.image[which], theirs.label[which]), 1.0)
    if len(theirs.number):
        taken = np.where(taken >= 0, theirs.number[taken], -1)
    by_score = np.lexsort((mine.rank, mine.image, mine.key, mine.label))
    taken, counts = (np.ascontiguousarray(one[:, :, by_score]) for one in (taken, counts))
    mine = mine.rows(by_score)
    return classes, Matches(mine.image, mine.number, mine.label, -mine.key, mine.rank, taken, counts, objects)


@dataclass(frozen=True, eq=False)
class _Table:
    """All boxes of all images as columns, sorted by class, image and a key."""

    label: Array
    image: Array
    number: Array
    """In its image."""
    place: Array
    """Among all of all images."""
    key: Array
    rank: Array
    boxes: Array
    area: Array

    @classmethod
    def of(cls, records: Sequence[Detections | Annotations], label: Array, masks: bool, key: Array) -> Self:
        counts = [len(one) for one in records]
        image = np.repeat(np.arange(len(counts)), counts)
        number = np.arange(len(image)) - np.repeat(np.cumsum([0, *counts[:-1]]), counts)
        boxes = _joined([one.boxes for one in records]).reshape(-1, 4)
        area = box_area(boxes)
        if masks:  # where there are no masks there are no boxes
            area = _joined([mask_areas(one.masks) for one in records if one.masks is not None])
        place = np.lexsort((number, key, image, label))
        columns = (label, image, number, np.arange(len(image)), key, np.zeros(len(image), np.int64), boxes, area)
        found = cls(*columns).rows(place)
        found.rank[:] = _ranks(found.label, found.image)
        return found

    def rows(self, which: Array) -> Self:
        """Return some rows, or all in another order."""
        return type(self)(*(getattr(self, one.name)[which] for one in fields(self)))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Where the detections, objects and overlaps of each class and image begin."""

    image: Array
    found_starts: Array
    object_starts: Array
    sizes: Array
    starts: Array

    @classmethod
    def of(cls, mine: _Table, theirs: _Table, images: int) -> Self:
        keys = [side.label * images + side.image for side in (mine, theirs)]
        known = np.union1d(*keys)
        found_starts, object_starts = (np.r_[np.searchsorted(side, known), len(side)] for side in keys)
        sizes = np.diff(found_starts) * np.diff(object_starts)
        return cls(known % images, found_starts, object_starts, sizes, np.cumsum(sizes) - sizes)


def _labels(found: list[Detections], there: list[Annotations]) -> tuple[Array, Array, Array]:
    """Return all labels that occur, and the number of that of each detection and of each object."""
    sides = [[one.labels for one in side if len(one)] for side in (found, there)]
    kinds = {"text" if labels.dtype.kind in "US" else "number" for side in sides for labels in side}
    if len(kinds) > 1:
        raise TypeError("labels must be texts, or whole numbers, in detections and annotations alike, got both.")
    whole = np.concatenate([*sides[0], *sides[1]]) if kinds else np.zeros(0, dtype=int)
    classes, numbers = np.unique(whole, return_inverse=True)
    n = sum(map(len, sides[0]))
    return classes, numbers[:n], numbers[n:]


def _joined(parts: list[Array], dtype: Any = np.float64) -> Array:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype=dtype)


def _ranks(label: Array, image: Array) -> Array:
    """Return how many of the same class and image come before, where both are sorted."""
    places = np.arange(len(label))
    is_new = np.r_[True, (np.diff(label) != 0) | (np.diff(image) != 0)] if len(label) else np.zeros(0, bool)
    return places - np.maximum.accumulate(np.where(is_new, places, 0))


def _overlaps_of_masks(
    pairs: _Pairs, mine: _Table, theirs: _Table, found: list[Detections], there: list[Annotations], crowd: Array
) -> Array:
    """Return the overlaps of all masks of each class and image, by counts of pixels."""
    overlaps = np.empty(int(pairs.sizes.sum()))
    for p in np.flatnonzero(pairs.sizes):
        rows = slice(pairs.found_starts[p], pairs.found_starts[p + 1])
        columns = slice(pairs.object_starts[p], pairs.object_starts[p + 1])
        k, place = int(pairs.image[p]), pairs.starts[p]
        others = _words(there[k].masks, theirs.number[columns])
        shared = np.stack(
            [np.bitwise_count(one & others).sum(axis=1) for one in _words(found[k].masks, mine.number[rows])]
        )
        area = mine.area[rows][:, None]
        union = np.where(crowd[columns], area, area + theirs.area[columns] - shared)
        some = np.divide(shared, union, out=np.zeros(shared.shape), where=union > 0)
        overlaps[place : place + pairs.sizes[p]] = some.ravel()
    return overlaps


def _words(masks: Any, which: Array) -> Array:
    """Return some masks (n, h, w) as rows of whole numbers, 64 pixels in each."""
    bits = np.packbits(masks[which].reshape(len(which), -1), axis=1)
    padded = np.zeros((len(which), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)
