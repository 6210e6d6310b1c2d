"""Boxes (x1, y1, x2, y2): areas, overlaps, other ways to write them. NumPy arrays and torch tensors alike.

x grows to the right and y downwards; coordinates are continuous, so that a box from 0 to 1 is one pixel wide. An empty
box has no area and overlaps nothing: its IoU with any box, also with itself, is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.array_api import array_namespace, is_array_api_obj
from pellucid.core.checks import check_one_of

FORMS = ("xywh", "cxcywh")
"""Corner and size, as in COCO's files; center and size, as in YOLO's."""
FULL_PRECISION = ("float32", "float64")
"""How the names of kinds of numbers end that are taken as they are, in every library."""


def box_area(boxes: Any) -> Any:
    """Return the area of each box, of shape (...,).

    Parameters
    ----------
    boxes : array or tensor of shape (..., 4)
        (x1, y1, x2, y2), with x1 <= x2 and y1 <= y2.

    Examples
    --------
    >>> box_area(np.array([[0.0, 0.0, 3.0, 2.0]]))
    array([6.])
    """
    boxes = as_boxes(boxes)
    return _area(boxes)


def box_iou(boxes: Any, others: Any) -> Any:
    r"""Return the intersection over union of all pairs, of shape (n, m).

    .. math:: \mathrm{IoU}(A, B) = \frac{|A \cap B|}{|A \cup B|} = \frac{|A \cap B|}{|A| + |B| - |A \cap B|}

    Parameters
    ----------
    boxes, others : arrays or tensors of shapes (n, 4) and (m, 4)
        (x1, y1, x2, y2), with x1 <= x2 and y1 <= y2.

    Examples
    --------
    >>> box_iou([[0, 0, 2, 2]], [[1, 1, 3, 3], [0, 0, 2, 1], [5, 5, 6, 6]]).round(3)
    array([[0.143, 0.5  , 0.   ]])
    """
    boxes, others = as_boxes(boxes), as_boxes(others, "others")
    return _iou_and_union(boxes[:, None, :], others[None, :, :])[0]


def generalized_iou(boxes: Any, others: Any) -> Any:
    r"""Return the generalized IoU of all pairs, of shape (n, m): above -1, and at most 1.

    .. math:: \mathrm{GIoU}(A, B) = \mathrm{IoU}(A, B) - \frac{|C| - |A \cup B|}{|C|}

    where :math:`C` is the smallest box around both. Unlike the IoU it tells how far apart two boxes are that do not
    meet (Rezatofighi 2019).

    Parameters
    ----------
    boxes, others : arrays or tensors of shapes (n, 4) and (m, 4)
        (x1, y1, x2, y2), with x1 <= x2 and y1 <= y2.

    Examples
    --------
    >>> generalized_iou([[0, 0, 1, 1]], [[0, 0, 1, 1], [3, 0, 4, 1]])
    array([[ 1. , -0.5]])
    """
    boxes, others = as_boxes(boxes), as_boxes(others, "others")
    return _giou(boxes[:, None, :], others[None, :, :])


def paired_giou(boxes: Any, others: Any) -> Any:
    """Return the generalized IoU of each box with the other one of its row, of shape (n,); torch can differentiate it.

    Parameters
    ----------
    boxes, others : arrays or tensors of shape (n, 4)
        (x1, y1, x2, y2), with x1 <= x2 and y1 <= y2.

    Examples
    --------
    >>> paired_giou([[0, 0, 1, 1], [0, 0, 1, 1]], [[0, 0, 1, 1], [3, 0, 4, 1]])
    array([ 1. , -0.5])
    """
    boxes, others = as_boxes(boxes), as_boxes(others, "others")
    if boxes.shape != others.shape:
        raise ValueError(f"others must be of the shape of boxes, {tuple(boxes.shape)}, got {tuple(others.shape)}.")
    return _giou(boxes, others)


def clip_boxes(boxes: Any, height: float, width: float) -> Any:
    """Return the part of each box that is inside of an image; one that is outside becomes empty, at its border.

    Parameters
    ----------
    boxes : array or tensor of shape (..., 4)
        (x1, y1, x2, y2), with x1 <= x2 and y1 <= y2.
    height, width : float
        Of the image, in pixels.

    Examples
    --------
    >>> clip_boxes([[-2.0, 1.0, 5.0, 9.0]], height=4, width=6)
    array([[0., 1., 5., 4.]])
    """
    boxes = as_boxes(boxes)
    xp = array_namespace(boxes)
    sides = (boxes[..., 0::2].clip(0, width), boxes[..., 1::2].clip(0, height))
    return xp.reshape(xp.stack(sides, axis=-1), boxes.shape)


def to_corners(boxes: Any, form: str) -> Any:
    """Return boxes (x1, y1, x2, y2) of those given by corner or center, and size.

    Parameters
    ----------
    boxes : array or tensor of shape (..., 4)
        Four numbers each, as ``form`` says.
    form : {"xywh", "cxcywh"}
        Upper left corner and size, as in COCO's files, or center and size, as in YOLO's.

    Examples
    --------
    >>> to_corners([[1.0, 2.0, 4.0, 6.0]], "xywh"), to_corners([[1.0, 2.0, 4.0, 6.0]], "cxcywh")
    (array([[1., 2., 5., 8.]]), array([[-1., -1.,  3.,  5.]]))
    """
    check_one_of(FORMS, form=form)
    boxes = as_boxes(boxes)
    place, size = boxes[..., :2], boxes[..., 2:]
    first = place if form == "xywh" else place - 0.5 * size
    last = place + size if form == "xywh" else place + 0.5 * size
    return array_namespace(boxes).concat((first, last), axis=-1)


def from_corners(boxes: Any, form: str) -> Any:
    """Return boxes (x1, y1, x2, y2) by corner or center, and size.

    Parameters
    ----------
    boxes : array or tensor of shape (..., 4)
        (x1, y1, x2, y2), with x1 <= x2 and y1 <= y2.
    form : {"xywh", "cxcywh"}
        Upper left corner and size, as in COCO's files, or center and size, as in YOLO's.

    Examples
    --------
    >>> from_corners([[-1.0, -1.0, 3.0, 5.0]], "cxcywh")
    array([[1., 2., 4., 6.]])
    """
    check_one_of(FORMS, form=form)
    boxes = as_boxes(boxes)
    first, size = boxes[..., :2], boxes[..., 2:] - boxes[..., :2]
    return array_namespace(boxes).concat((first if form == "xywh" else first + 0.5 * size, size), axis=-1)


def as_boxes(boxes: Any, name: str = "boxes") -> Any:
    """Return boxes as an array or tensor of floats of at least single precision; no boxes are of shape (0, 4)."""
    if not is_array_api_obj(boxes):
        boxes = np.asarray(boxes, dtype=np.float64)
        boxes = boxes.reshape(0, 4) if boxes.size == 0 else boxes
    if boxes.ndim < 1 or boxes.shape[-1] != 4:
        raise ValueError(
            f"{name} must hold four numbers each, x1, y1, x2, y2, got the shape {tuple(boxes.shape)}. "
            "Without any box give one of shape (0, 4)."
        )
    if str(boxes.dtype).endswith(FULL_PRECISION):
        return boxes
    xp = array_namespace(boxes)
    if not xp.isdtype(boxes.dtype, "real floating"):
        return xp.astype(boxes, xp.float64)
    return xp.astype(boxes, xp.float32)  # of half precision


def _area(boxes: Any) -> Any:
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def _iou_and_union(boxes: Any, others: Any) -> tuple[Any, Any]:
    xp = array_namespace(boxes, others)
    # half the work of taking both axes at once: slices of one coordinate are small
    left, right = xp.maximum(boxes[..., 0], others[..., 0]), xp.minimum(boxes[..., 2], others[..., 2])
    top, bottom = xp.maximum(boxes[..., 1], others[..., 1]), xp.minimum(boxes[..., 3], others[..., 3])
    shared = (right - left).clip(0) * (bottom - top).clip(0)
    union = _area(boxes) + _area(others) - shared
    return _quotient(shared, union), union


def _giou(boxes: Any, others: Any) -> Any:
    xp = array_namespace(boxes, others)
    iou, union = _iou_and_union(boxes, others)
    width = xp.maximum(boxes[..., 2], others[..., 2]) - xp.minimum(boxes[..., 0], others[..., 0])
    height = xp.maximum(boxes[..., 3], others[..., 3]) - xp.minimum(boxes[..., 1], others[..., 1])
    hull = width.clip(0) * height.clip(0)
    return iou - _quotient(hull - union, hull)


def _quotient(above: Any, below: Any) -> Any:
    """Return a quotient that is 0, and has no slope, where nothing is below."""
    xp = array_namespace(above)
    is_some = below > 0
    return xp.where(is_some, above, xp.zeros_like(above)) / xp.where(is_some, below, xp.ones_like(below))
