"""PNG, JPEG and TIFF, of 8 and 16 bits, gray and color: read as arrays, and written in the kind they came in."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np

from pellucid.core.types import Array

KINDS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF"}
QUALITY = 95
"""Of JPEG files that are written: what was restored should not be lost again."""
MOST_PIXELS = 200_000_000


class ImageFileError(ValueError):
    """A file that is no image, or one that cannot be restored."""


@dataclass(frozen=True, eq=False)
class ImageFile:
    """An image and the kind of file it came from; what opacity it had is kept aside."""

    pixels: Array
    """Of shape (height, width) or (height, width, 3); bytes, whole numbers of 16 bits, or floats from a TIFF file."""
    kind: str
    """Of the file that it came from: ``PNG``, ``JPEG`` or ``TIFF``."""
    opacity: Array | None = None
    """Of shape (height, width), in the type of the pixels; None if the file has none."""


def read_image(path: str | Path) -> ImageFile:
    """Return the image in a file, or say in a sentence why there is none.

    Parameters
    ----------
    path : str or path
        A file that ends in .png, .jpg, .jpeg, .tif or .tiff.
    """
    path = Path(path)
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ImageFileError(f"image must be a PNG, JPEG or TIFF file, got {path.name}. Convert it.")
    if not path.is_file():
        raise ImageFileError(f"image must be a file, got {path}, which does not exist.")
    try:
        pixels = _read_tiff(path) if kind == "TIFF" else _read_picture(path)
    except ImageFileError:
        raise
    except Exception as error:  # each reader has its own errors for files that are broken
        raise ImageFileError(f"image must be a {kind} file, got {path.name}, which cannot be read: {error}") from error
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4):
        return ImageFile(_squeezed(pixels[:, :, :-1]), kind, pixels[:, :, -1])
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3)):
        raise ImageFileError(f"image must be one gray or color picture, got an array of shape {pixels.shape}.")
    if pixels.dtype.kind not in "uf":
        raise ImageFileError(f"image must have gray values of 8 or 16 bits, or floats, got {pixels.dtype}.")
    return ImageFile(_squeezed(pixels), kind)


def _squeezed(pixels: Array) -> Array:
    return pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels


def _read_picture(path: Path) -> Array:
    from PIL import Image, ImageOps

    with Image.open(path) as opened:
        if opened.width * opened.height > MOST_PIXELS:
            raise ImageFileError(f"image must have at most {MOST_PIXELS:,} pixels, got {path.name}. Cut it into parts.")
        if opened.format == "PNG" and _png_depth(path) == 16 and not opened.mode.startswith("I"):
            return _read_deep_png(path)  # Pillow would keep the upper 8 bits of colors
        picture = ImageOps.exif_transpose(opened)
        if picture.mode in ("P", "CMYK", "YCbCr", "1", "LAB", "HSV", "PA"):
            has_opacity = picture.mode == "PA" or "transparency" in picture.info
            picture = picture.convert("L" if picture.mode == "1" else "RGBA" if has_opacity else "RGB")
        if picture.mode.startswith("I"):
            return np.asarray(picture).astype(np.uint16)
        return np.asarray(picture)


def _png_depth(path: Path) -> int:
    with path.open("rb") as file:
        return file.read(25)[24]  # signature, length and name of the first chunk, width, height, depth


def _read_deep_png(path: Path) -> Array:
    import png

    with path.open("rb") as file:
        width, height, rows, info = png.Reader(file=file).asDirect()
        numbers = np.fromiter(chain.from_iterable(rows), dtype=np.uint16, count=width * height * info["planes"])
    return numbers.reshape(height, width, info["planes"])


def _read_tiff(path: Path) -> Array:
    import tifffile

    return np.asarray(tifffile.imread(path))


def image_bytes(file: ImageFile) -> bytes:
    """Return the content of an image file of its kind and depth.

    Parameters
    ----------
    file : ImageFile
        Its ``kind`` says what to write: TIFF any numbers, PNG 8 or 16 bits, JPEG 8 bits and no opacity.
    """
    pixels = file.pixels
    if file.opacity is not None:
        pixels = np.dstack([pixels, file.opacity])
    content = BytesIO()
    if file.kind == "TIFF":
        import tifffile

        tifffile.imwrite(
            content, pixels, photometric="rgb" if pixels.ndim == 3 and pixels.shape[2] > 2 else "minisblack"
        )
        return content.getvalue()
    if file.kind == "PNG" and pixels.dtype == np.uint16 and pixels.ndim == 3:
        import png

        alpha, gray = pixels.shape[2] in (2, 4), pixels.shape[2] < 3
        writer = png.Writer(pixels.shape[1], pixels.shape[0], greyscale=gray, alpha=alpha, bitdepth=16)
        writer.write(content, pixels.reshape(pixels.shape[0], -1))
        return content.getvalue()
    from PIL import Image

    options = {"quality": QUALITY, "subsampling": 0} if file.kind == "JPEG" else {}
    Image.fromarray(pixels).save(content, format=file.kind, **options)
    return content.getvalue()
