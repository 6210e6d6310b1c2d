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
    "Proposals",
    "Suppression",
    "average_precision",
    "box_area",
    "box_iou",
    "clip_boxes",
    "default_boxes",
    "from_corners",
    "generalized_iou",
    "graph_segmentation",
    "match_anchors",
    "paired_giou",
    "selective_search",
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
    from pellucid.vision.detection.region_grouping.graph_segmentation import graph_segmentation
    from pellucid.vision.detection.region_grouping.selective_search import Proposals, selective_search
    from pellucid.vision.detection.scoring.average_precision import AveragePrecision, average_precision

__getattr__ = name_finder(__name__)
