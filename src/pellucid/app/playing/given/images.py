"""Small images by name, for convolution and restoration: gray, from 0 to 1, the topmost row first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.checks import find_name
from pellucid.core.types import Array

LETTER = ("........", ".######.", ".#......", ".#......", ".####...", ".#......", ".######.", "........")


def _letter() -> Array:
    return np.array([[1.0 if mark == "#" else 0.0 for mark in row] for row in LETTER])


def _edge() -> Array:
    return np.repeat(np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]]), 8, axis=0)


def _digit() -> Array:
    from sklearn.datasets import load_digits

    return np.asarray(load_digits().images[3], dtype=float) / 16.0


def _disk() -> Array:
    """Return a bright disk and a bar on a slope, 48 pixels wide: edges, a curve and a smooth part."""
    y, x = np.mgrid[0:48, 0:48] / 47.0
    image = 0.15 + 0.35 * x
    image[(x - 0.4) ** 2 + (y - 0.45) ** 2 < 0.07] = 0.95
    image[38:43, 8:42] = 0.75
    return np.asarray(image)


IMAGES: dict[str, Callable[[], Array]] = {"letter": _letter, "edge": _edge, "digit": _digit, "disk": _disk}


def image_names() -> tuple[str, ...]:
    """Return the names of all images."""
    return tuple(IMAGES)


def load_image(name: Any) -> Array:
    """Return an image by name.

    Parameters
    ----------
    name : {"letter", "edge", "digit", "disk"}
        What it shows; case and hyphens do not matter.

    Examples
    --------
    >>> load_image("letter").shape
    (8, 8)
    """
    return IMAGES[find_name(str(name), IMAGES, what="image")]()
