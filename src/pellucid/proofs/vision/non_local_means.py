"""Proof of non-local means: pixels drawn at random are averaged once more, each with all its neighbors at once."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.vision.measurement import Measurement

GRID = (0.4, 0.5, 0.6, 0.75, 1.0, 1.3)
LOOKED_AT = 128
PROBE = 1e-2
INDISTINCT = 8.7e-8
"""Share of the range below which h makes each pixel its own mean."""
SAMPLE, SAMPLE_AT_FIT = 4096, 128
"""Pixels that are averaged again."""
AT_ONCE = 1 << 21
"""Numbers of an array of neighbors."""
ROUNDED = 2.0**-18
"""Error of a weight by rounding in float32, for each unit of its exponent."""
SAME_ERROR = 1e-3
"""Difference of two estimated errors, in units of the noise's variance, that rounding makes."""


def prove_non_local_means(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that pixels are the weighted means that they should be, and that h was the one to take."""
    y, size, reach = data.y, parameters.patch_size, parameters.patch_distance
    h = fitted.h if parameters.h is None else parameters.h
    is_number = isinstance(h, float | int) and np.isfinite(h) and h >= 0
    kinds = {"h": is_number, "finite": bool(np.isfinite(fitted.image).all())}
    wrong = misshapen("exact", fitted, kinds, image=y.shape)
    if wrong is not None:
        return wrong
    unit = (
        float(np.ptp(y)) or float(np.max(np.abs(y))) or 1.0
    )  # in units of the range no square is too large, or too small
    sigma, h = data.sigma / unit, h / unit
    places = drawn(y.size, SAMPLE_AT_FIT if is_fitting() else SAMPLE)
    wanted = _means(y / unit, places, size, reach, sigma, h)
    worst = float(np.max(np.abs(wanted - fitted.image.ravel()[places] / unit)))
    said = f"{len(places):,} of {y.size:,} pixels averaged again{at_most_wrong(len(places), y.size)}"
    exponent = 4.0 + 2.0 * min(sigma / h if h > 0 else 0.0, 1e3) ** 2
    bound = ROUNDED * exponent + 1e-12 * float(np.max(np.abs(y / unit)))
    claims = [Claim("pixels", f"{said}: largest difference, as a share of the range of the image", worst, bound)]
    if parameters.h is None:
        claims.append(_claim_of_h(h, y / unit, sigma, parameters))
    return graded("exact", claims)


def _means(y: Array, places: Array, size: int, reach: int, sigma: float, h: float) -> Array:
    """Return the weighted means at some pixels, numbered row by row."""
    if h <= INDISTINCT * float(np.ptp(y)):
        return y.ravel()[places]
    patches = sliding_window_view(np.pad(y, reach + size // 2, mode="reflect"), (size, size))
    window = 2 * reach + 1
    n_at_once = max(1, AT_ONCE // (window * size) ** 2)
    found = []
    for start in range(0, len(places), n_at_once):
        rows, columns = np.divmod(places[start : start + n_at_once], y.shape[1])
        around = rows[:, np.newaxis, np.newaxis] + np.arange(window)[:, np.newaxis]
        beside = columns[:, np.newaxis, np.newaxis] + np.arange(window)
        near = patches[around, beside]  # (pixels, window, window, size, size)
        own = patches[rows + reach, columns + reach][:, np.newaxis, np.newaxis]
        weights = _weights(np.mean((near - own) ** 2, axis=(3, 4)), sigma, h)
        weights[:, reach, reach] = 1.0
        values = near[:, :, :, size // 2, size // 2]
        found.append(np.sum(weights * values, axis=(1, 2)) / np.sum(weights, axis=(1, 2)))
    return np.concatenate(found)


def _weights(squares: Array, sigma: float, h: float) -> Array:
    """Return what pixels weigh by the mean squared difference of their patches, in units of the range."""
    return np.asarray(np.exp(-np.maximum(squares / h / h - 2.0 * (sigma / h) ** 2, 0.0)))


def _means_everywhere(y: Array, size: int, reach: int, sigma: float, hs: list[float]) -> list[Array]:
    """Return for each h the weighted means at all pixels, one displacement after the other."""
    pad = reach + size // 2
    padded = np.pad(y, pad, mode="reflect")
    totals, sums = [np.zeros_like(y) for _ in hs], [np.zeros_like(y) for _ in hs]
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            moved = np.roll(padded, (-down, -right), (0, 1))[reach : len(padded) - reach, reach:-reach]
            squares = (moved - padded[reach : len(padded) - reach, reach:-reach]) ** 2
            running = np.cumsum(np.cumsum(np.pad(squares, ((1, 0), (1, 0))), axis=0), axis=1)
            patch = running[size:, size:] - running[:-size, size:] - running[size:, :-size] + running[:-size, :-size]
            half = size // 2
            values = moved[half : half + y.shape[0], half : half + y.shape[1]]
            for h, total, weights in zip(hs, totals, sums, strict=True):
                is_used = (down or right) and h > INDISTINCT * float(np.ptp(y))
                weight = _weights(patch / size**2, sigma, h) if is_used else np.full_like(y, down == right == 0)
                total += weight * values
                weights += weight
    return [total / weights for total, weights in zip(totals, sums, strict=True)]


def _claim_of_h(h: float, y: Array, sigma: float, parameters: Seen) -> Claim:
    """Return the claim that no other h of the grid has a smaller estimated error; a fit sees that it is of the grid."""
    off = min(abs(h - factor * sigma) for factor in GRID)
    if sigma == 0 or is_fitting() or off > 1e-12 * sigma:
        return Claim("h", "distance from the values that are compared, as a share of the range", off, 1e-12 * sigma)
    middle = tuple(slice(max(0, n - LOOKED_AT) // 2, max(0, n - LOOKED_AT) // 2 + LOOKED_AT) for n in y.shape)
    seen = y[middle]
    signs = np.where(np.random.default_rng(0).random(seen.shape) < 0.5, -1.0, 1.0)
    hs = [factor * sigma for factor in GRID]
    size, reach = parameters.patch_size, parameters.patch_distance
    images, moved = (_means_everywhere(one, size, reach, sigma, hs) for one in (seen, seen + PROBE * sigma * signs))
    errors = []
    for image, other in zip(images, moved, strict=True):
        follows = np.mean(signs * (other - image)) / (PROBE * sigma)
        errors.append(float(np.mean(((seen - image) / sigma) ** 2) - 1.0 + 2.0 * follows))
    chosen = errors[int(np.argmin(np.abs(np.array(hs) - h)))]
    said = "estimated error above that of the best h compared, in units of the noise's variance"
    return Claim("h", said, chosen - min(errors), SAME_ERROR)


PROVES = {"NonLocalMeans": prove_non_local_means}
