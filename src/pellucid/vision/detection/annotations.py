"""What is in an image, and what was found in it: the objects and the detections of one image as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pellucid.core.checks import did_you_mean
from pellucid.core.types import Array, Data
from pellucid.vision.detection.boxes.box_geometry import box_area

OTHER_NAMES = {"iscrowd": "crowd", "difficult": "crowd"}
"""What other files call a field of ours."""
NOT_NEEDED = {"image_id"}
"""What other files hold beside."""


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """The objects of one image, as NumPy arrays, whatever they came as.

    Parameters
    ----------
    boxes : array of shape (n, 4)
        (x1, y1, x2, y2) in pixels; x grows to the right, y downwards.
    labels : array of shape (n,)
        Classes: whole numbers or texts.
    crowd : array of bools of shape (n,), default=None
        Objects that nobody has to find, and that finding costs nothing: COCO's crowds, VOC's difficult objects.
    area : array of shape (n,), default=None
        Areas in square pixels, by which objects are small or large; by default those of the masks, or of the boxes.
    masks : array of bools of shape (n, height, width), default=None
        Which pixels belong to each object.

    Examples
    --------
    >>> Annotations(boxes=[[0, 0, 4, 5]], labels=["cat"])
    Annotations(1 object: cat 1)
    """

    boxes: Array
    labels: Array
    crowd: Array = None  # type: ignore[assignment]  # filled below
    area: Array = None  # type: ignore[assignment]
    masks: Array | None = None

    def __post_init__(self) -> None:
        n = _check_fields(self)
        if self.crowd is None:
            object.__setattr__(self, "crowd", np.zeros(n, dtype=bool))
        if self.area is None:
            object.__setattr__(self, "area", box_area(self.boxes) if self.masks is None else mask_areas(self.masks))
        object.__setattr__(self, "crowd", _column(self.crowd, "crowd", n).astype(bool))
        object.__setattr__(self, "area", _column(self.area, "area", n).astype(np.float64))
        if not (np.isfinite(self.area).all() and (self.area >= 0).all()):
            raise ValueError("area must be finite numbers of at least 0, got others. Leave it out: boxes have areas.")

    @classmethod
    def of(cls, given: Self | Mapping[str, Any]) -> Self:
        """Return the objects of a mapping with these names; ``iscrowd``, ``difficult`` and ``image_id`` are known."""
        if isinstance(given, cls):
            return given
        return cls(**_named(cls, given))

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        return _said("Annotations", "object", self.labels)


@dataclass(frozen=True, eq=False, repr=False)
class Detections:
    """What was found in one image, as NumPy arrays, whatever it came as.

    Parameters
    ----------
    boxes : array of shape (n, 4)
        (x1, y1, x2, y2) in pixels.
    scores : array of shape (n,)
        The surer the higher.
    labels : array of shape (n,)
        Classes, of the kind that the annotations have.
    masks : array of bools of shape (n, height, width), default=None
        Which pixels belong to each object.

    Examples
    --------
    >>> Detections(boxes=[[0, 0, 4, 5], [1, 0, 2, 2]], scores=[0.9, 0.2], labels=[3, 3])
    Detections(2 boxes: 3 2)
    """

    boxes: Array
    scores: Array
    labels: Array
    masks: Array | None = None

    def __post_init__(self) -> None:
        n = _check_fields(self)
        object.__setattr__(self, "scores", _column(self.scores, "scores", n).astype(np.float64))
        if not np.isfinite(self.scores).all():
            raise ValueError("scores must be finite numbers, got some that are not. Leave out those detections.")

    @classmethod
    def of(cls, given: Self | Mapping[str, Any]) -> Self:
        """Return the detections of a mapping with these names."""
        if isinstance(given, cls):
            return given
        return cls(**_named(cls, given))

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        return _said("Detections", "box", self.labels)


def mask_areas(masks: Array) -> Array:
    """Return the pixels of each mask; counted one by one, ten times as quick as a sum over both axes."""
    return np.array([np.count_nonzero(mask) for mask in masks], dtype=np.float64)


def _check_fields(given: Any) -> int:
    """Put arrays of the right kinds in the place of boxes, labels and masks; return how many there are."""
    boxes = _array(given.boxes)
    boxes = boxes.reshape(-1, 4) if boxes.size == 0 else boxes
    if boxes.ndim != 2 or boxes.shape[1] != 4 or boxes.dtype.kind not in "fiu":
        raise ValueError(f"boxes must be numbers of shape (n, 4), x1, y1, x2, y2, got {boxes.dtype} of {boxes.shape}.")
    boxes = boxes.astype(np.float64)
    if not np.isfinite(boxes).all():
        raise ValueError("boxes must be finite numbers, got some that are not. Leave out those boxes.")
    if not (boxes[:, 2:] >= boxes[:, :2]).all():
        k = int(np.flatnonzero((boxes[:, 2:] < boxes[:, :2]).any(axis=1))[0])
        raise ValueError(
            f"boxes must have x1 <= x2 and y1 <= y2, got {boxes[k].tolist()} as number {k}. "
            'If these are corner and size, turn them: to_corners(boxes, "xywh").'
        )
    labels = _column(given.labels, "labels", len(boxes))
    if labels.dtype.kind not in "iubUS" and len(labels):
        raise TypeError(f"labels must be whole numbers or texts, got {labels.dtype}.")
    object.__setattr__(given, "boxes", boxes)
    object.__setattr__(given, "labels", labels)
    if given.masks is not None:
        masks = _array(given.masks)
        if masks.ndim != 3 or len(masks) != len(boxes) or not (masks.dtype == bool or np.isin(masks, (0, 1)).all()):
            raise ValueError(
                f"masks must be of shape ({len(boxes)}, height, width) and hold 0 and 1, got {masks.dtype} of "
                f"{masks.shape}. Compare probabilities with 0.5 first."
            )
        object.__setattr__(given, "masks", masks.astype(bool, copy=False))
    return len(boxes)


def _column(values: Data, name: str, n: int) -> Array:
    found = _array(values)
    if found.shape != (n,) and not (found.size == 0 and n == 0):
        raise ValueError(f"{name} must be one for each of {n} boxes, got the shape {found.shape}.")
    return found.reshape(n)


def _array(values: Data) -> Array:
    """Return an array of what may be a tensor on some device."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _named(kind: type, given: Any) -> dict[str, Any]:
    """Return what a mapping holds under our names."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{kind.__name__} must be of a mapping with boxes and labels, got {type(given).__name__}.")
    found = {OTHER_NAMES.get(str(name), str(name)): value for name, value in given.items() if name not in NOT_NEEDED}
    known = kind.__dataclass_fields__  # type: ignore[attr-defined]
    for name in found:
        if name not in known:
            raise ValueError(
                f"{kind.__name__} must have some of {', '.join(known)}, got {name!r}.{did_you_mean(name, known)}"
            )
    for name in ("boxes", "labels", *(("scores",) if "scores" in known else ())):
        if name not in found:
            raise ValueError(f"{kind.__name__} must have {name}, got {', '.join(found) or 'nothing'}.")
    return found


def _said(name: str, one: str, labels: Array) -> str:
    kinds, counts = np.unique(labels, return_counts=True)
    parts = [f"{kind} {count}" for kind, count in zip(kinds[:8], counts[:8], strict=True)]
    many = {"object": "objects", "box": "boxes"}[one]
    end = f": {', '.join(parts)}{', ...' if len(kinds) > 8 else ''}" if parts else ""
    return f"{name}({len(labels)} {one if len(labels) == 1 else many}{end})"
