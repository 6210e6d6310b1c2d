"""Label maps: a label for each pixel, as whole numbers or texts; their classes, their codes, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.types import Array, Data

IGNORED = -1
"""The code of a pixel that does not count."""

MOST_SAID = 8
"""Faults that a message lists; it counts the rest."""


def refuse(faults: Sequence[str], rule: str, advice: str) -> None:
    """Raise one error that lists all faults, if there are any."""
    if faults:
        more = f"; and {len(faults) - MOST_SAID} more" if len(faults) > MOST_SAID else ""
        raise ValueError(f"{rule}, got {'; '.join(faults[:MOST_SAID])}{more}. {advice}")


def as_label_maps(maps: Data, name: str = "label_maps") -> list[Array]:
    """Return label maps as a list of arrays (height, width); one array (n, height, width) is several maps."""
    if isinstance(maps, np.ndarray) and maps.ndim == 2 and maps.dtype != object:
        raise ValueError(f"{name} must be several maps, got one of shape {maps.shape}. Write [label_map].")
    found = [np.asarray(one) for one in maps]
    if not found:
        raise ValueError(f"{name} must hold at least one map, got none.")
    faults = [f"map {i} of shape {one.shape}" for i, one in enumerate(found) if one.ndim != 2 or one.size == 0]
    refuse(faults, f"{name} must be of shape (height, width)", "Give one label for each pixel.")
    faults = [f"map {i} of {one.dtype}" for i, one in enumerate(found) if one.dtype.kind not in "biuU"]
    refuse(faults, f"{name} must hold whole numbers or texts", "Use label_map.astype(int).")
    return found


def check_pairs(names: tuple[str, str], one: Sequence[Any], other: Sequence[Any]) -> None:
    """Refuse lists of unlike length, or pairs of unlike height and width: all of them in one sentence."""
    if len(one) != len(other):
        raise ValueError(f"{names[0]} and {names[1]} must be equally many, got {len(one)} and {len(other)}.")
    faults = [
        f"number {i} with {a.shape[:2]} and {b.shape[:2]}"
        for i, (a, b) in enumerate(zip(one, other, strict=True))
        if a.shape[:2] != b.shape[:2]
    ]
    refuse(faults, f"{names[0]} and {names[1]} must be of one height and width", "Bring them in the same order.")


def labels_in(maps: Sequence[Array], ignore: Any = None) -> Array:
    """Return the labels that occur, sorted, without the one to ignore.

    Examples
    --------
    >>> labels_in([np.array([[3, 1]]), np.array([[255, 1]])], ignore=255)
    array([1, 3])
    """
    found = np.unique(np.concatenate([_distinct(one) for one in maps]))
    return found if ignore is None else found[found != ignore]


def _distinct(label_map: Array) -> Array:
    """Return the labels of one map; bytes are counted, which takes no sorting."""
    if label_map.dtype == np.uint8:
        return np.flatnonzero(np.bincount(label_map.ravel(), minlength=256)).astype(np.uint8)
    return np.unique(label_map)


def codes_of(maps: Sequence[Array], classes: Array, ignore: Any = None, name: str = "label_maps") -> list[Array]:
    """Return each map as places of its labels in the sorted ``classes``, and ``IGNORED`` where they do not count.

    Examples
    --------
    >>> codes_of([np.array([[5, 2, 9]])], np.array([2, 5]), ignore=9)
    [array([[ 1,  0, -1]])]
    """
    found, faults = [], []
    for i, one in enumerate(maps):
        labels, places = np.unique(one, return_inverse=True) if one.dtype != np.uint8 else (np.arange(256), one)
        codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        codes = np.where(classes[codes] == labels, codes, IGNORED - 1)
        if ignore is not None:
            codes = np.where(labels == ignore, IGNORED, codes)
        found.append(codes.astype(np.int64)[places].reshape(one.shape))
        if found[-1].min() < IGNORED:
            unknown = np.unique(one[found[-1] < IGNORED]).tolist()
            faults.append(f"{unknown[:5]} in map {i}")
    known = classes.tolist() if len(classes) <= 20 else f"{len(classes)} labels"
    hint = "" if ignore is None else f", or {ignore!r} to ignore"
    refuse(faults, f"{name} must hold {known}{hint}", "Leave pixels out by the label to ignore.")
    return found
