"""Image files read, restored, looked at and written."""

from pellucid.app.pictures.annotated_folder import AnnotatedFolder, read_annotated_folder
from pellucid.app.pictures.detect_image import DetectedFile, detect_image
from pellucid.app.pictures.fit_detector import FittedDetector, fit_detector_on
from pellucid.app.pictures.image_files import ImageFile, image_bytes, read_image
from pellucid.app.pictures.restore_image import RestoredFile, restore_image
from pellucid.app.pictures.segment_image import SegmentedFile, segment_image

__all__ = [
    "AnnotatedFolder",
    "DetectedFile",
    "FittedDetector",
    "ImageFile",
    "RestoredFile",
    "SegmentedFile",
    "detect_image",
    "fit_detector_on",
    "image_bytes",
    "read_annotated_folder",
    "read_image",
    "restore_image",
    "segment_image",
]
