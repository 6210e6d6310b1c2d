"""Image files read, restored and written."""

from pellucid.app.pictures.image_files import ImageFile, image_bytes, read_image
from pellucid.app.pictures.restore_image import RestoredFile, restore_image
from pellucid.app.pictures.segment_image import SegmentedFile, segment_image

__all__ = [
    "ImageFile",
    "RestoredFile",
    "SegmentedFile",
    "image_bytes",
    "read_image",
    "restore_image",
    "segment_image",
]
