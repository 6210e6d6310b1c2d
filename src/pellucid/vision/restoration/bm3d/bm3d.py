"""BM3D: blocks that look alike are stacked and filtered together, twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pellucid.core.checks import check_between, check_positive, check_whole
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.bm3d.kernels import BLOCK, threshold_strip, wiener_strip
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Operator

STRIP = 12
"""Rows of blocks that are filtered into one buffer: a constant, so that sums do not depend on the number of threads."""

LEVELS = 4095
"""Largest whole number of an image to be matched: distances of 64 pixels stay below 2**31."""

VISIBLE = 2.0**17
"""Largest range of an image in units of the noise: beyond it the noise is lost in the rounding of float32."""

UNEVEN = (3.0 - math.sqrt(5.0)) / 2.0
"""Added before rounding, and in thousandths to the threshold: an image of whole numbers has no pixel on the edge of two
levels and no coefficient on the threshold, as no fraction with a small denominator is near (Hurwitz)."""

BETA = 2.0
"""Shape of the Kaiser window by which the pixels of a block are weighted."""


@dataclass(frozen=True)
class BM3D(RestorationMethod):
    r"""Block matching and three-dimensional filtering (Dabov, Foi, Katkovnik and Egiazarian 2007).

    Each block of 8 x 8 pixels is stacked with those most like it, nearest first. The stack is transformed (a wavelet
    over the block, Haar along the stack), coefficients of at most :math:`\lambda\sigma` are set to 0, and the stack is
    transformed back. Every pixel is the mean of all blocks laid over it, those of few coefficients weighing most. The
    second stage matches blocks of that estimate, and keeps of each cosine coefficient of the noisy stack the share

    .. math:: \frac{c^2}{c^2 + \sigma^2}

    where :math:`c` is that of the first estimate. Planes of a color image are stacked as their luminance is.

    Distances are compared in whole numbers, the image in 4096 levels between its extremes: matches do not depend on
    the arithmetic, and the proof finds the same ones. Unlike in the paper the mean of a stack is never thresholded, so
    that brightness added to an image is added to the answer; a stack is filled however far the nearest blocks are
    (measured on BSD68: limits change 0.01 dB); and noise of less than 2^-17 of the range is left alone.

    Parameters
    ----------
    threshold : float, default=2.5
        :math:`\lambda`, above 0: coefficients of the first stage are kept above so many standard deviations.
    step : int, default=3
        Pixels from one block to the next, 1 to 8.
    radius : int, default=19
        How far from a block others are looked for, in pixels, 1 to 100.
    alike : int, default=16
        Most blocks of a stack in the first stage, a power of two up to 64.
    wiener_alike : int, default=32
        The same in the second stage.
    stages : int, default=2
        Whether to stop after the first stage.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.vision.restoration.operators import Identity
    >>> x = np.where(np.arange(32) < 16, 0.0, 100.0) * np.ones((32, 1))
    >>> y = x + np.random.default_rng(0).normal(0.0, 10.0, x.shape)
    >>> answer = BM3D().solve(y, Identity(), 10.0, 255.0)
    >>> float(np.std(answer.image - x).round(1))  # of noise of 10
    1.6
    """

    threshold: float = 2.5
    step: int = 3
    radius: int = 19
    alike: int = 16
    wiener_alike: int = 32
    stages: int = 2

    takes: ClassVar[tuple[str, ...]] = ("Identity",)
    color: ClassVar[str] = "opponent"
    leaves: ClassVar[tuple[str, ...]] = ("basic",)
    not_smooth: ClassVar[str] = "blocks are matched and coefficients kept or dropped, so that the answer jumps"

    def __post_init__(self) -> None:
        check_positive(threshold=self.threshold)
        check_whole(step=self.step, radius=self.radius, alike=self.alike, wiener_alike=self.wiener_alike)
        check_between(1, BLOCK, step=self.step, hint="Blocks further apart would leave pixels out.")
        check_between(1, 100, radius=self.radius)
        check_between(1, 64, alike=self.alike, wiener_alike=self.wiener_alike)
        for name, value in (("alike", self.alike), ("wiener_alike", self.wiener_alike)):
            if value & (value - 1):
                raise ValueError(f"{name} must be a power of two, got {value!r}. Haar halves the stack: give 16 or 32.")
        if self.stages not in (1, 2):
            raise ValueError(f"stages must be 1 or 2, got {self.stages!r}. The second stage is the Wiener filter.")

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the answer for one plane."""
        return self.solve_planes(y[np.newaxis], operator, sigma, peak)[0]

    def solve_planes(self, y: Array, operator: Operator, sigma: float, peak: float) -> tuple[RestoredPlane, ...]:
        """Return the answers for planes (C, H, W), matched by the first."""
        low, high = y.min(axis=(1, 2), keepdims=True), y.max(axis=(1, 2), keepdims=True)
        if sigma == 0 or not high[0, 0, 0] / VISIBLE - low[0, 0, 0] / VISIBLE <= sigma:
            return tuple(RestoredPlane(plane.copy(), {}, Trace(), {"basic": plane.copy()}) for plane in y)
        middle = low / 2 + high / 2
        noisy = _in_units(y, middle, sigma)
        with own_threads():
            basic = middle + sigma * self._filtered(noisy, None, y[0], self.alike)
            image = basic
            if self.stages == 2:
                pilot = _in_units(basic, middle, sigma)
                image = middle + sigma * self._filtered(noisy, pilot, basic[0], self.wiener_alike)
        return tuple(
            RestoredPlane(x, {}, _trace(plane, first, x, sigma), {"basic": first})
            for plane, first, x in zip(y, basic, image, strict=True)
        )

    def _filtered(self, planes: Array, basic: Array | None, matched: Array, most: int) -> Array:
        """Return the mean of all filtered blocks over each pixel, (C, H, W) in units of the noise."""
        pixels = _at_least_a_block(_whole_numbers(matched))
        height, width = pixels.shape
        rows, columns = _corners(height, self.step), _corners(width, self.step)
        window = np.outer(np.kaiser(BLOCK, BETA), np.kaiser(BLOCK, BETA)).ravel().astype(np.float32)

        def filter_strip(strip: Array) -> tuple[slice, Array, Array]:
            reached = slice(max(0, strip[0] - self.radius), min(height, strip[-1] + self.radius + BLOCK))
            total = np.zeros((len(planes), reached.stop - reached.start, width), np.float32)
            weights = np.zeros_like(total)
            place = (window, reached.start, total, weights)
            if basic is None:
                threshold = np.float32(self.threshold * (1.0 + UNEVEN / 1000.0))
                threshold_strip(planes, pixels, strip, columns, self.radius, most, threshold, *place)
            else:
                wiener_strip(planes, basic, pixels, strip, columns, self.radius, most, *place)
            return reached, total, weights

        strips = [rows[start : start + STRIP] for start in range(0, len(rows), STRIP)]
        total, weights = np.zeros_like(planes), np.zeros_like(planes)
        for reached, part, part_weights in run_blocks(filter_strip, strips):
            total[:, reached] += part
            weights[:, reached] += part_weights
        mean = total.astype(np.float64) / weights
        return np.asarray(mean[:, : matched.shape[0], : matched.shape[1]])


def _in_units(planes: Array, middle: Array, sigma: float) -> Array:
    """Return the planes less their middle, in units of the noise, as float32."""
    return _at_least_a_block(((planes - middle) / sigma).astype(np.float32))


def _whole_numbers(image: Array) -> Array:
    """Return an image in 4096 levels from its least to its largest value."""
    low, high = image.min(), image.max()
    return np.asarray(np.rint((image - low) / (high - low if high > low else 1.0) * LEVELS + UNEVEN).astype(np.int16))


def _at_least_a_block(planes: Array) -> Array:
    """Return planes mirrored at their lower and right edges until a block fits; larger ones as they are."""
    short = [(0, max(0, BLOCK - length)) for length in planes.shape[-2:]]
    return np.ascontiguousarray(np.pad(planes, [(0, 0)] * (planes.ndim - 2) + short, mode="symmetric"))


def _corners(length: int, step: int) -> Array:
    """Return where blocks start: every so many pixels, and at the end."""
    return np.union1d(np.arange(0, length - BLOCK + 1, step), [length - BLOCK])


def _trace(y: Array, basic: Array, image: Array, sigma: float) -> Trace:
    """Return how much each stage removed, as a root mean square in units of the noise."""
    trace = Trace()
    for stage, estimate in enumerate((basic,) if image is basic else (basic, image), start=1):
        trace.add(iteration=stage, removed=float(np.sqrt(np.mean(((y - estimate) / sigma) ** 2))))
    return trace
