"""Parameterized box regression: a box written as what has to be done to an anchor to get it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pellucid.core.array_api import array_namespace
from pellucid.core.checks import check_positive
from pellucid.vision.detection.boxes.box_geometry import as_boxes


@dataclass(frozen=True)
class BoxCoding:
    r"""A box relative to an anchor: where its center moves, in sizes of the anchor, and by how much it grows.

    .. math:: t = \Big(w_x \frac{x - x_a}{w_a},\ w_y \frac{y - y_a}{h_a},\ w_w \log\frac{w}{w_a},\
              w_h \log\frac{h}{h_a}\Big)

    with centers :math:`x, y` and sizes :math:`w, h` (Girshick 2014). All four are near 0 for a good anchor, and do not
    change when image, box and anchor are enlarged together.

    Parameters
    ----------
    weights : tuple of four floats, default=(1, 1, 1, 1)
        What the four numbers are multiplied by, so that a network learns numbers of about the same size.
    most_growth : float, default=log(1000 / 16)
        Largest logarithm of a growth that is decoded: a network at its start may say anything.

    Examples
    --------
    >>> coding = BoxCoding()
    >>> offsets = coding.encode([[3.0, 2.0, 5.0, 6.0]], [[0.0, 0.0, 4.0, 4.0]])
    >>> offsets.round(3) + 0.0
    array([[ 0.5  ,  0.5  , -0.693,  0.   ]])
    >>> coding.decode(offsets, [[0.0, 0.0, 4.0, 4.0]])
    array([[3., 2., 5., 6.]])
    """

    weights: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    most_growth: float = math.log(1000.0 / 16.0)

    def __post_init__(self) -> None:
        if len(self.weights) != 4:
            raise ValueError(f"weights must be four numbers, for x, y, width and height, got {self.weights!r}.")
        for weight in self.weights:
            check_positive(weights=weight)
        check_positive(most_growth=self.most_growth)

    def encode(self, boxes: Any, anchors: Any) -> Any:
        """Return the offsets (n, 4) that turn each anchor (n, 4) into the box (n, 4) of its row.

        Boxes and anchors have sizes above 0: others have no logarithm, and give infinite or undefined offsets.
        """
        boxes, anchors = as_boxes(boxes), as_boxes(anchors, "anchors")
        xp = array_namespace(boxes, anchors)
        x, y, width, height = _centers_and_sizes(boxes)
        anchor_x, anchor_y, anchor_width, anchor_height = _centers_and_sizes(anchors)
        move_x, move_y = (x - anchor_x) / anchor_width, (y - anchor_y) / anchor_height
        grow_x, grow_y = xp.log(width / anchor_width), xp.log(height / anchor_height)
        weighted = (w * t for w, t in zip(self.weights, (move_x, move_y, grow_x, grow_y), strict=True))
        return xp.stack(list(weighted), axis=-1)

    def decode(self, offsets: Any, anchors: Any) -> Any:
        """Return the boxes that offsets make of anchors (n, 4); offsets (n, 4) or, for k classes each, (n, 4 k)."""
        anchors = as_boxes(anchors, "anchors")
        xp = array_namespace(anchors)
        offsets = xp.asarray(offsets, dtype=anchors.dtype)
        each = as_boxes(xp.reshape(offsets, (*offsets.shape[:-1], offsets.shape[-1] // 4, 4)), "offsets")  # (n, k, 4)
        x, y, width, height = (one[..., None] for one in _centers_and_sizes(anchors))
        move_x, move_y, grow_x, grow_y = (each[..., k] / w for k, w in enumerate(self.weights))
        center_x, center_y = move_x * width + x, move_y * height + y
        half_width = 0.5 * (xp.exp(grow_x.clip(None, self.most_growth)) * width)
        half_height = 0.5 * (xp.exp(grow_y.clip(None, self.most_growth)) * height)
        sides = (center_x - half_width, center_y - half_height, center_x + half_width, center_y + half_height)
        return xp.reshape(xp.stack(sides, axis=-1), offsets.shape)


def _centers_and_sizes(boxes: Any) -> tuple[Any, Any, Any, Any]:
    """Return x and y of the centers, widths and heights: columns, which cost less than a table of them."""
    width, height = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    return boxes[..., 0] + 0.5 * width, boxes[..., 1] + 0.5 * height, width, height
