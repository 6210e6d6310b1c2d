"""What ``pellucid.verify`` calls for suppressed boxes, matched anchors and average precisions."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.average_precision import prove_average_precision
from pellucid.proofs.vision.detection import prove_matching, prove_suppression
from pellucid.vision.detection.annotations import Annotations, Detections
from pellucid.vision.detection.boxes.box_geometry import as_boxes
from pellucid.vision.detection.boxes.matching import Matching
from pellucid.vision.detection.boxes.suppression import Suppression
from pellucid.vision.detection.scoring.average_precision import AveragePrecision


def verify_boxes(found: Any, first: Any, second: Any = None, *, groups: Any = None) -> Certificate:
    """Prove what was said of boxes once more, from the boxes.

    ``first`` and ``second`` are boxes and scores for a :class:`Suppression` (and its ``groups``), anchors and boxes for
    a :class:`Matching`, detections and annotations for an :class:`AveragePrecision`.
    """
    asks = {Suppression: "boxes, scores", Matching: "anchors, boxes", AveragePrecision: "detections, annotations"}
    if type(found) not in asks:
        raise TypeError(f"model must be one of {', '.join(k.__name__ for k in asks)}, got {type(found).__name__}.")
    if second is None:
        raise TypeError(f"{type(found).__name__} must be verified with {asks[type(found)]}, got only the first.")
    if isinstance(found, Suppression):
        groups = None if groups is None else _array(groups)
        kept, suppressed_by = _array(found.kept), _array(found.suppressed_by)
        boxes = _array(as_boxes(first))
        return prove_suppression(kept, suppressed_by, found.threshold, boxes, _array(second), groups)
    if isinstance(found, Matching):
        settings = (found.high, found.low, found.keep_best)
        anchors, boxes = _array(as_boxes(first, "anchors")), _array(as_boxes(second))
        return prove_matching(_array(found.box), _array(found.overlap), *settings, anchors, boxes)
    seen = Seen(**{one.name: getattr(found, one.name) for one in fields(found)})
    return prove_average_precision(seen, [Detections.of(one) for one in first], [Annotations.of(one) for one in second])


def _array(values: Any) -> Array:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
