"""Graph segmentation: regions that differ from each other by more than they vary inside (Felzenszwalb 2004)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.types import Array, Data
from pellucid.vision.detection.region_grouping.color_spaces import eight_bit
from pellucid.vision.detection.region_grouping.kernels import DIGITS, edge_weights, join_edges, sort_edges

BLUR = (6, 58, 128, 58, 6)
"""A Gaussian of 0.8 pixels in 256ths. Whole numbers make the regions the same on every machine."""
SHARE = 8
"""Smoothed colors are rounded to eighths of a gray level."""
MOST_PIXELS = 1 << 28
"""More pixels would not fit the numbers of pairs."""


def graph_segmentation(image: Data, scale: float = 300.0, *, min_size: int = 100) -> Array:
    r"""Return the number of the region of each pixel, from 0, in the order of the regions' first pixels.

    Pairs of neighbors among eight, in order of the distance of their smoothed colors, join their regions if no region
    has anything against it: the distance is at most

    .. math:: \mathrm{Int}(C) + \frac{\text{scale}}{|C|}

    for both, with Int the largest distance that joined the region so far. Pairs of equal distance come pixel by pixel,
    right, down, down right, down left. Then regions of fewer than ``min_size`` pixels are joined, in the same order.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        In 8 bits, or floats from 0 to 1.
    scale : float, default=300.0
        Above 0: the larger, the larger are regions.
    min_size : int, default=100
        Least number of pixels of a region.

    Examples
    --------
    >>> image = np.zeros((4, 8), np.uint8)
    >>> image[:, 4:] = 200
    >>> graph_segmentation(image, min_size=5)[0]
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """
    check_positive(scale=scale)
    check_whole(1, min_size=min_size)
    return SortedEdges.of(smoothed(eight_bit(image))).regions(scale, min_size)


def smoothed(planes: Array) -> Array:
    """Return planes (height, width, channels) of 8 bits, blurred, in eighths of a gray level; borders are repeated."""
    total = planes.astype(np.int32)
    for axis in (0, 1):
        n = total.shape[axis]
        places = np.clip(np.arange(-2, n + 2), 0, n - 1)
        padded = np.take(total, places, axis=axis)
        parts = [weight * np.take(padded, range(k, k + n), axis=axis) for k, weight in enumerate(BLUR)]
        total = np.sum(parts, axis=0, dtype=np.int32)
    unit = 256 * 256 // SHARE
    return np.ascontiguousarray((total + unit // 2) // unit)


@dataclass(frozen=True)
class SortedEdges:
    """The pairs of neighbors of an image in order of their squared distances, in 64ths."""

    shape: tuple[int, int]
    codes: Array
    weights: Array

    @classmethod
    def of(cls, image: Array) -> SortedEdges:
        """Return the pairs of an image of whole numbers."""
        height, width, _ = image.shape
        if height * width > MOST_PIXELS:
            raise ValueError(f"image must have at most {MOST_PIXELS:,} pixels, got {height * width:,}. Reduce it.")
        codes, weights = (np.empty(4 * height * width, np.int32) for _ in range(2))
        n = edge_weights(image, codes, weights)
        codes, weights = codes[:n], weights[:n]
        counts = np.zeros((1 << DIGITS) + 1, np.int64)
        sort_edges(codes, weights, np.empty_like(codes), np.empty_like(weights), counts)
        return cls((height, width), codes, weights)

    def regions(self, scale: float, min_size: int) -> Array:
        """Return the number of the region of each pixel."""
        n = self.shape[0] * self.shape[1]
        parent, size, labels = (np.empty(n, np.int32) for _ in range(3))
        join_edges(
            self.codes,
            self.weights,
            self.shape[1],
            1.0 / SHARE,
            float(scale),
            min_size,
            parent,
            size,
            np.empty(n),
            labels,
        )
        return labels.reshape(self.shape)
