"""Images in 8 bits, and the color spaces in which regions are looked for, in whole numbers alone.

Formulas round once, by adding a half and dividing: colors, and all that is decided by them, are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from pellucid.core.types import Array, Data

FINE = 65535
"""Levels of light, linear in energy, where colors become those of the CIE."""
UNIT = 4096
"""Its matrix is in parts of this."""
TO_XYZ = np.array([[1777, 1541, 778], [871, 2929, 296], [73, 448, 3575]])
"""From red, green and blue of sRGB to X, Y and Z over those of white: each row sums to the unit."""


def eight_bit(image: Data) -> Array:
    """Return an image as planes (height, width, channels) in 8 bits, or say in a sentence why it is none.

    Examples
    --------
    >>> eight_bit([[0.0, 1.0]])[:, :, 0]
    array([[  0, 255]], dtype=uint8)
    """
    image = np.asarray(image)
    if image.ndim not in (2, 3) or 0 in image.shape:
        raise ValueError(f"image must be of shape (height, width) or (height, width, 3), got {image.shape}.")
    if image.ndim == 3 and image.shape[2] not in (1, 3):
        raise ValueError(
            f"image must have 1 or 3 channels, got {image.shape[2]}. Leave out the opacity: image[:, :, :3]."
        )
    if image.dtype != np.uint8:
        if image.dtype.kind != "f":
            raise TypeError(f"image must hold 8-bit numbers or floats from 0 to 1, got {image.dtype}. Convert it.")
        if not (np.isfinite(image).all() and image.min() >= 0.0 and image.max() <= 1.0):
            raise ValueError("image must hold floats from 0 to 1, got others. Divide by the largest there can be.")
        image = np.rint(255.0 * image).astype(np.uint8)
    return np.ascontiguousarray(image.reshape(*image.shape[:2], -1))


def gray(image: Array) -> Array:
    """Return the luma of BT.601."""
    r, g, b = _channels(image)
    return _planes(_quotient(299 * r + 587 * g + 114 * b, 1000))


def hsv(image: Array) -> Array:
    """Return hue, saturation and value, each from 0 to 255; hue starts at red, and is 0 where there is none."""
    r, g, b = _channels(image)
    largest, least = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    spread = largest - least
    of_red, of_green = g - b + 6 * spread * (g < b), b - r + 2 * spread
    sixths = np.where(largest == r, of_red, np.where(largest == g, of_green, r - g + 4 * spread))
    hues = _quotient(255 * sixths, 6 * np.maximum(spread, 1))
    return _planes(hues, _quotient(255 * spread, np.maximum(largest, 1)), largest)


def lab(image: Array) -> Array:
    """Return the CIE's L*, of 0 to 255, and a* and b* with 128 for gray."""
    light, root = _tables()
    linear = light[image]
    x, y, z = (root[(linear @ row + UNIT // 2) // UNIT] for row in TO_XYZ)
    lightness = _quotient(29580 * y - 4080 * FINE, 100 * FINE)  # 2.55 (116 y - 16)
    red_green, yellow_blue = _quotient(500 * (x - y), FINE) + 128, _quotient(200 * (y - z), FINE) + 128
    return _planes(lightness, red_green, yellow_blue)


def normalized_rgb(image: Array) -> Array:
    """Return the shares of red and green, and the mean of all three."""
    r, g, b = _channels(image)
    total = r + g + b
    whole = np.maximum(total, 1)
    return _planes(_quotient(255 * r, whole), _quotient(255 * g, whole), _quotient(total, 3))


@cache
def _tables() -> tuple[Array, Array]:
    """Return the light of each value of sRGB, and the CIE's root of each level of light, both of 0 to ``FINE``."""
    value, level = np.arange(256) / 255.0, np.arange(FINE + 1) / FINE
    light = np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)
    root = np.where(level > 216 / 24389, np.cbrt(level), (24389 / 27 * level + 16.0) / 116.0)
    return np.rint(FINE * light).astype(np.int32), np.rint(FINE * root).astype(np.int64)


def _channels(image: Array) -> Array:
    return np.moveaxis(image, 2, 0).astype(np.int32)


def _quotient(above: Array, down: Array | int) -> Array:
    """Return the quotient, rounded to the nearest whole number, halves upwards."""
    return (2 * above + down) // (2 * down)


def _planes(*channels: Array) -> Array:
    return np.clip(np.stack(channels, axis=2), 0, 255).astype(np.uint8)


COLOR_SPACES: dict[str, Callable[[Array], Array]] = {
    "gray": gray,
    "hsv": hsv,
    "lab": lab,
    "normalized rgb": normalized_rgb,
}
