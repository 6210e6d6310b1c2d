"""Masks as annotation files write them: outlines as polygons, and lengths of runs, as numbers or packed in a text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.core.types import Array

FIRST_SIGN = 48
"""The code of "0", the text's sign for zero."""
BITS = 5
"""Of a number in each sign of a packed text; the bit above them says that more follow."""


def mask_of(written: Any, height: int, width: int) -> Array:
    """Return the mask that COCO's ``segmentation`` writes; raise ValueError where it is none of an image of this size.

    Parameters
    ----------
    written : list of polygons, or mapping with ``size`` and ``counts``
        A polygon lists x and y in turn; a mask is the union of its polygons. Counts are lengths of runs, down the
        columns, outside first: a list of numbers, or the text that packs them.
    height, width : int

    Examples
    --------
    >>> mask_of([[0, 0, 2, 0, 2, 1, 0, 1]], 2, 3).astype(int).tolist()
    [[1, 1, 0], [0, 0, 0]]
    >>> mask_of({"size": [2, 2], "counts": [1, 3]}, 2, 2).astype(int).tolist()
    [[0, 1], [1, 1]]
    """
    if isinstance(written, Mapping):
        if list(written.get("size") or ()) != [height, width]:
            raise ValueError(f"its mask is of size {written.get('size')} where the image has {[height, width]}")
        counts = written.get("counts")
        return _mask_of_runs(_unpacked(counts) if isinstance(counts, str) else counts, height, width)
    if not isinstance(written, list) or not written:
        raise ValueError("its mask is neither a list of polygons nor lengths of runs")
    return np.logical_or.reduce([_inside(_corners(polygon), height, width) for polygon in written])


def _corners(polygon: Any) -> Array:
    try:
        found = np.array(polygon, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or found.size < 6 or found.size % 2 or not np.isfinite(found).all():
        raise ValueError("a polygon of its mask is not a list of x and y of three corners or more")
    return found.reshape(-1, 2)


def _inside(corners: Array, height: int, width: int) -> Array:
    """Return which pixels have their middle inside: a way from the left border to it crosses an odd number of sides."""
    crossed = np.zeros((height, width + 1), dtype=np.int64)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        low, high = sorted((y1, y2))
        first, last = (int(np.clip(math.ceil(y - 0.5), 0, height)) for y in (low, high))
        rows = np.arange(first, last)
        if not rows.size:
            continue
        x = x1 + (rows + 0.5 - y1) * ((x2 - x1) / (y2 - y1))
        np.add.at(crossed, (rows, np.clip(np.ceil(x - 0.5), 0, width).astype(np.int64)), 1)
    return np.asarray(crossed.cumsum(axis=1)[:, :width] % 2 == 1)


def _mask_of_runs(counts: Any, height: int, width: int) -> Array:
    is_list = isinstance(counts, Sequence) and all(type(n) is int and n >= 0 for n in counts)
    if not is_list or sum(counts) != height * width:
        raise ValueError(f"the runs of its mask do not add up to {height} x {width} pixels")
    is_inside = np.arange(len(counts)) % 2 == 1
    return np.repeat(is_inside, counts).reshape((height, width), order="F")


def _unpacked(text: str) -> list[int]:
    """Return the lengths in a packed text: from the third on, each is written as its difference to the one before last.

    A number is written in pieces of five bits, the lowest first; the highest bit of the last piece is its sign.
    """
    counts: list[int] = []
    value, shift = 0, 0
    for piece in (ord(sign) - FIRST_SIGN for sign in text):
        if not 0 <= piece < 1 << (BITS + 1):
            raise ValueError("the runs of its mask are packed in signs that are not COCO's")
        value |= (piece & 31) << shift
        shift += BITS
        if piece & 32:
            continue
        if piece & 16:
            value -= 1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
        value, shift = 0, 0
    return counts


def run_lengths(mask: Array) -> list[int]:
    """Return the lengths of runs of pixels outside and inside in turn, column by column, as COCO counts them.

    Examples
    --------
    >>> run_lengths(np.array([[False, True], [True, True]]))
    [1, 3]
    """
    flat = np.concatenate([[False], mask.ravel(order="F")])  # the first run is of pixels outside, and may be empty
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    return [int(n) for n in np.diff([0, *changes, mask.size])]
