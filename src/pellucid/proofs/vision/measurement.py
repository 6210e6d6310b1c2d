"""What was measured of an image, as a proof sees it: one plane, its noise, and the operator written out once more.

Convolutions are sums over the kernel here, never products of spectra, so that an error in a transform shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import convolve, correlate

from pellucid.proofs.arrays import Array

MODES = {"reflect": "reflect", "periodic": "wrap", "valid": "constant"}
OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3.0], [2.0], [6.0]])


@dataclass(frozen=True)
class SeenOperator:
    """An operator by its name and its parts: kernel, border, scale, missing."""

    name: str
    parts: Mapping[str, Any]
    shape: tuple[int, int]
    """Of the restored plane."""

    def apply(self, image: Array) -> Array:
        """Return A x."""
        if self.name == "Identity":
            return image
        if self.name == "Mask":
            return np.where(self.parts["missing"], 0.0, image)
        if self.name == "Downscale":
            rows, columns = (reduction_weights(n, self.parts["scale"]) for n in image.shape)
            return rows @ image @ columns.T
        scale = self.parts.get("scale", 1)
        return self._blurred(image)[::scale, ::scale]

    def adjoint(self, measured: Array) -> Array:
        """Return A' y."""
        if self.name in ("Identity", "Mask"):
            return self.apply(measured)
        if self.name == "Downscale":
            rows, columns = (reduction_weights(n, self.parts["scale"]) for n in self.shape)
            return rows.T @ measured @ columns
        scale, spread = self.parts.get("scale", 1), measured
        if scale > 1:
            spread = np.zeros(self.shape)
            spread[::scale, ::scale] = measured
        return self._spread(spread)

    def _blurred(self, image: Array) -> Array:
        kernel, border = self.parts["kernel"], self.parts["border"]
        full = convolve(image, kernel, mode=MODES[border])
        return full[_inside(image.shape, kernel)] if border == "valid" else full

    def _spread(self, measured: Array) -> Array:
        """Return the adjoint of the blur: each number goes back to the pixels it was made of."""
        kernel, border = self.parts["kernel"], self.parts["border"]
        if border == "periodic":
            return correlate(measured, kernel, mode="wrap")
        height, width = kernel.shape
        before = (height - 1 - height // 2, width - 1 - width // 2)
        if border == "valid":
            before = (0, 0)
        padded = np.zeros((measured.shape[0] + height - 1, measured.shape[1] + width - 1))
        for i in range(height):  # y_n has kernel_j of the padded pixel n + size - 1 - j
            for j in range(width):
                rows = slice(height - 1 - i, height - 1 - i + measured.shape[0])
                columns = slice(width - 1 - j, width - 1 - j + measured.shape[1])
                padded[rows, columns] += kernel[i, j] * measured
        if border == "valid":
            return padded
        folded = np.zeros(self.shape)
        down, across = (mirrored(np.arange(n) - b, m) for n, b, m in zip(padded.shape, before, self.shape, strict=True))
        np.add.at(folded, (down[:, None], across), padded)
        return folded


@dataclass(frozen=True)
class Measurement:
    """One plane y of an image, with noise of standard deviation sigma, and how it was made of the image sought."""

    y: Array
    sigma: float
    peak: float
    operator: SeenOperator
    plane: int = 0
    luminance: Array | None = None


def planes_of(image: Any, color: str) -> Array:
    """Return an image as planes of float64: one, or R, G and B, or luminance and two differences of color."""
    image = np.asarray(image, dtype=np.float64)
    planes = np.moveaxis(np.atleast_3d(image), 2, 0)
    return np.einsum("ij,jhw->ihw", OPPONENT, planes) if len(planes) == 3 and color == "opponent" else planes


def reduction_weights(n: int, scale: int) -> Array:
    """Return the weights of a bicubic reduction, a = -1/2, widened by the scale, borders mirrored, as a full matrix."""
    n_out = -(-n // scale)
    weights = np.zeros((n_out, n))
    for i in range(n_out):
        center = (i + 0.5) * scale - 0.5
        reached = np.arange(int(np.ceil(center - 2 * scale)), int(np.floor(center + 2 * scale)) + 1)
        t = np.abs(reached - center) / scale
        cubic = np.where(t <= 1, 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2)
        np.add.at(weights[i], mirrored(reached, n), cubic / cubic.sum())
    return weights


def mirrored(places: Array, n: int) -> Array:
    """Return places beyond a border as what they mirror, the border pixel itself repeated."""
    places = places % (2 * n)
    return np.where(places < n, places, 2 * n - 1 - places)


def _inside(shape: tuple[int, ...], kernel: Array) -> tuple[slice, ...]:
    """Return where a blurred image of this shape owes nothing to what is beyond its borders."""
    starts = [k - 1 - k // 2 for k in kernel.shape]
    return tuple(slice(a, a + n - k + 1) for a, n, k in zip(starts, shape, kernel.shape, strict=True))
