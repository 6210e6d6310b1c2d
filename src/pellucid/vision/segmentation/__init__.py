"""A class for every pixel: networks, the estimator around them, and scores."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

ON_TORCH = ("WindowComparison", "compare_with_windows", "shipped_segmenter", "sliding_window_scores")
"""Names that need PyTorch."""

__all__ = [
    "SegmentationScore",
    "Segmenter",
    "WindowComparison",
    "compare_with_windows",
    "confusion_counts",
    "segmentation_score",
    "shipped_segmenter",
    "show_mean_iou",
    "sliding_window_scores",
]

if TYPE_CHECKING:
    from pellucid.vision.segmentation.score_workings import show_mean_iou
    from pellucid.vision.segmentation.scoring import SegmentationScore, confusion_counts, segmentation_score
    from pellucid.vision.segmentation.segmenter import Segmenter
    from pellucid.vision.segmentation.shipped_segmenters import shipped_segmenter
    from pellucid.vision.segmentation.sliding_window import (
        WindowComparison,
        compare_with_windows,
        sliding_window_scores,
    )

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, ON_TORCH)
