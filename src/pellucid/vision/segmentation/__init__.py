"""A class for every pixel: networks, the estimator around them, and scores."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

ON_TORCH: tuple[str, ...] = ()
"""Names that need PyTorch."""

__all__ = ["SegmentationScore", "Segmenter", "confusion_counts", "segmentation_score"]

if TYPE_CHECKING:
    from pellucid.vision.segmentation.scoring import SegmentationScore, confusion_counts, segmentation_score
    from pellucid.vision.segmentation.segmenter import Segmenter

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, ON_TORCH)
