"""Which classes are taken for which: detections and objects paired by their overlap alone, and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.checks import check_between
from pellucid.core.types import Array
from pellucid.vision.detection.annotations import Annotations, Detections
from pellucid.vision.detection.boxes.box_geometry import box_iou


@dataclass(frozen=True, eq=False, repr=False)
class ClassConfusion:
    """Counts of objects by their class and by that of the detection they were paired with."""

    classes: Array
    """(classes,): the labels of objects and detections, in their order."""
    counts: Array
    """(classes + 1, classes + 1): true class down, found class across; the last of each is nothing."""
    missed: Array
    """(images,): objects that were not found, or as another class."""
    false: Array
    """(images,): detections of nothing, or of another class."""

    @property
    def wrong(self) -> Array:
        """(images,): what is missed and what is false, together."""
        return self.missed + self.false

    def __repr__(self) -> str:
        right = int(np.trace(self.counts[:-1, :-1]))
        return f"ClassConfusion({right} right, {int(self.missed.sum())} missed, {int(self.false.sum())} false)"


def class_confusion(
    detections: Sequence[Detections | Mapping[str, Any]],
    annotations: Sequence[Annotations | Mapping[str, Any]],
    *,
    overlap: float = 0.5,
    least_score: float = 0.5,
) -> ClassConfusion:
    """Return which classes are taken for which.

    In each image, detections by falling score take the object they overlap most, of those that nobody took, whatever
    its class; earlier objects first where overlaps are equal. Crowds are left out, and so is who finds them.

    Parameters
    ----------
    detections, annotations : sequences of the same length, one of each for every image
        What was found, and what there is.
    overlap : float, default=0.5
        IoU from which on a detection may take an object.
    least_score : float, default=0.5
        Detections below it are left out.

    Examples
    --------
    >>> found = [{"boxes": [[0, 0, 4, 4]], "scores": [0.9], "labels": ["dog"]}]
    >>> there = [{"boxes": [[0, 0, 4, 4], [9, 9, 12, 12]], "labels": ["cat", "cat"]}]
    >>> class_confusion(found, there).counts
    array([[0, 1, 1],
           [0, 0, 0],
           [0, 0, 0]])
    """
    check_between(0.0, 1.0, overlap=overlap)
    found, there = [Detections.of(one) for one in detections], [Annotations.of(one) for one in annotations]
    if len(found) != len(there):
        raise ValueError(f"detections and annotations must be one for each image, got {len(found)} and {len(there)}.")
    labels = [one.labels for one in there if len(one)] + [one.labels for one in found if len(one)]
    classes = np.unique(np.concatenate(labels)) if labels else np.zeros(0, str)
    n = len(classes)
    counts, missed, false = np.zeros((n + 1, n + 1), int), np.zeros(len(found), int), np.zeros(len(found), int)
    for image, (mine, theirs) in enumerate(zip(found, there, strict=True)):
        for true, said in _pairs(mine, theirs, overlap, least_score):
            row = n if true is None else int(np.searchsorted(classes, true))
            column = n if said is None else int(np.searchsorted(classes, said))
            counts[row, column] += 1
            missed[image] += row < n and row != column
            false[image] += column < n and row != column
    return ClassConfusion(classes, counts, missed, false)


def _pairs(mine: Detections, theirs: Annotations, overlap: float, least_score: float) -> list[tuple[Any, Any]]:
    """Return (true label or None, found label or None) for all that is in an image or was found in it."""
    overlaps = box_iou(mine.boxes, theirs.boxes)
    is_free, pairs = ~theirs.crowd, []
    for k in np.argsort(-mine.scores, kind="stable"):
        if mine.scores[k] < least_score:
            break
        free = np.where(is_free, overlaps[k], -1.0)
        best = int(np.argmax(free)) if len(free) else -1
        if best >= 0 and free[best] >= overlap:
            is_free[best] = False
            pairs.append((theirs.labels[best], mine.labels[k]))
        elif not (overlaps[k][theirs.crowd] >= overlap).any():
            pairs.append((None, mine.labels[k]))
    return pairs + [(label, None) for label in theirs.labels[is_free]]
