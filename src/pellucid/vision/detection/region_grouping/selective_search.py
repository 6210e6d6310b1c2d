"""Selective search: boxes around regions, and around groups of the most similar of them (Uijlings 2013)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.core.checks import check_one_of, check_whole
from pellucid.core.random_state import generator
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.sampling import drawing
from pellucid.proofs.vision.selective_search import prove_proposals
from pellucid.vision.detection.region_grouping.color_spaces import COLOR_SPACES, eight_bit
from pellucid.vision.detection.region_grouping.graph_segmentation import SortedEdges, smoothed
from pellucid.vision.detection.region_grouping.kernels import group, mark_repeats
from pellucid.vision.detection.region_grouping.region_features import Regions, color_bins, texture_bins

SIMILARITIES = ("color", "texture", "size", "fill")
REPEATED = (7, 10)
"""A box that overlaps an earlier one by more than this quotient comes after all that do not."""


@dataclass(frozen=True)
class Mode:
    """Which segmentations are grouped, and by which similarities: each combination is a hierarchy of its own."""

    spaces: tuple[str, ...]
    scales: tuple[float, ...]
    similarities: tuple[tuple[str, ...], ...]


MODES = {
    "fast": Mode(("hsv", "lab", "gray"), (150.0, 300.0), (SIMILARITIES, SIMILARITIES[1:])),
    "quality": Mode(("hsv", "lab", "gray", "normalized rgb"), (50.0, 150.0, 300.0), (SIMILARITIES, SIMILARITIES[1:])),
}


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """How one segmentation was grouped: at each step which two regions became the next, and how similar they were.

    The regions of the segmentation are numbered from 0, in ``labels``; those that the steps make are numbered on.
    """

    space: str
    scale: float
    similarities: tuple[str, ...]
    labels: Array
    merges: Array
    """Of shape (regions - 1, 2)."""
    values: Array

    def __repr__(self) -> str:
        by = "+".join(self.similarities)
        return f"Hierarchy({self.space}, scale {self.scale:g}, {len(self.merges) + 1} regions by {by})"


@dataclass(frozen=True, eq=False, repr=False)
class Proposals:
    """Boxes that may hold an object, the likelier ones first, and every step by which they were found."""

    boxes: Array
    """(x1, y1, x2, y2) in pixels, of shape (n, 4), no two equal."""
    levels: Array
    """Steps from the end at which the region of each box was made; 1 for the whole image."""
    hierarchies: tuple[Hierarchy, ...]
    """How each segmentation was grouped, step by step."""
    mode: str
    """Which segmentations were grouped: those of "fast", or the more of "quality"."""
    min_size: int
    """Least number of pixels of a region that was not grouped."""
    certificate: Certificate = field(default=Certificate("none", reason="not yet proved"))
    """The proof that every step was the best one, made when they were found."""

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        return f"Proposals({len(self)} boxes of {len(self.hierarchies)} hierarchies; {self.certificate.verdict})"


def selective_search(image: Data, mode: str = "fast", *, min_size: int = 100) -> Proposals:
    """Return boxes that may hold an object: those of regions, and of the regions that grow from them.

    In each color space and at each scale the image is cut into regions (:func:`graph_segmentation`). Of all pairs of
    neighbors the most similar one becomes a region, until one is left; of equally similar pairs the one with the lower
    numbers. Similar is what shares colors and textures, is small, and fills its box. Boxes of regions that were made
    late come first; equal levels in order of the hierarchies; and boxes that overlap an earlier one by more than seven
    tenths after all that do not.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        In 8 bits, or floats from 0 to 1; red, green, blue.
    mode : {"fast", "quality"}, default="fast"
        Twelve hierarchies, or twenty-four, some of them with smaller regions; of a gray image four, or six.
    min_size : int, default=100
        Least number of pixels of a region that is not grouped.

    Returns
    -------
    Proposals
        ``boxes``, and all steps; ``pellucid.verify(proposals, image)`` replays them.

    Examples
    --------
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[10:30, 20:45] = [200, 30, 60]
    >>> selective_search(image, min_size=200).boxes[:2]
    array([[ 0,  0, 60, 40],
           [20, 10, 45, 30]])
    """
    found, planes = _searched(image, mode, min_size)
    found = replace(found, certificate=_proof(found, planes))
    warn_unless_holds(found.certificate, "selective_search")
    return found


def proposed_boxes(image: Data, mode: str = "fast", *, min_size: int = 100) -> Array:
    """Return the boxes of ``selective_search`` without their proof, for who looks at thousands of images."""
    return _searched(image, mode, min_size)[0].boxes


def _searched(image: Data, mode: str, min_size: int) -> tuple[Proposals, Array]:
    """Return the boxes with all steps, and the image in bytes that they are about."""
    check_one_of(tuple(MODES), mode=mode)
    check_whole(1, min_size=min_size)
    planes = eight_bit(image)
    spaces = MODES[mode].spaces if planes.shape[2] == 3 else ("gray",)
    with own_threads():
        grouped = run_blocks(lambda space: _hierarchies(planes, space, MODES[mode], min_size), spaces)
    hierarchies, boxes = zip(*[pair for of_space in grouped for pair in of_space], strict=True)
    return Proposals(*_in_order(boxes), hierarchies, mode, min_size), planes


def verify_proposals(found: Proposals, image: Data, *, random_state: RandomState = None) -> Certificate:
    """Prove boxes once more, from the image; ``pellucid.verify`` calls this."""
    with drawing(generator(random_state)):
        return _proof(found, eight_bit(image))


def _proof(found: Proposals, planes: Array) -> Certificate:
    return prove_proposals(
        planes,
        found.boxes,
        found.levels,
        [(h.space, h.scale, h.similarities, h.labels, h.merges, h.values) for h in found.hierarchies],
        found.mode,
        found.min_size,
    )


def _hierarchies(image: Array, space: str, mode: Mode, min_size: int) -> list[tuple[Hierarchy, Array]]:
    """Return the hierarchies of a color space, and the boxes of all their regions."""
    planes = COLOR_SPACES[space](image) if image.shape[2] == 3 else image
    edges, colors, textures = SortedEdges.of(smoothed(planes)), color_bins(planes), texture_bins(planes)
    found = []
    for scale in mode.scales:
        labels = edges.regions(scale, min_size)
        regions = Regions.of(labels, colors, textures)
        for similarities in mode.similarities:
            merges, values, boxes = _grouped(regions, similarities, labels.size)
            found.append((Hierarchy(space, scale, similarities, labels, merges, values), boxes))
    return found


def _grouped(regions: Regions, similarities: tuple[str, ...], n_pixels: int) -> tuple[Array, Array, Array]:
    """Return the steps, how similar the regions of each were, and the boxes of all regions."""
    n = len(regions.sizes)
    colors, textures, sizes, boxes = (
        np.concatenate([known, np.zeros((n - 1, *known.shape[1:]), known.dtype)])
        for known in (regions.colors, regions.textures, regions.sizes, regions.boxes)
    )
    merges, values = np.empty((n - 1, 2), np.int32), np.empty(n - 1)
    used = np.array([name in similarities for name in SIMILARITIES])
    group(
        regions.pairs.copy(),
        np.empty(len(regions.pairs)),
        colors,
        textures,
        sizes,
        boxes,
        regions.columns,
        used,
        n_pixels,
        np.full(2 * n - 1, -1),
        merges,
        values,
    )
    return merges, values, boxes


def _in_order(boxes: tuple[Array, ...]) -> tuple[Array, Array]:
    """Return the boxes of all hierarchies, each once, and their levels, in the order of the proposals."""
    n_regions = [(len(one) + 1) // 2 for one in boxes]
    levels = np.concatenate([_levels(n) for n in n_regions])
    order = np.argsort(levels, kind="stable")
    everything, levels = np.concatenate(boxes)[order], levels[order]
    _, first = np.unique(everything, axis=0, return_index=True)
    first.sort()
    unique, levels = np.ascontiguousarray(everything[first]), levels[first]
    is_repeat = np.empty(len(unique), np.bool_)
    mark_repeats(unique, *REPEATED, np.empty(len(unique), np.int64), is_repeat)
    order = np.argsort(is_repeat, kind="stable")
    return unique[order], levels[order]


def _levels(n: int) -> Array:
    """Return the levels of the regions of a hierarchy: those of the segmentation come before the first step."""
    return np.concatenate([np.full(n, n), np.arange(n - 1, 0, -1)])
