"""Objects found in images: boxes, what they overlap, how well they were found."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

ON_TORCH = (
    "FasterRCNN",
    "FastRCNN",
    "FeaturePyramid",
    "EfficientNetBody",
    "Localizer",
    "MaskRCNN",
    "RCNN",
    "ResNetBody",
    "RetinaNet",
    "SSD",
    "SmallBody",
    "VGGScales",
    "YOLO",
    "certified_boxes",
    "focal_loss",
    "roi_align",
    "roi_pool",
)
"""Names that need PyTorch."""

__all__ = [
    "RCNN",
    "SSD",
    "YOLO",
    "AnchorGrid",
    "Annotations",
    "AveragePrecision",
    "BoxCoding",
    "ClassConfusion",
    "Detections",
    "Detector",
    "EfficientNetBody",
    "FastRCNN",
    "FasterRCNN",
    "FeaturePyramid",
    "Localizer",
    "MaskRCNN",
    "Matching",
    "Proposals",
    "ResNetBody",
    "RetinaNet",
    "SmallBody",
    "Suppression",
    "VGGScales",
    "average_precision",
    "box_area",
    "box_iou",
    "certified_boxes",
    "class_confusion",
    "clip_boxes",
    "coco_detections",
    "default_boxes",
    "focal_loss",
    "from_corners",
    "generalized_iou",
    "graph_segmentation",
    "match_anchors",
    "paired_giou",
    "read_annotation_file",
    "roi_align",
    "roi_pool",
    "selective_search",
    "shipped_detector",
    "show_anchor_match",
    "show_average_precision",
    "show_box_regression",
    "show_focal_loss",
    "show_iou",
    "show_roi_align",
    "show_suppression",
    "suppress",
    "to_corners",
]

if TYPE_CHECKING:
    from pellucid.vision.detection.annotation_files import coco_detections, read_annotation_file
    from pellucid.vision.detection.annotations import Annotations, Detections
    from pellucid.vision.detection.box_certificates import certified_boxes
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
    from pellucid.vision.detection.detector import Detector
    from pellucid.vision.detection.networks.backbones import EfficientNetBody, FeaturePyramid, ResNetBody, SmallBody
    from pellucid.vision.detection.networks.detection_losses import focal_loss
    from pellucid.vision.detection.networks.localizer import Localizer
    from pellucid.vision.detection.networks.region_detectors import RCNN, FasterRCNN, FastRCNN, MaskRCNN
    from pellucid.vision.detection.networks.region_pooling import roi_align, roi_pool
    from pellucid.vision.detection.networks.retinanet import RetinaNet
    from pellucid.vision.detection.networks.ssd import SSD, VGGScales
    from pellucid.vision.detection.networks.yolo import YOLO
    from pellucid.vision.detection.region_grouping.graph_segmentation import graph_segmentation
    from pellucid.vision.detection.region_grouping.selective_search import Proposals, selective_search
    from pellucid.vision.detection.scoring.average_precision import AveragePrecision, average_precision
    from pellucid.vision.detection.scoring.confusion import ClassConfusion, class_confusion
    from pellucid.vision.detection.shipped_detectors import shipped_detector
    from pellucid.vision.detection.workings.average_precision_workings import show_average_precision
    from pellucid.vision.detection.workings.head_workings import show_box_regression, show_focal_loss, show_roi_align
    from pellucid.vision.detection.workings.overlap_workings import show_anchor_match, show_iou, show_suppression

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, ON_TORCH)
