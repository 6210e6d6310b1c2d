"""Images as planes of numbers: gray or color, of whole numbers or floats, and back again as they came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.vision.restoration.operators import Operator

OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3.0], [2.0], [6.0]])
"""Luminance and two differences of color, orthonormal: noise that is white in R, G, B is white in these, with the same
sigma, while nearly all that is to be seen moves to the first."""

PEAKS = (255.0, 65535.0)
"""Largest gray values of 8 and of 16 bits: what floats above 2 are taken to be counted in, unless it is said."""


@dataclass(frozen=True)
class Format:
    """How an image came: by this an estimate of floats is turned back into one of its kind."""

    dtype: np.dtype
    is_color: bool
    has_channel_axis: bool
    peak: float

    @classmethod
    def of(cls, image: Data, peak: float | None, operator: Operator | None = None) -> Format:
        """Return the format of an image, or say in a sentence why it is none; what an operator hides tells nothing."""
        image = np.asarray(image)
        if image.dtype == bool or image.dtype.kind not in "uif":
            raise TypeError(f"image must hold numbers, got {image.dtype}. Give gray values.")
        if image.ndim not in (2, 3) or 0 in image.shape:
            raise ValueError(f"image must be of shape (height, width) or (height, width, 3), got {image.shape}.")
        if image.ndim == 3 and image.shape[2] not in (1, 3):
            raise ValueError(
                f"image must have 1 or 3 channels, got {image.shape[2]}. Leave out the opacity: image[:, :, :3]."
            )
        if peak is None:
            peak = _usual_peak(image if operator is None else operator.seen(image))
        check_positive(peak=peak, hint="It is the largest gray value there can be.")
        return cls(image.dtype, image.shape[2:] == (3,), image.ndim == 3, float(peak))

    def back(self, planes: Array, color: str) -> Array:
        """Return planes as an image of floats, of the shape that the image came in."""
        if self.is_color:
            return np.moveaxis(np.tensordot(OPPONENT.T, planes, 1) if color == "opponent" else planes, 0, 2)
        return planes[0][:, :, None] if self.has_channel_axis else planes[0]

    def as_it_came(self, estimate: Array) -> Array:
        """Return an estimate in the dtype of the image, rounded and clipped where that holds whole numbers."""
        if self.dtype.kind == "f":
            return estimate.astype(self.dtype)
        limits = np.iinfo(self.dtype)
        return np.clip(np.rint(estimate), limits.min, limits.max).astype(self.dtype)


def _usual_peak(image: Array) -> float:
    if image.dtype.kind == "u":
        return float(np.iinfo(image.dtype).max)
    largest = np.nanmax(np.abs(image), initial=0.0)
    return 1.0 if image.dtype.kind == "f" and largest <= 2.0 else next((p for p in PEAKS if largest <= 2 * p), largest)


def as_planes(image: Data, color: str) -> Array:
    """Return an image as planes (channels, height, width) of float64: R, G, B, or luminance and two differences."""
    image = np.asarray(image, dtype=np.float64)
    planes = image[None] if image.ndim == 2 else np.moveaxis(image, 2, 0)
    if len(planes) == 3 and color == "opponent":
        planes = np.tensordot(OPPONENT, planes, 1)
    return np.ascontiguousarray(planes)


def luminance(image: Data) -> Array:
    """Return the Y of BT.601 in its studio range, 16 to 235 for 8 bits, by which super-resolution is judged.

    Examples
    --------
    >>> luminance(np.array([[[255, 255, 255], [0, 0, 0]]], dtype=np.uint8))
    array([[235.,  16.]])
    """
    image = np.asarray(image)
    peak = _usual_peak(image)
    if image.ndim == 2:
        return image.astype(np.float64)
    return (16.0 * peak + image.astype(np.float64) @ np.array([65.481, 128.553, 24.966])) / 255.0
