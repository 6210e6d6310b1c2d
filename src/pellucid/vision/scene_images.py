"""Images as users hold them: an array of equal ones or a list of different ones, gray or in color, bytes or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.types import Array

LARGEST = {"uint8": 255.0, "uint16": 65535.0, "bool": 1.0}
"""What white is in images of whole numbers; numbers with a fraction are taken as they are, white being 1."""


def checked_images(images: Any, *, channels: int | None = None) -> list[Array]:
    """Return images of shape (height, width, channels), bytes or float32 with white at 1; all faults in one sentence.

    Parameters
    ----------
    images : array of shape (n, height, width[, channels]), or sequence of arrays (height, width[, channels])
        Of uint8, uint16, bool or floats between 0 and 1.
    channels : int or None, default=None
        How many each must have; None: as many as the first.

    Examples
    --------
    >>> [image.shape for image in checked_images([np.zeros((4, 6)), np.zeros((5, 3))])]
    [(4, 6, 1), (5, 3, 1)]
    """
    if isinstance(images, np.ndarray) and images.ndim not in (1, 3, 4):
        raise ValueError(f"images must be several, (n, height, width[, channels]), got {images.shape}. Write [image].")
    if not isinstance(images, np.ndarray | Sequence) or isinstance(images, str) or not len(images):
        raise ValueError(f"images must be a list of arrays, or one array of them, got {_what(images)}.")
    found, faults = [], []
    for place, image in enumerate(images):
        try:
            found.append(_checked(np.asarray(image)))
        except ValueError as error:
            faults.append(f"image {place} {error}")
            continue
        channels = found[-1].shape[2] if channels is None else channels
        if found[-1].shape[2] != channels:
            faults.append(f"image {place} has {found[-1].shape[2]} channels where {channels} are expected")
    raise_faults("images must be alike", faults)
    return found


MOST_TOLD = 12


def raise_faults(rule: str, faults: Sequence[str]) -> None:
    """Raise one error that names every fault, up to a dozen, if there is any."""
    if faults:
        more = f"; and {len(faults) - MOST_TOLD} more" if len(faults) > MOST_TOLD else ""
        raise ValueError(f"{rule}, but {'; '.join(faults[:MOST_TOLD])}{more}.")


def _checked(image: Array) -> Array:
    if image.ndim == 2:
        image = image[:, :, None]
    if image.ndim != 3 or not 1 <= image.shape[2] <= 4:
        raise ValueError(f"has the shape {image.shape} and not (height, width[, 1 to 4 channels])")
    if not min(image.shape):
        raise ValueError("has no pixel")
    if image.dtype == np.uint8:
        return np.require(image, requirements=("C", "W"))  # Pillow's arrays are read-only, which torch warns about
    if image.dtype.name in LARGEST:
        return np.ascontiguousarray(image, dtype=np.float32) / np.float32(LARGEST[image.dtype.name])
    if image.dtype.kind not in "f":
        raise ValueError(f"is of {image.dtype}: convert it to uint8, or to floats between 0 and 1")
    if not np.isfinite(image).all():
        raise ValueError("has pixels that are no numbers")
    if np.abs(image).max() > 16:
        raise ValueError(f"has values up to {np.abs(image).max():.3g}, where white is 1: divide it by 255")
    return np.require(image, np.float32, ("C", "W"))


def _what(images: Any) -> str:
    return f"{type(images).__name__}" + (" without any" if hasattr(images, "__len__") and not len(images) else "")
