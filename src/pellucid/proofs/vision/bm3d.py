r"""Proof of BM3D: parts of both stages are made again, block by block, with whole matrices instead of lifting steps.

Distances of blocks are whole numbers here as there, so that both find the same stacks; what remains is the rounding of
float32, and a coefficient that stands on the threshold to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.vision.measurement import Measurement

BLOCK = 8
TILE = 8
"""Rows and columns of a part that is made again: one of 8 x 8 pixels takes 300 stacks, a single pixel 240."""
PATCH = 39
"""Pixels along which the stacks are made at once: their distances to all blocks around take 10 megabytes."""
WHOLE = 1 << 18
"""Pixels of an image up to which ``verify`` makes all of it again."""
SAMPLE = 64
"""Tiles that it makes again of larger ones."""
TILES_AT_FIT = 1 << 17
"""A fit looks at one tile, and at one more for so many pixels: an eighth of its own work."""
VISIBLE = 2.0**17
UNEVEN = (3.0 - math.sqrt(5.0)) / 2.0
ROUNDED = 1e-4
"""Rounding of a mean of blocks, in units of the noise..."""
FLOAT32 = 2.0**-18
"""... and relative to the range of the image."""


@np.errstate(over="ignore", invalid="ignore")
def prove_bm3d(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that both estimates are what matching, filtering and averaging make of the image."""
    y, sigma = data.y, data.sigma
    wrong = misshapen("replayed", fitted, {"finite": _are_finite(fitted)}, image=y.shape, basic=y.shape)
    if wrong is not None:
        return wrong
    matched, guide = y, fitted.basic
    if data.plane > 0 and data.luminance is not None:
        matched, guide = data.luminance, fitted.first.basic
    if sigma == 0 or not matched.max() / VISIBLE - matched.min() / VISIBLE <= sigma:
        moved = max(float(np.max(np.abs(x - y))) for x in (fitted.image, fitted.basic))
        said = "largest difference from the image, whose noise is too weak to be seen"
        return Certificate("replayed", (Claim("untouched", said, moved, 1e-12 * float(np.max(np.abs(y)))),))
    middle = y.min() / 2 + y.max() / 2
    noisy, pilot = ((image - middle) / sigma for image in (y, fitted.basic))
    answer = (fitted.image - middle) / sigma
    bound = ROUNDED + FLOAT32 * float(np.ptp(noisy))
    tiles, said = _parts_to_look_at(y.shape)
    first, second = [], []
    for tile in tiles:
        wanted = _averaged(noisy, None, _levels(matched), tile, parameters)
        gap = np.abs(wanted - pilot[tile])
        if np.max(gap) > bound:  # a coefficient may stand on the threshold to the last digit of float32
            less, more = (
                _averaged(noisy, None, _levels(matched), tile, parameters, moved=sign * bound / parameters.threshold)
                for sign in (-1.0, 1.0)
            )
            gap -= np.abs(less - wanted) + np.abs(more - wanted)
        first.append(np.max(gap))
        if parameters.stages == 2:
            wanted = _averaged(noisy, pilot, _levels(guide), tile, parameters)
        else:
            wanted = pilot[tile]
        second.append(np.max(np.abs(wanted - answer[tile])))
    unit = f"{said}: largest difference, in standard deviations of the noise"
    claims = (
        Claim("first estimate", f"blocks matched and thresholded again, {unit}", float(np.max(first)), bound),
        Claim("second estimate", f"blocks matched and filtered again, {unit}", float(np.max(second)), bound),
    )
    return graded("replayed", claims)


def _are_finite(fitted: Seen) -> bool:
    return all(image.dtype == np.float64 and bool(np.isfinite(image).all()) for image in (fitted.image, fitted.basic))


def _parts_to_look_at(shape: tuple[int, ...]) -> tuple[list[tuple[slice, slice]], str]:
    """Return the parts of the image to make again, and which they are in words."""
    height, width = shape
    if height * width <= (TILE * TILE if is_fitting() else WHOLE):
        return [(slice(0, height), slice(0, width))], "everywhere"
    tops, lefts = np.arange(0, height, TILE), np.arange(0, width, TILE)
    n = len(tops) * len(lefts)
    places = drawn(n, 1 + height * width // TILES_AT_FIT if is_fitting() else SAMPLE)
    corners = [(int(tops[place // len(lefts)]), int(lefts[place % len(lefts)])) for place in places]
    tiles = [(slice(i, min(i + TILE, height)), slice(j, min(j + TILE, width))) for i, j in corners]
    return tiles, f"in {len(tiles)} of {n:,} tiles of {TILE} x {TILE} pixels{at_most_wrong(len(tiles), n)}"


def _levels(image: Array) -> Array:
    """Return the image in whole numbers of 0 to 4095, as float64: squares of differences stay exact."""
    low, high = image.min(), image.max()
    share = (image - low) / (high - low if high > low else 1.0)
    return np.rint(share * 4095 + UNEVEN)


def _averaged(
    noisy: Array,
    pilot: Array | None,
    levels: Array,
    tile: tuple[slice, slice],
    parameters: Seen,
    *,
    moved: float = 0.0,
) -> Array:
    """Return the mean of all filtered blocks over the pixels of a tile, of one stage: the second if there is a pilot.

    The threshold is moved by a share of itself.
    """
    threshold = parameters.threshold * (1.0 + UNEVEN / 1000.0) * (1.0 + moved)
    most = parameters.alike if pilot is None else parameters.wiener_alike
    noisy, levels = _widened(noisy), _widened(levels)
    pilot = None if pilot is None else _widened(pilot)
    total, weights = np.zeros(noisy.shape), np.zeros(noisy.shape)
    for rows, columns in _patches(levels.shape, tile, parameters.step, parameters.radius):
        tops, lefts = (
            np.arange(max(0, part[0] - parameters.radius), min(length - BLOCK, part[-1] + parameters.radius) + 1)
            for part, length in zip((rows, columns), levels.shape, strict=True)
        )
        around = (slice(tops[0], tops[-1] + BLOCK), slice(lefts[0], lefts[-1] + BLOCK))
        for members in _stacks(levels[around], rows - tops[0], columns - lefts[0], parameters.radius, most):
            if pilot is None:
                blocks, weight = _thresholded(_blocks(noisy[around])[members], threshold)
            else:
                blocks, weight = _shrunken(_blocks(noisy[around])[members], _blocks(pilot[around])[members])
            window = weight * np.outer(np.kaiser(BLOCK, 2.0), np.kaiser(BLOCK, 2.0))
            _lay(total[around], window * blocks, members, len(lefts))
            _lay(weights[around], np.broadcast_to(window, blocks.shape), members, len(lefts))
    return total[tile] / weights[tile]


def _widened(image: Array) -> Array:
    """Return an image mirrored at its end until a block fits."""
    return np.pad(image, [(0, max(0, BLOCK - length)) for length in image.shape], mode="symmetric")


def _patches(
    shape: tuple[int, ...], tile: tuple[slice, slice], step: int, radius: int
) -> Iterator[tuple[Array, Array]]:
    """Yield the rows and columns of all blocks whose stack may reach the tile, some at a time."""
    parts: list[list[Array]] = []
    for length, part in zip(shape, tile, strict=True):
        starts = np.unique(np.append(np.arange(0, length - BLOCK + 1, step), length - BLOCK))
        starts = starts[(starts + radius + BLOCK > part.start) & (starts - radius < part.stop)]
        parts.append(np.split(starts, np.flatnonzero(np.diff((starts - starts[0]) // PATCH)) + 1))
    for rows in parts[0]:
        for columns in parts[1]:
            yield rows, columns


def _blocks(image: Array) -> Array:
    """Return all blocks of an image, (blocks, 8, 8), row by row of their corners."""
    return sliding_window_view(image, (BLOCK, BLOCK)).reshape(-1, BLOCK, BLOCK)


def _stacks(levels: Array, rows: Array, columns: Array, radius: int, most: int) -> Iterator[Array]:
    """Yield the numbers of the blocks of all stacks of one size, (stacks, size): nearest, upper, left ones first.

    A block is itself the first of its stack. The size is the largest power of two that can be had.
    """
    height, width = levels.shape[0] - BLOCK + 1, levels.shape[1] - BLOCK + 1
    blocks = _blocks(levels).reshape(-1, BLOCK * BLOCK)
    own = (rows[:, np.newaxis] * width + columns).ravel()
    squares = np.einsum("ij,ij->i", blocks, blocks)
    distances = squares[own, np.newaxis] + squares - 2.0 * blocks[own] @ blocks.T  # whole numbers: exact in any order
    tops, lefts = np.divmod(np.arange(height * width), width)
    is_near = np.abs(tops - tops[own, np.newaxis]) <= radius
    is_near &= np.abs(lefts - lefts[own, np.newaxis]) <= radius
    order = np.where(is_near, distances * len(blocks) + np.arange(len(blocks)), np.inf)  # below 2**53: ties by place
    order[np.arange(len(own)), own] = -1.0
    sizes = 2 ** np.floor(np.log2(np.minimum(is_near.sum(axis=1), most))).astype(int)
    for size in np.unique(sizes):
        mine = order[sizes == size]
        nearest = np.argpartition(mine, size - 1, axis=1)[:, :size]
        in_turn = np.argsort(np.take_along_axis(mine, nearest, axis=1), axis=1)
        yield np.take_along_axis(nearest, in_turn, axis=1)


def _thresholded(stacks: Array, threshold: float) -> tuple[Array, Array]:
    """Return stacks without their small coefficients, and the weight of each: one over the number that is left."""
    wavelet, back = _wavelet()
    haar = _haar(stacks.shape[1])
    coefficients = np.tensordot(wavelet @ stacks @ wavelet.T, haar, (1, 1))  # (stacks, 8, 8, size)
    is_kept = np.abs(coefficients) > threshold
    is_kept[:, 0, 0, 0] = True
    kept = np.moveaxis(np.tensordot(np.where(is_kept, coefficients, 0.0), haar, (3, 0)), 3, 1)
    return back @ kept @ back.T, 1.0 / is_kept.sum(axis=(1, 2, 3))[:, np.newaxis, np.newaxis, np.newaxis]


def _shrunken(stacks: Array, pilots: Array) -> tuple[Array, Array]:
    """Return stacks with the share of each coefficient that the pilot asks for, and one over the sum of its squares."""
    cosines, haar = _cosines(), _haar(stacks.shape[1])
    coefficients, wanted = (np.tensordot(cosines @ one @ cosines.T, haar, (1, 1)) for one in (stacks, pilots))
    share = wanted**2 / (wanted**2 + 1.0)
    share[:, 0, 0, 0] = 1.0
    kept = np.moveaxis(np.tensordot(share * coefficients, haar, (3, 0)), 3, 1)
    return cosines.T @ kept @ cosines, 1.0 / np.sum(share**2, axis=(1, 2, 3))[:, np.newaxis, np.newaxis, np.newaxis]


def _lay(canvas: Array, blocks: Array, members: Array, width: int) -> None:
    """Add blocks (stacks, size, 8, 8) to a canvas, at the places of their numbers."""
    tops, lefts = np.divmod(members[..., np.newaxis, np.newaxis], width)
    inside = np.arange(BLOCK)
    places = (tops + inside[:, np.newaxis]) * canvas.shape[1] + lefts + inside
    canvas += np.bincount(places.ravel(), blocks.ravel(), canvas.size).reshape(canvas.shape)


def _wavelet() -> tuple[Array, Array]:
    """Return bior1.5 on a circle of eight pixels as a matrix whose rows have length 1, and its inverse."""
    low = np.array([3, -3, -22, 22, 128, 128, 22, -22, -3, 3]) * math.sqrt(2.0) / 256.0
    whole, n = np.eye(BLOCK), BLOCK
    while n > 1:
        level = np.zeros((n, n))
        for i in range(n // 2):
            for k, tap in enumerate(low):
                level[i, (2 * i + k - 4) % n] += tap
            level[n // 2 + i, 2 * i : 2 * i + 2] = -math.sqrt(0.5), math.sqrt(0.5)
        whole[:n] = level @ whole[:n]
        n //= 2
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    return whole, np.linalg.inv(whole)


def _cosines() -> Array:
    """Return the orthonormal discrete cosine transform of eight pixels as a matrix."""
    k, i = np.arange(BLOCK)[:, np.newaxis], np.arange(BLOCK)
    return np.where(k == 0, math.sqrt(1 / 8), 0.5) * np.cos(math.pi * k * (2 * i + 1) / 16)


def _haar(n: int) -> Array:
    """Return the orthonormal Haar transform of n, a power of two, as a matrix; its first row is the mean's."""
    matrix = np.ones((1, 1))
    while len(matrix) < n:
        matrix = np.vstack([np.kron(matrix, [1.0, 1.0]), np.kron(np.eye(len(matrix)), [1.0, -1.0])]) / math.sqrt(2.0)
    return matrix


PROVES = {"BM3D": prove_bm3d}
