"""Anchors: boxes of some sizes and shapes at every place of a feature map, which a detector moves and grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.types import Array


@dataclass(frozen=True)
class AnchorGrid:
    """Anchors of a detector with feature maps of several levels (Ren 2015).

    Parameters
    ----------
    sizes : tuple of tuples of numbers
        For each level the square roots of the anchors' areas, in pixels of the image.
    ratios : tuple of tuples of numbers, or tuple of numbers for all levels
        Heights of the anchors divided by their widths.

    Examples
    --------
    >>> grid = AnchorGrid(sizes=((32,),), ratios=(0.5, 1.0))
    >>> grid.base()[0]
    array([[-23., -11.,  23.,  11.],
           [-16., -16.,  16.,  16.]], dtype=float32)
    >>> grid.at([(2, 3)], (64, 96))[0].shape
    (12, 4)
    """

    sizes: tuple[tuple[float, ...], ...]
    ratios: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        sizes = tuple(map(tuple, self.sizes))
        is_for_all = not any(isinstance(one, (tuple, list)) for one in self.ratios)
        ratios = (tuple(self.ratios),) * len(sizes) if is_for_all else tuple(map(tuple, self.ratios))
        if len(ratios) != len(sizes):
            raise ValueError(f"ratios must be given for each of {len(sizes)} levels of sizes, got {len(ratios)}.")
        for name, values in (("sizes", sizes), ("ratios", ratios)):
            for value in chain.from_iterable(values):
                check_positive("", **{name: value})
            object.__setattr__(self, name, values)

    @property
    def per_place(self) -> tuple[int, ...]:
        """How many anchors stand at each place, level by level."""
        return tuple(len(sizes) * len(ratios) for sizes, ratios in zip(self.sizes, self.ratios, strict=True))

    def base(self) -> list[Array]:
        """Return for each level the anchors around the origin, rounded to whole pixels: all sizes of a ratio first."""
        found = []
        for sizes, ratios in zip(self.sizes, self.ratios, strict=True):
            # single precision all the way, so that halves are rounded as torchvision rounds them
            stretch = np.sqrt(np.asarray(ratios, dtype=np.float32))
            size = np.asarray(sizes, dtype=np.float32)
            width = ((np.float32(1.0) / stretch)[:, None] * size).ravel()
            height = (stretch[:, None] * size).ravel()
            found.append(np.round(np.stack([-width, -height, width, height], axis=1) / np.float32(2.0)))
        return found

    def at(self, map_shapes: Sequence[tuple[int, int]], image_shape: tuple[int, int]) -> list[Array]:
        """Return for each level the anchors at every place: rows first, then columns, then the anchors of a place.

        ``map_shapes`` are heights and widths of the feature maps; a place is ``image // map`` pixels from the next.
        """
        if len(map_shapes) != len(self.sizes):
            raise ValueError(f"map_shapes must be one for each of {len(self.sizes)} levels, got {len(map_shapes)}.")
        found = []
        for base, (rows, columns) in zip(self.base(), map_shapes, strict=True):
            check_whole(map_shapes=rows)
            check_whole(map_shapes=columns)
            down = np.arange(rows) * (int(image_shape[0]) // int(rows))
            right = np.arange(columns) * (int(image_shape[1]) // int(columns))
            places = np.stack([*_everywhere(right, down)] * 2, axis=1).astype(np.float32)
            found.append((places[:, None, :] + base[None, :, :]).reshape(-1, 4))
        return found


def default_boxes(
    ratios: Sequence[Sequence[float]],
    map_shapes: Sequence[tuple[int, int]],
    image_shape: tuple[int, int],
    *,
    scales: Sequence[float] | None = None,
    steps: Sequence[int] | None = None,
    clip: bool = True,
) -> list[Array]:
    r"""Return the default boxes of SSD for each feature map (Liu 2016): two squares, and two boxes for every ratio.

    Parameters
    ----------
    ratios : sequence of sequences of numbers
        For each map the ratios :math:`a` beside 1; boxes are :math:`s\sqrt{a} \times s/\sqrt{a}` and the same on end.
    map_shapes, image_shape : (height, width) of each map, and of the image
        How many places each map has, and how many pixels they share.
    scales : sequence of numbers, default=None
        Sizes :math:`s` as shares of the image, one more than there are maps: the second square of a map is of the
        geometric mean of its scale and the next. By default 0.15 to 0.9 in equal steps, and 1.
    steps : sequence of numbers, default=None
        Pixels between two places of each map; by default a map covers the image evenly.
    clip : bool, default=True
        Whether no box is larger than the image.

    Examples
    --------
    >>> default_boxes([[2]], [(1, 1)], (100, 100), scales=[0.5, 0.72])[0].round(1)
    array([[25. , 25. , 75. , 75. ],
           [20. , 20. , 80. , 80. ],
           [14.6, 32.3, 85.4, 67.7],
           [32.3, 14.6, 67.7, 85.4]], dtype=float32)
    """
    n_maps = len(ratios)
    if scales is None:
        scales = [0.15 + 0.75 * k / max(n_maps - 1.0, 1.0) for k in range(n_maps)]
        scales = [*scales, 1.0] if n_maps > 1 else [0.15, 0.9]
    for name, given, wanted in (("map_shapes", map_shapes, n_maps), ("scales", scales, n_maps + 1)):
        if len(given) != wanted:
            raise ValueError(f"{name} must be {wanted} for {n_maps} maps of ratios, got {len(given)}.")
    if steps is not None and len(steps) != n_maps:
        raise ValueError(f"steps must be {n_maps}, one for each map of ratios, got {len(steps)}.")
    found = []
    size = np.array([image_shape[1], image_shape[0]], dtype=np.float32)
    for k, ((rows, columns), pair) in enumerate(zip(map_shapes, pairwise(scales), strict=True)):
        wide = columns if steps is None else image_shape[1] / steps[k]
        high = rows if steps is None else image_shape[0] / steps[k]
        right = (np.arange(columns, dtype=np.float32) + np.float32(0.5)) / np.float32(wide)
        down = (np.arange(rows, dtype=np.float32) + np.float32(0.5)) / np.float32(high)
        shapes = np.asarray(_shapes(ratios[k], *pair), dtype=np.float32)
        shapes = shapes.clip(0.0, 1.0) if clip else shapes
        centers = np.stack(_everywhere(right, down), axis=1)[:, None, :]  # (places, 1, 2)
        half = np.float32(0.5) * shapes[None, :, :]  # (1, shapes, 2)
        found.append(np.concatenate([(centers - half) * size, (centers + half) * size], axis=2).reshape(-1, 4))
    return found


def _shapes(ratios: Sequence[float], scale: float, next_scale: float) -> list[tuple[float, float]]:
    """Return widths and heights of the default boxes of one place, as shares of the image."""
    between = math.sqrt(scale * next_scale)
    found = [(scale, scale), (between, between)]
    for ratio in ratios:
        long, short = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
        found += [(long, short), (short, long)]
    return found


def _everywhere(right: Array, down: Array) -> tuple[Array, Array]:
    """Return x and y of all places of a map, row by row."""
    y, x = np.meshgrid(down, right, indexing="ij")
    return x.ravel(), y.ravel()
