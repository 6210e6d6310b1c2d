"""Non-maximum suppression: of boxes that overlap much the one of highest score is kept, and each other one says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from pellucid.core.array_api import is_torch_array
from pellucid.core.checks import check_between
from pellucid.core.types import Array
from pellucid.vision.detection.boxes.box_geometry import as_boxes
from pellucid.vision.detection.boxes.suppression_kernels import (
    INVERTED,
    NOT_FINITE,
    falling_order,
    suppress_in_order,
)

MOST_PAIRS = 1 << 26
"""Overlaps that are looked at at once on a graphics card."""

FEW_BOXES = 10_000
"""Up to so many boxes of a graphics card go to the processor and back: its one loop is sooner than many small steps."""


@dataclass(frozen=True, eq=False)
class Suppression:
    """Which boxes were kept, and for each other one which kept box was in its way; arrays of the kind that came in."""

    kept: Any
    """Of shape (k,): numbers of the kept boxes, by falling score."""
    suppressed_by: Any
    """Of shape (n,): the first kept box, in that order, which suppressed this one; -1 for a kept box."""
    threshold: float
    """Largest IoU of two boxes that were both kept, 0 to 1."""

    def __repr__(self) -> str:
        return f"Suppression({len(self.kept)} of {len(self.suppressed_by)} boxes kept, IoU above {self.threshold:g})"


def suppress(boxes: Any, scores: Any, threshold: float, groups: Any = None) -> Suppression:
    """Go through boxes by falling score, and keep each that overlaps no kept one of its group by more than a threshold.

    Of equal scores the box of the lower number comes first, on every device. The work grows with the number of boxes
    that are near each other, not with that of all pairs. ``pellucid.verify(found, boxes, scores, groups=groups)``
    proves that no other set of boxes could have been kept.

    Parameters
    ----------
    boxes : array or tensor of shape (n, 4)
        (x1, y1, x2, y2), finite.
    scores : array or tensor of shape (n,)
        How sure each box is; the surest is kept first.
    threshold : float
        Largest IoU, 0 to 1, of two boxes that are both kept.
    groups : array or tensor of whole numbers of shape (n,), default=None
        Boxes of different groups, such as classes, do not suppress each other.

    Returns
    -------
    Suppression
        ``kept`` and ``suppressed_by``.

    Examples
    --------
    >>> boxes = [[0, 0, 4, 4], [0, 0, 4, 5], [9, 9, 12, 12]]
    >>> found = suppress(boxes, [0.8, 0.9, 0.7], threshold=0.5)
    >>> found.kept, found.suppressed_by
    (array([1, 2]), array([ 1, -1, -1]))
    """
    check_between(0.0, 1.0, threshold=threshold)
    boxes = as_boxes(boxes)
    if not is_torch_array(boxes):
        scores = np.asarray(scores)
        groups = None if groups is None else np.asarray(groups)
        return Suppression(*_suppress_arrays(boxes, scores, float(threshold), groups), float(threshold))

    import torch

    boxes, scores = boxes.detach(), torch.as_tensor(scores, device=boxes.device).detach()
    groups = None if groups is None else torch.as_tensor(groups, device=boxes.device)
    if boxes.device.type != "cpu" and len(boxes) > FEW_BOXES:
        return Suppression(*_suppress_on_card(boxes, scores, float(threshold), groups), float(threshold))
    scores = scores if scores.dtype == torch.float64 else scores.float()  # NumPy knows no bfloat16
    of_boxes = None if groups is None else groups.cpu().numpy()
    found = _suppress_arrays(boxes.cpu().numpy(), scores.cpu().numpy(), float(threshold), of_boxes)
    kept, suppressed_by = (torch.from_numpy(one).to(boxes.device) for one in found)
    return Suppression(kept, suppressed_by, float(threshold))


def _suppress_arrays(boxes: Array, scores: Array, threshold: float, groups: Array | None) -> tuple[Array, Array]:
    _check_shapes(boxes, scores, groups)
    if scores.dtype == np.float32:
        order = falling_order(np.ascontiguousarray(scores).view(np.uint32))
    else:
        order = np.argsort(-scores.astype(np.float64), kind="stable")
    if len(order) and not np.isfinite(scores[order[[0, -1]]]).all():  # what is not finite is sorted to an end
        _refuse(NOT_FINITE)
    by_group, starts = order, np.array([0, len(order)])
    if groups is not None:
        of_box = groups[order]
        places = np.argsort(of_box, kind="stable")
        by_group = order[places]
        starts = np.r_[0, np.flatnonzero(np.diff(of_box[places])) + 1, len(order)]
    suppressed_by, kept = np.empty((2, len(order)), np.int64)
    count = suppress_in_order(boxes, order, by_group, starts, threshold, suppressed_by, kept)
    if count < 0:
        _refuse(count)
    return kept[:count].copy(), suppressed_by


def _suppress_on_card(boxes: Any, scores: Any, threshold: float, groups: Any) -> tuple[Any, Any]:
    """Return what the loop over boxes finds, all groups at once, by blocks of boxes in their order.

    Inside of a block "kept unless a kept one before suppresses it" is repeated until nothing changes: after k rounds
    the first k answers are right, and mostly all after a few. Then the block's kept boxes suppress all that follow.
    """
    import torch

    _check_shapes(boxes, scores, groups)
    if not bool(torch.isfinite(boxes).all() & torch.isfinite(scores).all()):
        _refuse(NOT_FINITE)
    if not bool((boxes[:, 2:] >= boxes[:, :2]).all()):
        _refuse(INVERTED)
    order = torch.sort(scores, descending=True, stable=True).indices
    table, groups = _groups_side_by_side(order, groups)
    count, width = table.shape
    is_box = table >= 0
    boxes = boxes[table.clamp(min=0)]
    areas = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    by = torch.full_like(table, -1)
    size = max(1, MOST_PAIRS // max(count * width, 1))
    for start in range(0, width, size):
        rows, rest = slice(start, min(start + size, width)), slice(start, width)
        is_over = torch.triu(_exceeds(boxes, areas, groups, rows, rest, threshold), diagonal=1)
        inside = is_over[:, :, : is_over.shape[1]]
        is_open = (by[:, rows] < 0) & is_box[:, rows]
        is_kept = is_open
        while True:
            again = is_open & ~(inside & is_kept[:, :, None]).any(dim=1)
            if torch.equal(again, is_kept):
                break
            is_kept = again
        is_over &= is_kept[:, :, None]
        is_hit = is_over.any(dim=1) & (by[:, rest] < 0)
        by[:, rest] = torch.where(is_hit, start + is_over.to(torch.uint8).argmax(dim=1), by[:, rest])
    suppressed_by = torch.empty_like(order)
    suppressed_by[table[is_box]] = torch.where(by < 0, by, table.gather(1, by.clamp(min=0)))[is_box]
    return order[suppressed_by[order] < 0], suppressed_by


def _groups_side_by_side(order: Any, groups: Any) -> tuple[Any, Any]:
    """Return the boxes of each group in a row of their own, filled up with -1, if that leaves fewer pairs to look at.

    Otherwise all stand in one row, and the second answer says of which group each is.
    """
    import torch

    if groups is None or not len(order):
        return order[None], None
    of_box = groups[order]
    by_group = torch.sort(of_box, stable=True).indices
    counts = torch.unique_consecutive(of_box[by_group], return_counts=True)[1]
    widest = int(counts.max())
    if len(counts) * widest**2 >= len(order) ** 2:
        return order[None], of_box[None]
    row = torch.arange(len(counts), device=order.device).repeat_interleave(counts)
    column = torch.arange(len(order), device=order.device) - (counts.cumsum(0) - counts)[row]
    table = order.new_full((len(counts), widest), -1)
    table[row, column] = order[by_group]
    return table, None


def _exceeds(boxes: Any, areas: Any, groups: Any, rows: slice, columns: slice, threshold: float) -> Any:
    """Return which boxes of the rows overlap which of the columns by more than the threshold."""
    import torch

    a, b = boxes[:, rows, None], boxes[:, None, columns]
    width = (torch.minimum(a[..., 2], b[..., 2]) - torch.maximum(a[..., 0], b[..., 0])).clamp_(min=0)
    shared = width.mul_((torch.minimum(a[..., 3], b[..., 3]) - torch.maximum(a[..., 1], b[..., 1])).clamp_(min=0))
    union = (areas[:, rows, None] + areas[:, None, columns]).sub_(shared)
    is_over = shared.div_(union) > _rounded_down(threshold, shared.dtype)
    return is_over if groups is None else is_over & (groups[:, rows, None] == groups[:, None, columns])


def _rounded_down(threshold: float, dtype: Any) -> float:
    """Return the largest number of a precision that is not above a threshold: what exceeds one exceeds the other."""
    import torch

    near = torch.tensor(threshold, dtype=dtype)
    is_above = float(near) > threshold
    return float(torch.nextafter(near, torch.tensor(-1.0, dtype=dtype)) if is_above else near)


def _check_shapes(boxes: Any, scores: Any, groups: Any) -> None:
    if boxes.ndim != 2:
        raise ValueError(f"boxes must be of shape (n, 4), got {tuple(boxes.shape)}. Do one image at a time.")
    for name, values in (("scores", scores), ("groups", groups)):
        if values is not None and tuple(values.shape) != (boxes.shape[0],):
            raise ValueError(
                f"{name} must be one for each of {boxes.shape[0]} boxes, got the shape {tuple(values.shape)}."
            )


def _refuse(wrong: int) -> NoReturn:
    if wrong == NOT_FINITE:
        raise ValueError(
            "boxes and scores must be finite numbers, got some that are not. Leave out what np.isfinite does not find."
        )
    raise ValueError(
        "boxes must be x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, got some that are not. "
        'Turn corner and size into corners: to_corners(boxes, "xywh").'
    )
