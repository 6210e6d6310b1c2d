r"""Proof of thresholds on wavelet coefficients, with sums over the filter in place of a library of wavelets.

The filter is checked for what makes it the one of its name: orthonormal to its even shifts, with so many vanishing
moments, of minimal phase or not. Without shifts soft thresholds are proved by their optimality condition: each
coefficient of y - x is t times the sign of that of x, or at most t where that is 0. With shifts all is made again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.ndimage import convolve1d, correlate1d

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen, misshapen
from pellucid.proofs.vision.measurement import Measurement

HARD = 3.0
UNEVEN = 1.0 + (3.0 - math.sqrt(5.0)) / 2000.0
ROUNDED = 1e-9
"""Rounding of a mean of images, relative to the largest number: published filters have eleven digits."""
SAME_ERROR = 1e-6
"""Difference of estimated errors per coefficient, in units of the noise's variance, that rounding makes."""


def prove_wavelet_thresholding(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is what thresholds make of it, and that they were the ones to take."""
    y, sigma = data.y, data.sigma
    family, moments, length = _wavelet(parameters.wavelet)
    given = fitted.threshold if parameters.threshold is None else parameters.threshold
    if parameters.threshold == "universal":
        given = max(math.sqrt(2.0 * math.log(y.size)), 1.0)
    levels = min(parameters.levels, max(1, math.ceil(math.log2(min(y.shape)))))
    thresholds = tuple(given) if isinstance(given, tuple | list) else (given,) * (3 * levels)
    kinds = {
        "threshold": len(thresholds) == (3 * levels if sigma > 0 else len(thresholds))
        and all(map(_is_threshold, thresholds)),
        "finite": bool(np.isfinite(fitted.image).all() and np.isfinite(fitted.low_pass).all()),
    }
    wrong = misshapen("exact", fitted, kinds, image=y.shape, low_pass=(length,))
    if wrong is not None:
        return wrong
    claims = [_claim_of_filter(fitted.low_pass, family, moments)]
    bound = ROUNDED * float(np.max(np.abs(y)))
    if sigma == 0:
        moved = float(np.max(np.abs(fitted.image - y)))
        claims.append(Claim("untouched", "largest difference from an image without noise", moved, bound))
        if parameters.threshold is None:
            claims.append(Claim("threshold", "distance from the usual one", abs(given - HARD), 0.0))
        return Certificate("exact", tuple(claims))
    padded = np.pad(y, [(0, -n % 2**levels) for n in y.shape], mode="symmetric")
    is_minimizer = parameters.kind == "soft" and parameters.spins == 1 and padded.shape == y.shape
    if is_minimizer:
        in_levels = [t * sigma for t in thresholds]
        claims.append(_claim_of_optimum(fitted.image, y, fitted.low_pass, levels, in_levels, bound))
    else:
        wanted = _averaged(padded / sigma, fitted.low_pass, levels, thresholds, parameters) * sigma
        worst = float(np.max(np.abs(wanted[: y.shape[0], : y.shape[1]] - fitted.image)))
        said = f"{parameters.spins**2} shifts made again: largest difference in gray levels"
        claims.append(Claim("shifts", said, worst, bound))
    if parameters.threshold is None:
        bands = _transformed(padded / sigma, fitted.low_pass, levels)[1]
        slack = 1e-11 * float(np.max(np.abs(padded / sigma)))
        claims.append(_claim_of_thresholds(thresholds, bands, parameters.kind, slack))
    return Certificate("exact", tuple(claims))


def _wavelet(name: Any) -> tuple[str, int, int]:
    """Return the family of a wavelet, how many moments vanish, and how long its filter is."""
    family = str(name).rstrip("0123456789")
    order = int(str(name)[len(family) :] or 1)
    if family == "coif":
        return family, 2 * order, 6 * order
    return "db" if family == "haar" else family, order, 2 * order


def _claim_of_filter(low: Array, family: str, moments: int) -> Claim:
    """Return the claim that a low pass is orthonormal, has its vanishing moments, and is of its family."""
    n = len(low)
    products = [float(low[: n - 2 * k] @ low[2 * k :]) - (k == 0) for k in range(n // 2)]
    places = np.arange(n) / n
    high = _high_pass(low)
    sums = [float(places**k @ high) for k in range(moments)]
    faults = [*products, *sums, float(low.sum()) - math.sqrt(2.0)]
    rest = low
    for _ in range(moments):  # each vanishing moment is a root at -1
        rest = np.polydiv(rest, [1.0, 1.0])[0]
    is_minimal = bool(np.all(np.abs(np.roots(rest)) > 1.0))
    if family == "db" or n > 6:  # the shortest of the others have no choice
        faults.append(float(is_minimal != (family == "db")))
    said = "largest fault of the filter: orthonormal, vanishing moments, phase"
    return Claim("filter", said, float(np.max(np.abs(faults))), 1e-6)


def _high_pass(low: Array) -> Array:
    return low[::-1] * (-1.0) ** (np.arange(len(low)) + 1)


def _halved(image: Array, taps: Array, axis: int) -> Array:
    """Return sums over the filter at every second place of a circle: a[k] is the sum of h[j] x[2k + n/2 - j]."""
    sums = convolve1d(image, taps, axis=axis, mode="wrap")
    return np.asarray(sums[::2] if axis == 0 else sums[:, ::2])


def _doubled(half: Array, taps: Array, axis: int) -> Array:
    """Return the adjoint of ``_halved``."""
    spread = np.repeat(half, 2, axis=axis)
    (spread if axis == 0 else spread.T)[1::2] = 0.0
    return np.asarray(correlate1d(spread, taps, axis=axis, mode="wrap"))


def _transformed(image: Array, low: Array, levels: int) -> tuple[Array, list[Array]]:
    """Return the coarsest means and all bands of differences, coarse ones first: rows, columns, both."""
    bands: list[Array] = []
    high = _high_pass(low)
    for _ in range(levels):
        smooth, rough = _halved(image, low, 0), _halved(image, high, 0)
        bands = [_halved(rough, low, 1), _halved(smooth, high, 1), _halved(rough, high, 1), *bands]
        image = _halved(smooth, low, 1)
    return image, bands


def _transformed_back(image: Array, bands: list[Array], low: Array) -> Array:
    high = _high_pass(low)
    for k in range(0, len(bands), 3):
        smooth = _doubled(image, low, 1) + _doubled(bands[k + 1], high, 1)
        rough = _doubled(bands[k], low, 1) + _doubled(bands[k + 2], high, 1)
        image = _doubled(smooth, low, 0) + _doubled(rough, high, 0)
    return image


def _averaged(padded: Array, low: Array, levels: int, thresholds: tuple[float, ...], parameters: Seen) -> Array:
    """Return the mean of the thresholded images of all shifts, in units of the noise."""
    total = np.zeros_like(padded)
    for i in range(parameters.spins):
        for j in range(parameters.spins):
            means, bands = _transformed(np.roll(padded, (i, j), (0, 1)), low, levels)
            for band, t in zip(bands, thresholds, strict=True):
                if parameters.kind == "hard":
                    band[np.abs(band) <= t * UNEVEN] = 0.0
                else:
                    band -= np.clip(band, -t, t)
            total += np.roll(_transformed_back(means, bands, low), (-i, -j), (0, 1))
    return total / parameters.spins**2


def _claim_of_optimum(image: Array, y: Array, low: Array, levels: int, thresholds: list[float], bound: float) -> Claim:
    """Return the claim that no other image has a smaller |x - y|^2 / 2 + sum of t |Wx|."""
    mine = _transformed(image, low, levels)[1]
    same, rest = _transformed(y - image, low, levels)
    gaps = [float(np.max(np.abs(same)))]
    for band, residual, t in zip(mine, rest, thresholds, strict=True):
        wanted = np.where(np.abs(band) > bound, t * np.sign(band), np.clip(residual, -t, t))
        gaps.append(float(np.max(np.abs(residual - wanted))))
    said = "distance of y - x from the subgradients of t |Wx|, per coefficient: x minimizes |x - y|^2 / 2 + t |Wx|"
    return Claim("minimum", said, float(np.max(gaps)), 10 * bound)


def _claim_of_thresholds(thresholds: tuple[float, ...], bands: list[Array], kind: str, slack: float) -> Claim:
    """Return the claim that each band has the threshold of least estimated error, if rounding is at most ``slack``."""
    if kind == "hard":
        return Claim("threshold", "distance from the usual one", max(abs(t - HARD) for t in thresholds), 0.0)
    gaps = []
    for t, band in zip(thresholds, bands, strict=True):
        n = band.size
        sizes = np.abs(band).ravel()
        largest = max(math.sqrt(2.0 * math.log(n)), 1.0)
        if abs(float(np.mean(sizes**2)) - 1.0 - max(math.log2(n), 1.0) ** 1.5 / math.sqrt(n)) <= SAME_ERROR:
            continue  # on the edge between both rules
        if float(np.mean(sizes**2)) - 1.0 <= max(math.log2(n), 1.0) ** 1.5 / math.sqrt(n):
            gaps.append(abs(t - largest))
            continue
        below = np.concatenate([[0.0], sizes[sizes <= largest], [largest]])
        tried = np.quantile(below, np.linspace(0.0, 1.0, 9 if is_fitting() else 65))
        least = min(_estimated_error(sizes, one) for one in tried)
        gaps.append(max(_estimated_error(sizes, t, slack) - least, t - largest, 0.0))
    said = "estimated error of a band above the least one, per coefficient, in units of the noise's variance"
    return Claim("threshold", said, float(np.max(gaps, initial=0.0)), SAME_ERROR)


def _estimated_error(sizes: Array, t: float, slack: float = 0.0) -> float:
    """Return Stein's estimate per coefficient; sizes above the threshold by rounding count as below."""
    return float(np.mean(np.minimum(sizes, t) ** 2 + 1.0 - 2.0 * (sizes <= t + slack)))


def _is_threshold(value: Any) -> bool:
    return isinstance(value, float | int) and math.isfinite(value) and value >= 0


PROVES = {"WaveletThresholding": prove_wavelet_thresholding}
