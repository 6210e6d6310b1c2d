r"""Proof of thresholds on cosine coefficients: parts of the image are made again from all blocks over them.

Without shifts, soft thresholds have a proof of their own: x minimizes :math:`\frac12\|x - y\|^2 + t\|Tx\|_1` exactly if
each coefficient of y - x is t times the sign of that of x, or at most t where that is 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.vision.measurement import Measurement

HARD = 3.0
LOOKED_AT = 256
UNEVEN = 1.0 + (3.0 - math.sqrt(5.0)) / 2000.0
GRID = tuple(UNEVEN * threshold for threshold in (0.8, 1.0, 1.2, 1.4, 1.6, 1.9, 2.3, 2.8))
TILE = 32
"""Rows and columns of a part that is made again."""
WHOLE, AT_FIT = 1 << 20, 4
"""Pixels that ``verify`` makes again, at most, and tiles that a fit does."""
ROUNDED = 1e-10
"""Rounding of a mean of blocks, relative to the largest number."""
SAME_ERROR = 1e-3
"""Difference of two estimated errors, in units of the noise's variance, that coefficients on a threshold make."""


def prove_dct_thresholding(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is the mean of the thresholded blocks, and that the threshold was the one to take."""
    y, sigma = data.y, data.sigma
    given = parameters.threshold
    threshold = fitted.threshold if given is None else given
    if given == "universal":
        threshold = max(math.sqrt(2.0 * math.log(y.size)), 1.0)
    is_right = isinstance(threshold, float | int) and 0 < threshold < math.inf
    wrong = misshapen(
        "exact", fitted, {"threshold": is_right, "finite": bool(np.isfinite(fitted.image).all())}, image=y.shape
    )
    if wrong is not None:
        return wrong
    bound = ROUNDED * float(np.max(np.abs(y)))
    if sigma == 0:
        moved = float(np.max(np.abs(fitted.image - y)))
        claims = [Claim("untouched", "largest difference from an image without noise", moved, bound)]
    else:
        claims = [_claim_of_parts(fitted.image, y, threshold * sigma, parameters, bound)]
        if parameters.kind == "soft" and parameters.step == parameters.block_size and not is_fitting():
            claims += _claim_of_optimum(fitted.image, y, threshold * sigma, parameters.block_size, bound)
    if given is None:
        claims.append(_claim_of_threshold(threshold, parameters, data))
    return graded("exact", claims)


def _claim_of_parts(image: Array, y: Array, threshold: float, parameters: Seen, bound: float) -> Claim:
    """Return the claim that tiles drawn at random are the means of the blocks over them."""
    tops, lefts = np.arange(0, y.shape[0], TILE), np.arange(0, y.shape[1], TILE)
    n = len(tops) * len(lefts)
    places = drawn(n, AT_FIT if is_fitting() else WHOLE // TILE**2)
    gaps = []
    for place in places:
        top, left = int(tops[place // len(lefts)]), int(lefts[place % len(lefts)])
        tile = (slice(top, min(top + TILE, y.shape[0])), slice(left, min(left + TILE, y.shape[1])))
        gaps.append(np.max(np.abs(_means(y, tile, [threshold], parameters)[0][0] - image[tile])))
    said = f"{len(places):,} of {n:,} tiles of {TILE} x {TILE} pixels made again{at_most_wrong(len(places), n)}"
    return Claim("blocks", f"{said}: largest difference in gray levels", float(np.max(gaps)), bound)


def _means(y: Array, tile: tuple[slice, slice], thresholds: list[float], parameters: Seen) -> list[tuple[Array, float]]:
    """Return for each threshold the mean of all blocks over the pixels of a tile, and the share of numbers kept."""
    size, step = parameters.block_size, parameters.step
    front = size - step
    padded = np.pad(y, [(front, front + (-(n + 2 * front - size)) % step) for n in y.shape], mode="symmetric")
    spans = []  # of the corners of blocks that reach the tile, in the padded image
    for part, length in zip(tile, padded.shape, strict=True):
        starts = np.arange(0, length - size + 1, step)
        spans.append(starts[(starts + size > part.start + front) & (starts < part.stop + front)])
    blocks = sliding_window_view(padded, (size, size))[np.ix_(*spans)]
    coefficients = fft.dctn(blocks, axes=(2, 3), norm="ortho")
    found = []
    for threshold in thresholds:
        kept = _thresholded(coefficients, threshold, parameters.kind)
        back = fft.idctn(kept, axes=(2, 3), norm="ortho")
        total = np.zeros((spans[0][-1] - spans[0][0] + size, spans[1][-1] - spans[1][0] + size))
        for i in range(size):
            for j in range(size):
                total[i : i + spans[0][-1] - spans[0][0] + 1 : step, j : j + spans[1][-1] - spans[1][0] + 1 : step] += (
                    back[:, :, i, j]
                )
        top, left = tile[0].start + front - spans[0][0], tile[1].start + front - spans[1][0]
        image = total[top : top + tile[0].stop - tile[0].start, left : left + tile[1].stop - tile[1].start]
        n_kept = int(np.count_nonzero(kept)) + int(np.count_nonzero(kept[..., 0, 0] == 0.0))  # a mean of 0 is kept, too
        found.append((image / (size // step) ** 2, n_kept / kept.size))
    return found


def _thresholded(coefficients: Array, threshold: float, kind: str) -> Array:
    """Return coefficients above the threshold, less it if it is soft; the first of a block is its mean, and stays."""
    if kind == "hard":
        kept = np.where(np.abs(coefficients) > threshold * UNEVEN, coefficients, 0.0)
    else:
        kept = np.sign(coefficients) * np.maximum(np.abs(coefficients) - threshold, 0.0)
    kept[..., 0, 0] = coefficients[..., 0, 0]
    return kept


def _claim_of_optimum(image: Array, y: Array, threshold: float, size: int, bound: float) -> list[Claim]:
    """Return the claim that the image is the minimizer; of one that is mirrored to fill its blocks there is none."""
    if any(n % size for n in y.shape):
        return []
    cut = (y.shape[0] // size, size, y.shape[1] // size, size)
    mine, rest = (fft.dctn(one.reshape(cut), axes=(1, 3), norm="ortho") for one in (image, y - image))
    wanted = np.where(np.abs(mine) > bound, threshold * np.sign(mine), np.clip(rest, -threshold, threshold))
    wanted[:, 0, :, 0] = 0.0
    said = "distance of y - x from the subgradients of t |Tx|, per coefficient: x minimizes |x - y|^2 / 2 + t |Tx|"
    return [Claim("minimum", said, float(np.max(np.abs(rest - wanted))), 10 * bound)]


def _claim_of_threshold(threshold: float, parameters: Seen, data: Measurement) -> Claim:
    """Return the claim that the threshold is the one that is taken, or has the least estimated error."""
    y, sigma = data.y, data.sigma
    choices: Any = (HARD,) if parameters.kind == "hard" or sigma == 0 else GRID
    off = min(abs(threshold - one) for one in choices)
    if len(choices) == 1 or is_fitting() or off > 1e-12:
        return Claim("threshold", "distance from those that are compared", off, 1e-12)
    starts = [max(0, n - LOOKED_AT) // 2 for n in y.shape]
    seen = y[starts[0] : starts[0] + LOOKED_AT, starts[1] : starts[1] + LOOKED_AT] / sigma
    whole = (slice(0, seen.shape[0]), slice(0, seen.shape[1]))
    errors = []
    for one in GRID:
        image, kept = _means(seen, whole, [one], parameters)[0]
        errors.append(float(np.mean((seen - image) ** 2)) - 1.0 + 2.0 * kept)
    chosen = errors[int(np.argmin(np.abs(np.array(GRID) - threshold)))]
    said = "estimated error above that of the best threshold compared, in units of the noise's variance"
    return Claim("threshold", said, chosen - min(errors), SAME_ERROR)


PROVES = {"DCTThresholding": prove_dct_thresholding}
