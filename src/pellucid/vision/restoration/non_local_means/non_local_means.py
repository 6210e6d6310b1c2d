"""Non-local means: each pixel is the mean of those whose surroundings look like its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.non_local_means.kernels import means_strip
from pellucid.vision.restoration.operators import Operator

STRIP = 32
"""Rows that are averaged into one buffer: a constant, so that sums do not depend on the number of threads."""

GRID = (0.4, 0.5, 0.6, 0.75, 1.0, 1.3)
"""Values of h, in units of the noise, among which the estimated error decides."""

LOOKED_AT = 192
"""Rows and columns in the middle of an image by which h is chosen: the errors of two h differ by more than chance."""

PROBE = 1e-2
"""How much a pixel is changed to see how the answer follows, in units of the noise."""

COARSE = 100.0
"""Range of an image, in units of h, up to which float32 tells patches apart to a millionth of their weight."""

INDISTINCT = 8.7e-8
"""Share of the range below which h tells any two pixels apart that are not equal: each is its own mean."""


@dataclass(frozen=True)
class NonLocalMeans(RestorationMethod):
    r"""Mean of all pixels near by, weighted by how alike their patches are (Buades, Coll and Morel 2005).

    .. math:: x_p = \frac{\sum_q w_{pq} y_q}{\sum_q w_{pq}}, \qquad
              w_{pq} = \exp\Bigl(-\frac{\max(d_{pq}^2 - 2\sigma^2, 0)}{h^2}\Bigr)

    where :math:`d_{pq}^2` is the mean squared difference of the patches around p and q, of which the noise alone makes
    :math:`2\sigma^2`; beyond its border the image is mirrored. A pixel has weight 1 for itself.

    Scikit-image's fast mode means the same: its patches lack a row and a column, its exponential is a straight line
    between powers of two (4 %), and weights below exp(-5) are dropped, which makes its answer jump.

    Parameters
    ----------
    patch_size : int, default=5
        Rows and columns of a patch, odd, at most 31.
    patch_distance : int, default=10
        How far away a pixel may be along each axis, 1 to 100.
    h : float, default=None
        How unlike patches may be, in units of the image; None chooses between 0.4 and 1.3 times sigma by Stein's
        estimate of the error, on the middle of the image.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.vision.restoration.operators import Identity
    >>> y = np.array([[0.0, 0.0, 9.0, 9.0]])  # patches of one pixel: the other of its kind weighs 1, the rest exp(-81)
    >>> NonLocalMeans(1, 3, h=1.0).solve(y, Identity(), 0.0, 255.0).image.round(3) + 0.0
    array([[0., 0., 9., 9.]])
    """

    patch_size: int = 5
    patch_distance: int = 10
    h: float | None = None

    takes: ClassVar[tuple[str, ...]] = ("Identity",)
    color: ClassVar[str] = "opponent"
    not_smooth: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_whole(patch_size=self.patch_size, patch_distance=self.patch_distance)
        if self.patch_size % 2 == 0 or self.patch_size > 31:
            raise ValueError(
                f"patch_size must be odd and at most 31, got {self.patch_size!r}. A patch has a pixel in its middle."
            )
        if self.patch_distance > 100:
            raise ValueError(f"patch_distance must be at most 100, got {self.patch_distance!r}. Take 10.")
        if self.h is not None:
            check_positive(h=self.h, hint="Give None to have it chosen.")

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the answer for one plane."""
        trace = Trace()
        with own_threads():
            h = self.h
            if h is None:
                h = self._chosen_h(y, sigma, trace)
            image = self._means(y, sigma, h)
        return RestoredPlane(image, {} if self.h is not None else {"h": h}, trace, {})

    def _chosen_h(self, y: Array, sigma: float, trace: Trace) -> float:
        """Return the h of the grid with the least estimated error in the middle of the image; 0 without noise."""
        if sigma == 0:
            return 0.0
        middle = tuple(slice(max(0, n - LOOKED_AT) // 2, max(0, n - LOOKED_AT) // 2 + LOOKED_AT) for n in y.shape)
        seen = y[middle]
        signs = np.where(np.random.default_rng(0).random(seen.shape) < 0.5, -1.0, 1.0)
        for k, factor in enumerate(GRID, start=1):
            image, moved = (self._means(one, sigma, factor * sigma) for one in (seen, seen + PROBE * sigma * signs))
            follows = float(np.mean(signs * ((moved - image) / (PROBE * sigma))))
            error = float(np.mean(((seen - image) / sigma) ** 2)) - 1.0 + 2.0 * follows
            trace.add(iteration=k, h=factor * sigma, estimated_error=error)
        return float(trace["h"][int(np.argmin(trace["estimated_error"]))])

    def _means(self, y: Array, sigma: float, h: float) -> Array:
        """Return the weighted means for a given h."""
        low, high = float(y.min()), float(y.max())
        if h <= INDISTINCT * (high - low) or high == low:
            return y.copy()
        middle, unit = low / 2 + high / 2, h * self.patch_size * math.sqrt(math.log(2.0))
        is_coarse = high - low <= COARSE * h
        number, whole = (np.float32, np.int32) if is_coarse else (np.float64, np.int64)
        digits = np.finfo(number).nmant
        shift, bias = number(1.5 * 2.0**digits), whole(np.finfo(number).maxexp - 1)
        pad = self.patch_distance + self.patch_size // 2
        padded = np.pad(((y - middle) / unit).astype(number), pad, mode="reflect")
        spared = number(2.0 * (sigma / h) ** 2 / math.log(2.0))
        patch = (0,) * self.patch_size  # the compiler knows the length of a tuple

        def average(rows: slice) -> Array:
            total = np.empty((rows.stop - rows.start, y.shape[1]), number)
            weights = np.empty_like(total)
            powers = np.empty(padded.shape[1], number)
            means_strip(
                *(padded, rows.start, patch, self.patch_distance, spared, shift, bias, whole(digits)),
                *(powers, powers.view(whole), total, weights),
            )
            return total / weights

        starts = range(0, y.shape[0], STRIP)
        parts = run_blocks(average, [slice(start, min(start + STRIP, y.shape[0])) for start in starts])
        return middle + unit * np.concatenate(parts).astype(np.float64)
