"""Thresholds on the cosine coefficients of blocks, tiled or laid over the image at every shift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import fft

from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Operator
from pellucid.vision.restoration.thresholding.kernels import threshold_rows

STRIP = 32
"""Rows of blocks that are added up in one buffer: a constant, so that sums do not depend on the number of threads."""

HARD = 3.0
"""The hard threshold where none is given, in units of the noise (Yu and Sapiro 2011): no estimate could choose it."""

LOOKED_AT = 256
"""Rows and columns in the middle of an image by which the threshold is chosen."""

UNEVEN = 1.0 + (3.0 - math.sqrt(5.0)) / 2000.0
"""Thresholds that are hard or chosen are times this: no coefficient of an image of whole numbers stands on one."""

GRID = tuple(UNEVEN * threshold for threshold in (0.8, 1.0, 1.2, 1.4, 1.6, 1.9, 2.3, 2.8))
"""Soft thresholds, in units of the noise, among which the estimated error decides."""

JUMPS = "a coefficient that passes a hard threshold jumps, so that the answer does"


@dataclass(frozen=True)
class DCTThresholding(RestorationMethod):
    r"""Shrink the cosine coefficients of all blocks, and take the mean of the blocks over each pixel.

    .. math:: x = \frac{1}{K}\sum_{k=1}^{K} T_k' \, \eta_t(T_k y), \qquad
              \eta_t(c) = \operatorname{sign}(c) \max(|c| - t, 0) \ \text{ or }\ c\,[|c| > t]

    Each :math:`T_k` cuts the image, mirrored beyond its border, into blocks, shifted against the others, and takes
    their orthonormal discrete cosine transform; the mean of a block is never shrunken. With ``step`` equal to
    ``block_size`` there is one, K = 1, and soft thresholds minimize :math:`\frac12\|x - y\|^2 + t\|Tx\|_1` over it.

    Parameters
    ----------
    threshold : float, "universal" or None, default=None
        :math:`t`, above 0, in standard deviations of the noise; ``universal`` is :math:`\sqrt{2\log n}` of n pixels.
        None takes the soft one, between 0.8 and 2.8, of least estimated error (Stein) in the middle of the image; a
        hard one is 3.
    kind : {"soft", "hard"}, default="soft"
        Whether what is left is shrunken, too.
    block_size : {4, 8, 16}, default=8
        Rows and columns of a block.
    step : int, default=1
        From one shift to the next; it divides ``block_size``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.vision.restoration.operators import Identity
    >>> y = np.full((4, 4), 5.0)
    >>> y[:, :2] += 2.0  # mean 6; 4 and (by cosines) two smaller coefficients tell the halves apart
    >>> DCTThresholding(3.8, block_size=4, step=4).solve(y, Identity(), 1.0, 255.0).image[0].round(2)
    array([6., 6., 6., 6.])
    """

    threshold: float | str | None = None
    kind: str = "soft"
    block_size: int = 8
    step: int = 1

    takes: ClassVar[tuple[str, ...]] = ("Identity",)
    color: ClassVar[str] = "opponent"

    def __post_init__(self) -> None:
        if isinstance(self.threshold, str):
            check_one_of(("universal",), threshold=self.threshold, hint="Or give a number, or None to have it chosen.")
        elif self.threshold is not None:
            check_positive(threshold=self.threshold, hint="Give None to have it chosen.")
        check_one_of(("soft", "hard"), kind=self.kind)
        check_whole(block_size=self.block_size, step=self.step)
        if self.block_size not in (4, 8, 16):
            raise ValueError(f"block_size must be 4, 8 or 16, got {self.block_size!r}. Take 8, as JPEG does.")
        if self.block_size % self.step:
            raise ValueError(
                f"step must divide block_size, got {self.step!r} and {self.block_size!r}. "
                "Take 1 for all shifts, or block_size for none."
            )

    @property
    def not_smooth(self) -> str:  # type: ignore[override]  # it depends on the kind
        """Why there is no unbiased estimate of the error."""
        return JUMPS if self.kind == "hard" else ""

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the answer for one plane."""
        trace = Trace()
        if sigma == 0:
            return RestoredPlane(y.copy(), {} if self.threshold is not None else {"threshold": HARD}, trace, {})
        with own_threads():
            threshold = self._settled(y, sigma, trace)
            image = self._shrunken(y, threshold * sigma)[0]
        return RestoredPlane(image, {} if self.threshold is not None else {"threshold": threshold}, trace, {})

    def _settled(self, y: Array, sigma: float, trace: Trace) -> float:
        """Return the threshold in units of the noise."""
        if isinstance(self.threshold, str):
            return max(math.sqrt(2.0 * math.log(y.size)), 1.0)
        if self.threshold is not None:
            return float(self.threshold)
        if self.kind == "hard":
            return HARD
        starts = [max(0, n - LOOKED_AT) // 2 for n in y.shape]
        seen = y[starts[0] : starts[0] + LOOKED_AT, starts[1] : starts[1] + LOOKED_AT]
        for k, threshold in enumerate(GRID, start=1):
            image, kept = self._shrunken(seen, threshold * sigma)
            error = float(np.mean(((seen - image) / sigma) ** 2)) - 1.0 + 2.0 * kept
            trace.add(iteration=k, threshold=threshold, estimated_error=error)
        return GRID[int(np.argmin(trace["estimated_error"]))]

    def _shrunken(self, y: Array, threshold: float) -> tuple[Array, float]:
        """Return the mean of all blocks over each pixel, and the share of coefficients that are kept."""
        size, step, is_hard = self.block_size, self.step, self.kind == "hard"
        front = size - step
        back = [front + (step - n - 2 * front + size) % step for n in y.shape]
        padded = np.pad(y, [(front, back[0]), (front, back[1])], mode="symmetric")
        cosines = fft.dct(np.eye(size), axis=0, norm="ortho")
        turned = np.ascontiguousarray(cosines.T)
        at = threshold * UNEVEN if is_hard else threshold

        def add_up(rows: Array) -> tuple[int, Array, int]:
            total = np.zeros((rows[-1] - rows[0] + size, padded.shape[1]))
            n_kept = threshold_rows(padded, rows, step, (0,) * size, cosines, turned, at, is_hard, rows[0], total)
            return rows[0], total, n_kept

        starts = np.arange(0, padded.shape[0] - size + 1, step)
        strips = [starts[k : k + STRIP] for k in range(0, len(starts), STRIP)]
        total, n_kept = np.zeros_like(padded), 0
        for top, part, kept in run_blocks(add_up, strips):
            total[top : top + len(part)] += part
            n_kept += kept
        n_blocks = len(starts) * len(range(0, padded.shape[1] - size + 1, step))
        image = total[front : front + y.shape[0], front : front + y.shape[1]] / (size // step) ** 2
        return image, n_kept / (n_blocks * size**2)
