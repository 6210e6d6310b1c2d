"""What regions look like: their sizes, boxes and neighbors, and histograms of their colors and textures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.vision.detection.region_grouping.kernels import count_bins, measure_regions

COLOR_BINS = 25
TEXTURE_BINS = 10
DIRECTIONS = 8


def color_bins(planes: Array) -> Array:
    """Return the bin of each channel of each pixel (pixels, channels)."""
    bins = planes.reshape(-1, planes.shape[2]).astype(np.int32) * COLOR_BINS // 256
    return np.ascontiguousarray(bins.astype(np.uint8))


def texture_bins(planes: Array) -> Array:
    """Return the bins of the slopes of each pixel along eight directions (pixels, 8 x channels).

    A slope is that of Scharr's 3 x 3 filter, along a diagonal the sum or difference of those along the axes. Slopes
    downwards are bin 0; the largest of the image along the direction is in the last bin.
    """
    bins = np.empty((*planes.shape[:2], planes.shape[2], DIRECTIONS), np.uint8)
    for c in range(planes.shape[2]):
        padded = np.pad(planes[:, :, c].astype(np.int32), 1, mode="edge")
        down, right = padded[2:] - padded[:-2], padded[:, 2:] - padded[:, :-2]
        y = 3 * down[:, :-2] + 10 * down[:, 1:-1] + 3 * down[:, 2:]
        x = 3 * right[:-2] + 10 * right[1:-1] + 3 * right[2:]
        for k, slope in enumerate((x, y, x + y, x - y)):
            for sign, direction in ((1, 2 * k), (-1, 2 * k + 1)):
                upwards = np.maximum(sign * slope, 0)
                bins[:, :, c, direction] = upwards * TEXTURE_BINS // (int(upwards.max()) + 1)
    return bins.reshape(planes.shape[0] * planes.shape[1], -1)


@dataclass(frozen=True)
class Regions:
    """Regions and what is known of them; histograms are counts of pixels, all channels side by side."""

    sizes: Array
    boxes: Array
    pairs: Array
    """Neighbors (first, second), the lower number first, in order."""
    colors: Array
    textures: Array
    columns: Array
    """How many histograms of colors, and of textures, stand side by side."""

    @classmethod
    def of(cls, labels: Array, colors: Array, textures: Array) -> Regions:
        """Return the regions of a segmentation; ``colors`` and ``textures`` are the bins of the pixels."""
        n = int(labels.max()) + 1
        sizes, boxes = np.zeros(n, np.int64), np.zeros((n, 4), np.int64)
        boxes[:, :2] = max(labels.shape)
        is_neighbor = np.zeros((n, n), np.bool_)
        measure_regions(labels, sizes, boxes, is_neighbor)
        return cls(
            sizes,
            boxes,
            np.argwhere(is_neighbor),
            _counts(labels, colors, COLOR_BINS, n),
            _counts(labels, textures, TEXTURE_BINS, n),
            np.array([colors.shape[1], textures.shape[1]]),
        )


def _counts(labels: Array, bins: Array, n_bins: int, n_regions: int) -> Array:
    counts = np.zeros((n_regions, bins.shape[1] * n_bins), np.int32)
    count_bins(labels.reshape(-1), bins, n_bins, counts)
    return counts
