"""Image files read, restored and written."""

from pellucid.app.pictures.image_files import ImageFile, image_bytes, read_image
from pellucid.app.pictures.restore_image import RestoredFile, restore_image

__all__ = ["ImageFile", "RestoredFile", "image_bytes", "read_image", "restore_image"]
