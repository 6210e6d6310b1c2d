"""Matching: which object each anchor is to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.core.array_api import array_namespace, device, is_torch_array
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
    """IoU from which on an anchor was matched."""
    low: float
    """IoU below which it was background; between both it was ignored."""
    keep_best: bool | str = False
    """Whether each box's best anchors were matched, however little they overlap it; "one": its first best one."""

    def __repr__(self) -> str:
        counts = [int((self.box >= 0).sum()), int((self.box == BACKGROUND).sum()), int((self.box == IGNORED).sum())]
        return f"Matching({counts[0]} anchors matched, {counts[1]} background, {counts[2]} ignored)"


def match_anchors(anchors: Any, boxes: Any, high: float, low: float, keep_best: bool | str = False) -> Matching:
    """Return for each anchor the box it overlaps most: a match from ``high`` on, background below ``low``.

    Of boxes that it overlaps equally the first is taken. ``pellucid.verify(matching, anchors, boxes)`` replays it.

    Parameters
    ----------
    anchors, boxes : arrays or tensors of shapes (n, 4) and (m, 4)
        Where an object may be, and where the objects are.
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
    iou = box_iou(boxes, anchors)  # (m, n): long rows are read faster than long columns
    best, best_box = _largest(iou)
    box = xp.where(best >= high, best_box, xp.where(best >= low, IGNORED, BACKGROUND))
    if keep_best is True and anchors.shape[0]:
        most = xp.max(iou, axis=1)
        most = xp.where(most > 0, most, 2.0)  # what nobody meets nobody overlaps most
        box = xp.where(xp.any(iou == most[:, None], axis=0), best_box, box)
    if keep_best == "one" and anchors.shape[0]:
        numbers, places = (xp.arange(k, device=device(iou)) for k in iou.shape)
        is_first = (xp.argmax(iou, axis=1)[:, None] == places[None, :]) & (xp.max(iou, axis=1) > 0)[:, None]
        wanted = xp.max(xp.where(is_first, numbers[:, None], -1), axis=0)
        box = xp.where(wanted >= 0, wanted, box)
        best = xp.take_along_axis(iou, xp.where(box >= 0, box, best_box)[None, :], axis=0)[0]
    return Matching(box, best, *settings)


def _largest(iou: Any) -> tuple[Any, Any]:
    """Return the largest number of each column, and the first row that has it."""
    if is_torch_array(iou):  # both at once: its argmax along columns takes five times as long
        found = iou.max(dim=0)
        return found.values, found.indices
    xp = array_namespace(iou)
    return xp.max(iou, axis=0), xp.argmax(iou, axis=0)
