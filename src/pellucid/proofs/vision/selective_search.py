r"""Proof of selective search: segmentations and steps of grouping made again from the pixels, boxes put in order again.

All that decides is whole numbers, up to the square root of a distance and the shares of histograms. A segmentation is
made again by going through all pairs of neighbors, a step is right if no pair of neighbors was more similar.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import at_most_wrong, drawn, is_fitting

SIMILARITIES = ("color", "texture", "size", "fill")
MODES: dict[str, tuple[tuple[str, ...], tuple[float, ...], tuple[tuple[str, ...], ...]]] = {
    "fast": (("hsv", "lab", "gray"), (150.0, 300.0), (SIMILARITIES, SIMILARITIES[1:])),
    "quality": (
        ("hsv", "lab", "gray", "normalized rgb"),
        (50.0, 150.0, 300.0),
        (SIMILARITIES, SIMILARITIES[1:]),
    ),
}
NEIGHBORS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Rows and columns from a pixel to the second of a pair, in the order in which equal pairs come."""
KERNEL = (6, 58, 128, 58, 6)
ROUNDING = 1e-9
"""How far apart two similarities are that count as equal: sums of a few hundred numbers below 1."""
FEW_PIXELS = 1 << 14
"""A fit makes segmentations of so many pixels again; of larger images only verify does."""

Grouping = tuple[str, float, tuple[str, ...], Array, Array, Array]
"""Color space, scale, similarities, labels, merges, values."""


def prove_proposals(
    image: Array, boxes: Array, levels: Array, hierarchies: Sequence[Grouping], mode: str, min_size: int
) -> Certificate:
    """Prove that boxes are those of all regions, in order, and that regions came to be by the stated rules."""
    wrong = _misshapen(image, boxes, levels, hierarchies, mode)
    if wrong:
        return Certificate("replayed", (Claim("shape", wrong, 1.0, 0.0, "Search again."),))
    claims = [_boxes_in_order(boxes, levels, hierarchies), _steps(image, hierarchies)]
    if not is_fitting() or image.shape[0] * image.shape[1] <= FEW_PIXELS:
        claims.append(_segmentations(image, hierarchies, min_size))
    return Certificate("replayed", tuple(claims))


def _misshapen(image: Array, boxes: Array, levels: Array, hierarchies: Sequence[Grouping], mode: str) -> str:
    """Return what is not of the shape that the mode gives, or nothing."""
    if mode not in MODES:
        return "the mode is unknown"
    spaces, scales, similarities = MODES[mode]
    if image.shape[2] == 1:
        spaces = ("gray",)
    asked = [(space, scale, tuple(names)) for space in spaces for scale in scales for names in similarities]
    if [(space, scale, tuple(names)) for space, scale, names, *_ in hierarchies] != asked:
        return "the hierarchies are not those of the mode"
    if boxes.shape != (len(levels), 4) or not all(array.dtype.kind in "iu" for array in (boxes, levels)):
        return "boxes and levels are not whole numbers, four and one for each box"
    for *_, labels, merges, values in hierarchies:
        n = len(merges) + 1
        if labels.shape != image.shape[:2] or merges.shape != (n - 1, 2) or values.shape != (n - 1,):
            return "labels, merges or values have not the shape that they should have"
        if not all(array.dtype.kind in "iu" for array in (labels, merges)) or not np.isfinite(values).all():
            return "labels and merges are not whole numbers, or values not finite"
        if not np.array_equal(np.unique(labels), np.arange(n)):
            return "labels do not count the regions from 0"
        if sorted(merges.ravel().tolist()) != list(range(2 * n - 2)):
            return "not every region becomes part of another one exactly once"
        if n > 1 and ((merges[:, 1] >= n + np.arange(n - 1)) | (merges[:, 0] >= merges[:, 1])).any():
            return "a step takes a region that is not there yet, or the higher number first"
    return ""


def _boxes_in_order(boxes: Array, levels: Array, hierarchies: Sequence[Grouping]) -> Claim:
    """Return the claim that the boxes are those of all regions, each once, in the stated order."""
    everything, their_levels = list[tuple[int, ...]](), list[int]()
    for *_, labels, merges, _values in hierarchies:
        n = len(merges) + 1
        of_all = _region_boxes(labels, n)
        for a, b in merges.tolist():
            of_all.append(_around(of_all[a], of_all[b]))
        everything += of_all
        their_levels += [min(n, 2 * n - 1 - number) for number in range(2 * n - 1)]
    seen: set[tuple[int, ...]] = set()
    first, late = list[tuple[tuple[int, ...], int]](), list[tuple[tuple[int, ...], int]]()
    corners = np.empty((len(everything), 4), np.int64)
    for place in np.argsort(their_levels, kind="stable"):
        box, level = everything[place], their_levels[place]
        if box in seen:
            continue
        seen.add(box)
        if _overlaps_any(np.array(box), corners[: len(first)]):
            late.append((box, level))
        else:
            corners[len(first)] = box
            first.append((box, level))
    expected = first + late
    statement = f"of {len(expected)} boxes, those that do not stand where the order puts them"
    found = [(tuple(box), level) for box, level in zip(boxes.tolist(), levels.tolist(), strict=True)]
    wrong = abs(len(found) - len(expected)) + sum(a != b for a, b in zip(found, expected, strict=False))
    return Claim("boxes", statement, float(wrong), 0.0, "Search again.")


def _overlaps_any(box: Array, others: Array) -> bool:
    """Return whether a box overlaps one of others by more than seven tenths."""
    width = np.minimum(others[:, 2], box[2]) - np.maximum(others[:, 0], box[0])
    height = np.minimum(others[:, 3], box[3]) - np.maximum(others[:, 1], box[1])
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    whole = areas + (box[2] - box[0]) * (box[3] - box[1]) - shared
    return bool((10 * shared > 7 * whole).any())


def _region_boxes(labels: Array, n: int) -> list[tuple[int, ...]]:
    """Return the box (x1, y1, x2, y2) of each region."""
    rows, columns = np.indices(labels.shape)
    ends = []
    for places in (columns, rows):
        low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
        np.minimum.at(low, labels.ravel(), places.ravel())
        np.maximum.at(high, labels.ravel(), places.ravel())
        ends += [low, high + 1]
    x1, x2, y1, y2 = ends
    return [tuple(box) for box in np.stack([x1, y1, x2, y2], axis=1).tolist()]


def _around(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Return the box around two boxes."""
    return (*map(min, one[:2], other[:2]), *map(max, one[2:], other[2:]))


def _steps(image: Array, hierarchies: Sequence[Grouping]) -> Claim:
    """Return the claim that no step left neighbors that were more similar; a fit looks at one hierarchy."""
    looked_at = drawn(len(hierarchies), 1 if is_fitting() else len(hierarchies))
    n_steps, wrong = 0, 0
    for number in looked_at:
        space, _, names, labels, merges, values = hierarchies[number]
        n_steps += len(merges)
        wrong += _wrong_steps(_planes_of(image, space), names, labels, merges, values)
    everything = sum(len(grouping[4]) for grouping in hierarchies)
    sample = at_most_wrong(n_steps, everything)
    which = f"of {n_steps} of {everything} steps of grouping"
    statement = f"{which}, those that left neighbors which were more similar, by more than {ROUNDING:g}{sample}"
    return Claim("steps", statement, float(wrong), 0.0, "Search again.")


def _wrong_steps(planes: Array, names: tuple[str, ...], labels: Array, merges: Array, values: Array) -> int:
    """Return how many steps joined regions that are no neighbors or not the most similar, or are wrong about that."""
    regions = _Regions(planes, names, labels, len(merges) + 1)
    similar: dict[tuple[int, int], float] = {pair: regions.similarity(*pair) for pair in regions.neighbors}
    wrong = 0
    for (a, b), value in zip(merges.tolist(), values.tolist(), strict=True):
        here = similar.get((a, b), -math.inf)
        wrong += not (here >= max(similar.values()) - ROUNDING and abs(here - value) <= ROUNDING)
        new = regions.join(a, b)
        touching = [pair for pair in similar if a in pair or b in pair]
        others = {one for pair in touching for one in pair} - {a, b}
        for pair in touching:
            del similar[pair]
        similar |= {(other, new): regions.similarity(other, new) for other in others}
    return wrong


class _Regions:
    """Sizes, boxes, histograms and neighbors of regions, counted from the pixels; steps add theirs."""

    def __init__(self, planes: Array, names: tuple[str, ...], labels: Array, n: int) -> None:
        self.names, self.n_pixels = names, labels.size
        self.sizes: list[int] = np.bincount(labels.ravel(), minlength=n).tolist()
        self.boxes = _region_boxes(labels, n)
        colors = planes.reshape(labels.size, -1).astype(np.int64) * 25 // 256
        self.colors = [*_histograms(labels, colors, 25, n)]
        self.textures = [*_histograms(labels, _slopes(planes), 10, n)]
        across, down = labels[:, :-1] != labels[:, 1:], labels[:-1] != labels[1:]
        first = np.concatenate([labels[:, :-1][across], labels[:-1][down]]).tolist()
        second = np.concatenate([labels[:, 1:][across], labels[1:][down]]).tolist()
        self.neighbors = {(min(pair), max(pair)) for pair in zip(first, second, strict=True)}

    def join(self, a: int, b: int) -> int:
        """Add the region that two others make, and return its number."""
        self.sizes.append(self.sizes[a] + self.sizes[b])
        self.boxes.append(_around(self.boxes[a], self.boxes[b]))
        self.colors.append(self.colors[a] + self.colors[b])
        self.textures.append(self.textures[a] + self.textures[b])
        return len(self.sizes) - 1

    def similarity(self, a: int, b: int) -> float:
        """Return how similar two regions are."""
        both = self.sizes[a] + self.sizes[b]
        x1, y1, x2, y2 = _around(self.boxes[a], self.boxes[b])
        box = (x2 - x1) * (y2 - y1)
        found = []
        for name in self.names:
            if name == "color":
                found.append(_shared(self.colors[a], self.colors[b]))
            elif name == "texture":
                found.append(_shared(self.textures[a], self.textures[b]))
            else:
                found.append(1.0 - (both if name == "size" else box - both) / self.n_pixels)
        return sum(found) / len(found)


def _shared(one: Array, other: Array) -> float:
    """Return the part that two histograms have in common, each divided by its sum."""
    return float(np.minimum(one / one.sum(), other / other.sum()).sum())


def _histograms(labels: Array, bins: Array, n_bins: int, n: int) -> Array:
    """Return for each region how many pixels fall into each bin of each column."""
    width = bins.shape[1] * n_bins
    places = labels.reshape(-1, 1) * width + np.arange(bins.shape[1]) * n_bins + bins
    return np.bincount(places.ravel(), minlength=n * width).reshape(n, width)


def _slopes(planes: Array) -> Array:
    """Return the bins of the slopes along eight directions, channel by channel."""
    height, width, n_channels = planes.shape
    rows, columns = (np.clip(np.arange(-1, n + 1), 0, n - 1) for n in (height, width))
    found = []
    for c in range(n_channels):
        around = planes[:, :, c].astype(np.int64)[rows][:, columns]
        x, y = (
            sum(weight * (line[k : k + n, 2:] - line[k : k + n, :-2]) for k, weight in enumerate((3, 10, 3)))
            for line, n in ((around, height), (around.T, width))
        )
        x, y = np.asarray(x), np.asarray(y).T
        for slope in (x, -x, y, -y, x + y, -x - y, x - y, y - x):
            upwards = np.where(slope > 0, slope, 0)
            found.append((10 * upwards // (1 + upwards.max())).ravel())
    return np.stack(found, axis=1)


def _segmentations(image: Array, hierarchies: Sequence[Grouping], min_size: int) -> Claim:
    """Return the claim about a segmentation, drawn at random, that its regions are those of the rule."""
    kinds = {(space, scale): labels for space, scale, _, labels, *_ in hierarchies}
    same = sum(not np.array_equal(labels, kinds[space, scale]) for space, scale, _, labels, *_ in hierarchies)
    looked_at = drawn(len(kinds), len(kinds) if image.shape[0] * image.shape[1] <= FEW_PIXELS else 1)
    wrong = same
    for (space, scale), labels in [list(kinds.items())[place] for place in looked_at]:
        wrong += int(np.count_nonzero(labels != _segmented(_planes_of(image, space), scale, min_size)))
    which = f"{len(looked_at)} of {len(kinds)} segmentations, drawn at random"
    statement = f"pixels of {which}, that are not in the region that the rule puts them into"
    return Claim("segmentation", statement, float(wrong), 0.0, "Search again.")


def _segmented(planes: Array, scale: float, min_size: int) -> Array:
    """Return the regions by the rule, pair by pair."""
    height, width = planes.shape[:2]
    places = np.arange(height * width).reshape(height, width)
    smooth = _smoothed(planes)
    weights, firsts, seconds, directions = [], [], [], []
    for number, (down, right) in enumerate(NEIGHBORS):
        here = (slice(0, height - down), slice(max(-right, 0), width - max(right, 0)))
        there = (slice(down, height), slice(max(right, 0), width + min(right, 0)))
        weights.append(((smooth[here] - smooth[there]) ** 2).sum(axis=2).ravel())
        firsts.append(places[here].ravel())
        seconds.append(places[there].ravel())
        directions.append(np.full(firsts[-1].size, number))
    weight, first, second, direction = map(np.concatenate, (weights, firsts, seconds, directions))
    order = np.lexsort((direction, first, weight))
    pairs = list(zip(first[order].tolist(), second[order].tolist(), weight[order].tolist(), strict=True))
    regions = _Joined(height * width, scale)
    for a, b, squared in pairs:
        regions.join_if_alike(a, b, math.sqrt(squared) / 8)
    for a, b, _ in pairs:
        regions.join_if_small(a, b, min_size)
    roots = [regions.root(i) for i in range(height * width)]
    _, first_pixel, numbers = np.unique(roots, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first_pixel))[numbers].reshape(height, width)


class _Joined:
    """Regions that grow: for each its size and the heaviest pair that it allows."""

    def __init__(self, n: int, scale: float) -> None:
        self.parent, self.size, self.limit, self.scale = list(range(n)), [1] * n, [scale] * n, scale

    def root(self, i: int) -> int:
        """Return the pixel that stands for a region."""
        parent = self.parent
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    def join_if_alike(self, a: int, b: int, weight: float) -> None:
        """Join two regions if both allow the weight."""
        a, b = self.root(a), self.root(b)
        if a != b and weight <= self.limit[a] and weight <= self.limit[b]:
            self.parent[b] = a
            self.size[a] += self.size[b]
            self.limit[a] = weight + self.scale / self.size[a]

    def join_if_small(self, a: int, b: int, least: int) -> None:
        """Join two regions if one is too small."""
        a, b = self.root(a), self.root(b)
        if a != b and min(self.size[a], self.size[b]) < least:
            self.parent[b] = a
            self.size[a] += self.size[b]


def _smoothed(planes: Array) -> Array:
    """Return planes blurred by the kernel down and across, in eighths of a gray level."""
    total = planes.astype(np.int64)
    for axis in (0, 1):
        n = total.shape[axis]
        steps = [np.clip(np.arange(n) + k, 0, n - 1) for k in (-2, -1, 0, 1, 2)]
        total = np.sum([w * np.take(total, at, axis=axis) for w, at in zip(KERNEL, steps, strict=True)], axis=0)
    return np.asarray((total + 4096) // 8192)


def _planes_of(image: Array, space: str) -> Array:
    """Return the planes of a color space in 8 bits; a gray image is its own."""
    if image.shape[2] == 1:
        return image
    r, g, b = (image[:, :, c].astype(np.int64) for c in range(3))
    if space == "gray":
        return _nearest(299 * r + 587 * g + 114 * b, 1000)[:, :, None]
    if space == "normalized rgb":
        total = r + g + b
        whole = np.where(total > 0, total, 1)
        return np.stack([_nearest(255 * r, whole), _nearest(255 * g, whole), _nearest(total, 3)], axis=2)
    if space == "lab":
        return _lab(image)
    top = image.max(axis=2).astype(np.int64)
    spread = top - image.min(axis=2)
    sixths = np.where(top == b, 4 * spread + r - g, 0)
    sixths = np.where(top == g, 2 * spread + b - r, sixths)
    sixths = np.where(top == r, (g - b) % np.where(spread > 0, 6 * spread, 1), sixths)
    hue = _nearest(255 * sixths, np.where(spread > 0, 6 * spread, 1))
    return np.stack([hue, _nearest(255 * spread, np.where(top > 0, top, 1)), top], axis=2)


def _lab(image: Array) -> Array:
    """Return the CIE's lightness and its two differences, from light in 65535ths."""
    share = np.arange(256) / 255
    light = np.rint(65535 * np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4))
    level = np.arange(65536) / 65535
    linear_part = (level * 24389 / 27 + 16) / 116
    root = np.rint(65535 * np.where(level <= 216 / 24389, linear_part, level ** (1 / 3))).astype(np.int64)
    r, g, b = (light.astype(np.int64)[image[:, :, c]] for c in range(3))
    x = root[(1777 * r + 1541 * g + 778 * b + 2048) // 4096]
    y = root[(871 * r + 2929 * g + 296 * b + 2048) // 4096]
    z = root[(73 * r + 448 * g + 3575 * b + 2048) // 4096]
    lightness = _nearest(255 * (116 * y - 16 * 65535), 100 * 65535)
    found = [lightness, 128 + _nearest(500 * (x - y), 65535), 128 + _nearest(200 * (y - z), 65535)]
    return np.clip(np.stack(found, axis=2), 0, 255)


def _nearest(above: Array, below: Array | int) -> Array:
    """Return the nearest whole number to a quotient, the upper one of two."""
    return np.asarray((2 * above + below) // (2 * below))
