"""How far an image is from another: mean squared error, its decibels, structural similarity."""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import gaussian_filter, uniform_filter

from pellucid.core.types import Array, Data
from pellucid.vision.restoration.images import Format

STABILIZERS = (0.01, 0.03)
"""K1 and K2 of Wang et al. 2004."""


def mse(clean: Data, image: Data) -> float:
    """Return the mean squared difference of two images.

    Parameters
    ----------
    clean, image : arrays of one shape
        The image as it should be, and the one to be judged.

    Examples
    --------
    >>> mse([[1.0, 2.0]], [[1.0, 5.0]])
    4.5
    """
    clean, image = _pair(clean, image)
    return float(np.mean((clean - image) ** 2))


def psnr(clean: Data, image: Data, *, peak: float | None = None) -> float:
    r"""Return the peak signal-to-noise ratio in decibels, :math:`10 \log_{10}(\text{peak}^2 / \text{MSE})`.

    Parameters
    ----------
    clean, image : arrays of one shape, (height, width) or (height, width, 3)
        The image as it should be, and the one to be judged.
    peak : float or None, default=None
        Largest gray value there can be. None: by the clean image, that of an unsigned dtype; else 1 for floats up to 2,
        255 for numbers up to 510, 65535 or more above.

    Examples
    --------
    >>> psnr([[100.0, 50.0]], [[103.0, 54.0]], peak=255).__round__(2)  # the mean of 9 and 16 is 12.5
    37.16
    """
    peak = Format.of(clean, peak).peak
    return decibels(mse(clean, image), peak)


def decibels(mean_square: float, peak: float) -> float:
    """Return a mean squared error in decibels below the square of the peak; none at all is infinitely far below."""
    return 20.0 * math.log10(peak / math.sqrt(mean_square)) if mean_square > 0 else math.inf


def ssim(clean: Data, image: Data, *, peak: float | None = None, window: int = 7, gaussian: bool = False) -> float:
    """Return the structural similarity of two images (Wang et al. 2004), at most 1; the mean over channels of color.

    Means and variances are local ones, of windows. Those that reach beyond the image are left out.

    Parameters
    ----------
    clean, image : arrays of one shape, (height, width) or (height, width, 3)
        The image as it should be, and the one to be judged.
    peak : float or None, default=None
        Largest gray value there can be. None: by the clean image, that of an unsigned dtype; else 1 for floats up to 2,
        255 for numbers up to 510, 65535 or more above.
    window : int, default=7
        Pixels a side of a window, odd, at most those of the image.
    gaussian : bool, default=False
        Whether windows are 11 pixels a side instead, weighted by a Gaussian of 1.5 pixels, as the paper has it.

    Examples
    --------
    >>> ssim(np.eye(9), np.eye(9))
    1.0
    """
    format_ = Format.of(clean, peak)
    clean, image = _pair(clean, image)
    if gaussian:
        window = 11
    if min(clean.shape[:2]) < window or window % 2 == 0:
        raise ValueError(
            f"window must be odd and no larger than the image, got {window} for {clean.shape[0]} x {clean.shape[1]}."
        )
    pairs = zip(np.atleast_3d(clean).T, np.atleast_3d(image).T, strict=True)
    return float(np.mean([_plane_ssim(a, b, format_.peak, window, gaussian) for a, b in pairs]))


def _plane_ssim(a: Array, b: Array, peak: float, window: int, gaussian: bool) -> float:
    def mean(values: Array) -> Array:
        return gaussian_filter(values, 1.5, truncate=3.5) if gaussian else uniform_filter(values, window)

    n = window**2
    unbiased = 1.0 if gaussian else n / (n - 1)  # a sample's variance, unless the weights are a population's
    mean_a, mean_b = mean(a), mean(b)
    var_a, var_b = (unbiased * (mean(v * v) - m * m) for v, m in ((a, mean_a), (b, mean_b)))
    covariance = unbiased * (mean(a * b) - mean_a * mean_b)
    c1, c2 = ((k * peak) ** 2 for k in STABILIZERS)
    similarity = ((2 * mean_a * mean_b + c1) * (2 * covariance + c2)) / (
        (mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2)
    )
    edge = (window - 1) // 2
    return float(similarity[edge : similarity.shape[0] - edge, edge : similarity.shape[1] - edge].mean())


def _pair(clean: Data, image: Data) -> tuple[Array, Array]:
    clean, image = (np.asarray(one, dtype=np.float64) for one in (clean, image))
    if clean.shape != image.shape:
        raise ValueError(f"image must be of the shape of the clean one, {clean.shape}, got {image.shape}. Crop both.")
    return clean, image
