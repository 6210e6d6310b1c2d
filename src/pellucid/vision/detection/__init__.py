"""Objects found in images: boxes, what they overlap, how well they were found."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

__all__ = [
    "AnchorGrid",
    "Annotations",
    "AveragePrecision",
    "BoxCoding",
    "Detections",
    "Matching",
    "Suppression",
    "average_precision",
    "box_area",
    "box_iou",
    "clip_boxes",
    "default_boxes",
    "from_corners",
    "generalized_iou",
    "match_anchors",
    "paired_giou",
    "suppress",
    "to_corners",
]

if TYPE_CHECKING:
    from pellucid.vision.detection.annotations import Annotations, Detections
    from pellucid.vision.detection.boxes.anchors import AnchorGrid, default_boxes
    from pellucid.vision.detection.boxes.box_coding import BoxCoding
    from pellucid.vision.detection.boxes.box_geometry import (
        box_area,
        box_iou,
        clip_boxes,
        from_corners,
        generalized_iou,
        paired_giou,
        to_corners,
    )
    from pellucid.vision.detection.boxes.matching import Matching, match_anchors
    from pellucid.vision.detection.boxes.suppression import Suppression, suppress
    from pellucid.vision.detection.scoring.average_precision import AveragePrecision, average_precision

__getattr__ = name_finder(__name__)
