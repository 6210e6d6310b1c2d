"""Proof of an average precision: all detections are counted again, one by one, by the plain definition.

Nothing of the answer is used but what is to be proved. Detections of a class are sorted by score, of equal scores the
earlier image and the lower number first; each in turn takes an object of its image, or none, as the rule says. The
precision at a recall is the highest that is reached there or at a higher one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.seen import Seen, refusal

SIZES = {
    "coco": [(0.0, 1e10), (0.0, 1024.0), (1024.0, 9216.0), (9216.0, 1e10)],
    "voc": [(0.0, float("inf"))],
    "voc07": [(0.0, float("inf"))],
}
"""Areas of objects that count, in square pixels: all, small, medium, large."""
LIMITS = {"coco": (1, 10, 100), "voc": (1 << 62,), "voc07": (1 << 62,)}
"""How many detections of an image and class are looked at."""
POINTS = {"coco": np.linspace(0.0, 1.0, 101), "voc": np.linspace(0.0, 1.0, 101), "voc07": np.linspace(0.0, 1.0, 11)}
"""Recalls at which the precision is read."""
ROUNDED = 1e-12
AGAIN = "Count again: average_precision(detections, annotations)."


def prove_average_precision(found: Seen, detections: Sequence[Any], annotations: Sequence[Any]) -> Certificate:
    """Prove every number of an average precision, and which detection took which object.

    Detections are a record for each image, of ``boxes``, ``scores``, ``labels`` and ``masks``; annotations one of
    ``boxes``, ``labels``, ``crowd``, ``area`` and ``masks``.
    """
    if found.rule not in SIZES or len(detections) != len(annotations):
        return refusal("average precision", "its rule is not known, or there are not as many images of both kinds")
    sides = (*detections, *annotations)
    if found.masks and any(len(one.boxes) and one.masks is None for one in sides):
        return refusal("average precision", "it is about masks, and there are none")
    levels = np.asarray(found.thresholds)
    if levels.dtype.kind != "f" or levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
        return refusal("average precision", "its thresholds are not numbers between 0 and 1")
    classes = sorted({label for side in sides for label in side.labels.tolist()})
    rows, objects = [], np.zeros((len(SIZES[found.rule]), len(detections), len(classes)))
    for c, label in enumerate(classes):
        mine = []
        for k, (one, there) in enumerate(zip(detections, annotations, strict=True)):
            which = np.flatnonzero(there.labels == label).tolist()
            for s, (low, high) in enumerate(SIZES[found.rule]):
                objects[s, k, c] = sum(low <= there.area[j] <= high and not there.crowd[j] for j in which)
            mine += _taken_in_image(found.rule, levels, k, c, one, label, there, which, bool(found.masks))
        rows += sorted(mine, key=lambda row: (-row.score, row.image, row.rank))
    seen = found.matches
    shape = (len(SIZES[found.rule]), len(levels), len(rows))
    columns = ("image", "detection", "label", "rank", "score")
    if any(getattr(seen, name).shape != (len(rows),) for name in columns) or seen.taken.shape != shape:
        return refusal("average precision", f"it is not about {len(rows):,} detections")
    if (
        seen.counts.shape != shape
        or seen.objects.shape != objects.shape
        or np.asarray(found.classes).tolist() != classes
    ):
        return refusal("average precision", "it is about other objects or classes")
    wrong = sum(
        any(getattr(seen, name)[i] != getattr(row, name) for name in columns)
        or not np.array_equal(seen.taken[:, :, i], row.taken)
        or not np.array_equal(seen.counts[:, :, i], row.counts)
        for i, row in enumerate(rows)
    )
    miscounted = float(np.count_nonzero(seen.objects != objects))
    precision, recall, areas = _curves(found.rule, rows, objects, len(levels))
    claims = (
        Claim("matches", f"of {len(rows):,} detections, those that took other objects", float(wrong), 0.0, AGAIN),
        Claim("objects", "images in which other objects are to be found", miscounted, 0.0, AGAIN),
        _difference("precision", found.precision, precision),
        _difference("recall", found.recall, recall),
        _difference("areas", found.areas, areas),
    )
    return Certificate("exact", claims)


@dataclass
class CountedDetection:
    """One detection, and what it took at each size and threshold."""

    image: int
    detection: int
    label: int
    rank: int
    score: float
    taken: Array
    counts: Array


def _taken_in_image(
    rule: str, levels: Array, k: int, c: int, one: Any, label: Any, there: Any, which: list[int], masks: bool
) -> list[CountedDetection]:
    """Return the detections of one class in one image, by falling score, with what each takes."""
    mine = sorted(np.flatnonzero(one.labels == label).tolist(), key=lambda i: (-one.scores[i], i))
    mine = mine[: LIMITS[rule][-1]]
    shape = (len(SIZES[rule]), len(levels))
    rows = [
        CountedDetection(k, i, c, rank, float(one.scores[i]), np.full(shape, -1), np.ones(shape, dtype=bool))
        for rank, i in enumerate(mine)
    ]
    shared = [[_overlap(one, i, there, j, masks, rule == "coco") for j in which] for i in mine]
    area = [_area(one, i, masks) for i in mine]
    for s, limits in enumerate(SIZES[rule]):
        for t, level in enumerate(levels.tolist()):
            if rule == "coco":
                _take_by_coco(rows, shared, area, there, which, level, limits, (s, t))
            else:
                _take_by_voc(rows, shared, there, which, level, (s, t))
    return rows


def _take_by_coco(
    rows: list[CountedDetection],
    shared: list[list[float]],
    area: list[float],
    there: Any,
    which: list[int],
    level: float,
    limits: tuple[float, float],
    at: tuple[int, int],
) -> None:
    """Let each detection take the object it overlaps most: one that counts if it can, else one that does not.

    An object is taken once, a crowd any number of times; of equal overlaps the last object is taken.
    """
    free = set(range(len(which)))
    spare = [bool(there.crowd[j]) or not limits[0] <= there.area[j] <= limits[1] for j in which]
    enough = min(level, 1 - 1e-10)
    for row, mine, own in zip(rows, shared, area, strict=True):
        can = [g for g, j in enumerate(which) if (g in free or there.crowd[j]) and mine[g] >= enough]
        if can:
            best = max((not spare[g], mine[g], g) for g in can)[2]
            row.taken[at], row.counts[at] = which[best], not spare[best]
            free.discard(best)
        else:
            row.counts[at] = limits[0] <= own <= limits[1]


def _take_by_voc(
    rows: list[CountedDetection],
    shared: list[list[float]],
    there: Any,
    which: list[int],
    level: float,
    at: tuple[int, int],
) -> None:
    """Ask each detection for the object it overlaps most, the first of equal ones: the first to name it is right."""
    free = set(range(len(which)))
    for row, mine in zip(rows, shared, strict=True):
        best = max(range(len(which)), key=lambda g: (mine[g], -g), default=None)
        if best is None or mine[best] < level:
            continue
        is_difficult = bool(there.crowd[which[best]])
        row.counts[at] = not is_difficult
        if best in free or is_difficult:
            row.taken[at] = which[best]
            free.discard(best)


def _area(one: Any, i: int, masks: bool) -> float:
    """Return the area of a detection or an object, in square pixels."""
    if masks:
        return float(np.count_nonzero(one.masks[i]))
    left, top, right, bottom = one.boxes[i].tolist()
    return float((right - left) * (bottom - top))


def _overlap(one: Any, i: int, there: Any, j: int, masks: bool, with_crowds: bool) -> float:
    """Return the IoU of a detection and an object; with a crowd, the share of the detection that is inside of it."""
    if masks:
        shared = float(np.count_nonzero(one.masks[i] & there.masks[j]))
    else:
        a, b = one.boxes[i].tolist(), there.boxes[j].tolist()
        shared = max(min(a[2], b[2]) - max(a[0], b[0]), 0.0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0.0)
    mine, other = _area(one, i, masks), _area(there, j, masks)
    whole = mine if with_crowds and there.crowd[j] else mine + other - shared
    return shared / whole if shared > 0 else 0.0


def _curves(rule: str, rows: list[CountedDetection], objects: Array, levels: int) -> tuple[Array, Array, Array]:
    """Return precision, recall and areas of all sizes, thresholds and classes."""
    sizes, _, classes = objects.shape
    precision = np.full((sizes, levels, classes, len(POINTS[rule])), np.nan)
    recall = np.full((len(LIMITS[rule]), sizes, levels, classes), np.nan)
    areas = np.full((sizes, levels, classes), np.nan)
    for c in range(classes):
        mine = [row for row in rows if row.label == c]
        rank = np.array([row.rank for row in mine])
        for s in range(sizes):
            total = objects[s, :, c].sum()
            for t in range(levels if total else 0):
                counts = np.array([row.counts[s, t] for row in mine], dtype=bool)
                is_right = np.array([row.taken[s, t] >= 0 for row in mine], dtype=bool) & counts
                for m, most in enumerate(LIMITS[rule]):
                    recall[m, s, t, c] = np.count_nonzero(is_right & (rank < most)) / total
                precision[s, t, c], area = _curve(is_right, counts, total, POINTS[rule])
                areas[s, t, c] = area if rule == "voc" else precision[s, t, c].mean()
    return precision, recall, areas


def _curve(is_right: Array, counts: Array, total: float, points: Array) -> tuple[Array, float]:
    """Return the highest precision that is reached at each recall of ``points`` or more, and the area below it."""
    right, seen = np.cumsum(is_right), np.cumsum(counts)
    reached = right / total
    ratio = right / np.maximum(seen, 1)
    heights = np.where(reached >= points[:, None], ratio, 0.0).max(axis=1, initial=0.0)
    # each object found widens the curve by 1 / total, at the height that is reached there or later
    area = sum(ratio[i:].max() for i in np.flatnonzero(is_right)) / total
    return heights, float(area)


def _difference(name: str, claimed: Array, wanted: Array) -> Claim:
    """Return the claim that numbers are the same, and unknown where there is nothing to find."""
    said = f"largest difference of {name} from the definition"
    if claimed.shape != wanted.shape or not np.array_equal(np.isnan(claimed), np.isnan(wanted)):
        return Claim(name, f"{name}: of another shape, or known for other classes", 1.0, 0.0, AGAIN)
    with np.errstate(invalid="ignore"):
        off = np.abs(claimed - wanted)[~np.isnan(wanted)]
    return Claim(name, said, float(off.max(initial=0.0)), ROUNDED, AGAIN)
