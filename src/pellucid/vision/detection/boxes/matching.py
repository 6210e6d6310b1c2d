"""Matching: which object each anchor is to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace, device

from pellucid.core.checks import check_between, check_one_of
from pellucid.vision.detection.boxes.box_geometry import as_boxes, box_iou

BACKGROUND, IGNORED = -1, -2
"""What an anchor is given that overlaps no object enough, and one of which nobody can say."""


@dataclass(frozen=True, eq=False)
class Matching:
    """Which box each anchor was given, and how much they overlap; arrays of the kind that came in."""

    box: Any
    """Of shape (n,): number of a box, -1 for background, -2 for neither."""
    overlap: Any
    """Of shape (n,): IoU with the box that the anchor was given, or with its best one if it was given none."""
    high: float
    low: float
    keep_best: bool | str = False

    def __repr__(self) -> str:
        counts = [int((self.box >= 0).sum()), int((self.box == BACKGROUND).sum()), int((self.box == IGNORED).sum())]
        return f"Matching({counts[0]} anchors matched, {counts[1]} background, {counts[2]} ignored)"


def match_anchors(anchors: Any, boxes: Any, high: float, low: float, keep_best: bool | str = False) -> Matching:
    """Return for each anchor the box it overlaps most: a match from ``high`` on, background below ``low``.

    Of boxes that it overlaps equally the first is taken. ``pellucid.verify(matching, anchors, boxes)`` replays it.

    Parameters
    ----------
    anchors, boxes : arrays or tensors of shapes (n, 4) and (m, 4)
    high, low : float
        IoU from which on an anchor is matched, and below which it is background; between them it is ignored.
    keep_best : bool or "one", default=False
        True matches the anchors that overlap some box most (all of them, if they do so equally) to the box that they
        overlap most themselves, however little: no object goes without. "one" gives every box the first anchor that
        overlaps it most, and an anchor that two boxes want to the last of them, as SSD does. A box that no anchor
        meets is given none.

    Examples
    --------
    >>> anchors = [[0, 0, 4, 4], [3, 0, 7, 4], [9, 9, 12, 12]]
    >>> found = match_anchors(anchors, [[0, 0, 4, 5]], high=0.7, low=0.3)
    >>> found.box, found.overlap.round(3)
    (array([ 0, -1, -1]), array([0.8  , 0.125, 0.   ]))
    """
    for value in (high, low):
        check_between(0.0, 1.0, thresholds=value)
    check_one_of((False, True, "one"), keep_best=keep_best)
    if low > high:
        raise ValueError(f"low must be at most high, {high!r}, got {low!r}.")
    anchors, boxes = as_boxes(anchors, "anchors"), as_boxes(boxes)
    xp = array_namespace(anchors, boxes)
    settings = (float(high), float(low), keep_best)
    if boxes.shape[0] == 0:
        background = xp.full((anchors.shape[0],), BACKGROUND, dtype=xp.int64, device=device(anchors))
        return Matching(background, xp.zeros_like(anchors[:, 0]), *settings)
    iou = box_iou(anchors, boxes)  # (n, m)
    best, best_box = xp.max(iou, axis=1), xp.argmax(iou, axis=1)
    box = xp.where(best >= high, best_box, xp.where(best >= low, IGNORED, BACKGROUND))
    if keep_best is not False and anchors.shape[0]:
        most = xp.max(iou, axis=0)
        if keep_best == "one":
            numbers = xp.arange(boxes.shape[0], device=device(iou))
            places = xp.arange(anchors.shape[0], device=device(iou))
            is_first = (places[:, None] == xp.argmax(iou, axis=0)[None, :]) & (most > 0)[None, :]
            wanted = xp.max(xp.where(is_first, numbers[None, :], -1), axis=1)
            box = xp.where(wanted >= 0, wanted, box)
            given = xp.where(box >= 0, box, best_box)
            best = xp.take_along_axis(iou, given[:, None], axis=1)[:, 0]
        else:
            is_most = xp.any((iou == most[None, :]) & (iou > 0), axis=1)
            box = xp.where(is_most, best_box, box)
    return Matching(box, best, *settings)
