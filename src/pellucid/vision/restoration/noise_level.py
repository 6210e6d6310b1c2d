"""How much noise there is: its standard deviation, from the noisy image alone."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.stats import gamma

from pellucid.core.types import Array, Data
from pellucid.vision.restoration.images import as_planes

SIDES = (7, 5, 3)
"""Of the patches, largest first: a side is taken if the image has ``PER_NUMBER`` patches for each pixel of one."""
PER_NUMBER = 20
RARE = 1e-6
"""Share of the patches of pure noise that are taken for texture."""
ROUNDS = 4
BLOCK = 1 << 14
"""Patches gathered at a time."""
SIGMA_ERROR = 0.03
"""Standard error of an estimate, as a share of it, on photographs with sigma 2 to 50: the worst of them is 15 % off
(``python -m benchmarks restoration --only sigma``)."""


def estimate_sigma(image: Data) -> float:
    r"""Return the standard deviation of white noise in an image, in its own units.

    Patches without texture vary by noise alone, equally in all directions, so the smallest eigenvalue of their
    covariance is :math:`\sigma^2`. Which patches those are depends on :math:`\sigma`: their differences of neighbors
    are no larger than noise of this strength makes them. Both are found in turn (Liu, Tanaka and Okutomi 2013).

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        With white noise that is equally strong everywhere; of color the root mean square over the channels.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 10, (200, 200))
    >>> 9.7 < estimate_sigma(100 + noise) < 10.3
    True
    """
    found = [plane_sigma(plane) for plane in as_planes(image, "each")]
    return math.hypot(*found) / math.sqrt(len(found))


def plane_sigma(plane: Array) -> float:
    """Return the standard deviation of the noise in one plane."""
    centered = plane - plane.mean()
    scale = float(np.abs(centered).max())  # so that squares neither overflow nor vanish
    if scale == 0.0 or not np.isfinite(scale):
        return scale
    centered /= scale
    height, width = plane.shape
    side = next((k for k in SIDES if (height - k + 1) * (width - k + 1) >= PER_NUMBER * k * k and k <= height), 0)
    if not side or side > width:
        return scale * _from_neighbors(centered)
    texture, most = _texture(centered, side), _texture_of_noise(side)
    flat = np.ones(texture.shape, dtype=bool)
    for _ in range(ROUNDS):
        variance = _smallest_variance(centered, flat, side)
        smoother = texture <= most * variance
        if np.count_nonzero(smoother) < PER_NUMBER * side * side or np.array_equal(smoother, flat):
            break
        flat = smoother
    return scale * float(np.sqrt(max(variance, 0.0)))


def _from_neighbors(plane: Array) -> float:
    """Return the estimate for images too small for patches: the median difference of neighbors, as of normal noise."""
    differences = np.concatenate([np.abs(np.diff(plane, axis=axis)).ravel() for axis in (0, 1)])
    return float(np.median(differences)) / (0.6745 * np.sqrt(2.0)) if differences.size else 0.0


def _smallest_variance(plane: Array, chosen: Array, side: int) -> float:
    """Return the variance of the chosen patches in the direction in which they vary least.

    Of so many numbers the smallest eigenvalue is below the variance by a factor that Marchenko and Pastur found.
    """
    windows, size = sliding_window_view(plane, (side, side)), side * side
    total, products = np.zeros(size), np.zeros((size, size))
    step = max(1, BLOCK // windows.shape[1])
    for start in range(0, len(windows), step):
        rows = slice(start, start + step)
        patches = windows[rows][chosen[rows]].reshape(-1, size)
        total += patches.sum(axis=0)
        products += patches.T @ patches
    n = int(np.count_nonzero(chosen))
    smallest = float(np.linalg.eigvalsh((products - np.outer(total, total) / n) / max(n - 1, 1))[0])
    return smallest / (1.0 - np.sqrt(size / n)) ** 2


def _texture(plane: Array, side: int) -> Array:
    """Return for every patch the sum of its squared differences of neighbors."""

    def sums(squares: Array, height: int, width: int) -> Array:
        table = np.pad(squares.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        return table[height:, width:] - table[:-height, width:] - table[height:, :-width] + table[:-height, :-width]

    across, down = (np.diff(plane, axis=axis) ** 2 for axis in (1, 0))
    return sums(across, side, side - 1) + sums(down, side - 1, side)


@cache
def _texture_of_noise(side: int) -> float:
    """Return what that sum rarely exceeds for noise of variance 1: a gamma law of the same mean and variance."""
    differences = np.diff(np.eye(side), axis=0)
    one_axis = differences.T @ differences
    form = np.kron(np.eye(side), one_axis) + np.kron(one_axis, np.eye(side))
    mean, variance = np.trace(form), 2.0 * np.trace(form @ form)
    return float(gamma.isf(RARE, mean**2 / variance, scale=variance / mean))
