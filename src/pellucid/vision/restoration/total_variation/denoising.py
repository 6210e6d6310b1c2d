"""Total variation denoising: accelerated gradient steps on the dual, stopped by the duality gap."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf, sqrt

import numpy as np

from pellucid.core.threads import own_threads, run_blocks, split_evenly, thread_count
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.total_variation.denoising_kernels import (
    add_image,
    advance,
    feasible_dual,
    flattened,
    gap_of,
    half_way,
)

SAFE_STEP = 0.125
"""One over the largest eigenvalue that D D' can have, 8: with it the gap is proved to fall."""

STEP = 0.166
"""With momentum near 1, linear steps are stable up to 4/3 of the safe one. An eighth fewer steps; the gap judges."""

DAMPING = 2.5
"""Momentum (k - 1) / (k + DAMPING): 2 is Nesterov's; 5 needed a quarter more steps."""

STEPS_AT_ONCE = 10
"""Steps that a block of rows takes by itself; its margin has as many rows on each side."""

ROWS_AT_ONCE = 256
"""Rows of a block: with fewer the margins cost more than a nearer cache saves."""

FLAT = 1e-5
"""How far inside its ball a dual vector has to be, as a share, for the image to be flat there."""

ALONG = 0.5
"""Where the image rises by less, along the dual field, than this share of what it could, it is made flat as well."""

FOR_FLOAT32 = 1e-5
"""The finest goal, as a share of the range of the data, that steps in float32 reach with digits to spare."""

FIRST_CHECK = 160
"""Steps before the gap is looked at: it takes as long as twenty of them, and fewer were seldom enough."""

LATE = 6
"""The image that is judged is the mean of those of the last sixth of the steps: it saves a tenth of them."""

FALL, LONGEST_WAY = 1.65, 4.0
"""The bound falls like this power of the steps, later as between the last two looks; the next is planned by it."""


@dataclass
class DualField:
    """The dual field p of 1/2 |x - y|^2 + TV(x) and the one of the step before; ``advance`` improves it.

    The minimizer is y - D'p for the p with vectors of length at most 1 that makes this image smallest.
    """

    y: Array
    isotropic: bool
    p: Array = field(init=False)
    step: float = STEP
    n_steps: int = 0

    def __post_init__(self) -> None:
        self.p, self._before, *self._spare = (np.zeros((2, *self.y.shape), self.y.dtype) for _ in range(4))

    def advance(self, n_steps: int) -> None:
        """Take so many steps, on all threads: each block of rows by itself, with a margin, some steps at once."""
        for taken in (n_steps % STEPS_AT_ONCE, *[STEPS_AT_ONCE] * (n_steps // STEPS_AT_ONCE)):
            if taken:
                self._advance_blocks(taken)

    def mean_image(self, n_steps: int, y: Array, weight: float) -> Array:
        """Take so many steps, and return the mean of y - weight D'p after some of the last, in float64."""
        late = min((self.n_steps + n_steps) // LATE, n_steps) // STEPS_AT_ONCE
        image, share = np.zeros(y.shape), 1.0 / (late + 1)

        def add_rows(block: slice) -> None:
            add_image(y, self.p, weight, share, block.start, block.stop, image)

        for taken in (n_steps - late * STEPS_AT_ONCE, *[STEPS_AT_ONCE] * late):
            self.advance(taken)
            run_blocks(add_rows, split_evenly(y.shape[0], thread_count()))
        return image

    def _advance_blocks(self, taken: int) -> None:
        rows, dtype = self.y.shape[0], self.y.dtype.type
        k = self.n_steps + 1 + np.arange(taken)
        momenta = ((k - 1) / (k + DAMPING)).astype(dtype)
        fixed = (momenta, dtype(self.step), self.isotropic, *self._spare)

        def advance_rows(block: slice) -> None:
            height, n = block.stop - block.start + 2 * taken, self.y.shape[1]
            fields, lines = np.empty((2, 2, height, n), dtype), np.zeros((9, n), dtype)
            advance(self.y, self.p, self._before, block.start, block.stop, *fixed, *fields, lines)

        run_blocks(advance_rows, split_evenly(rows, max(thread_count(), ceil(rows / ROWS_AT_ONCE))))
        self.p, self._before, self._spare = *self._spare, [self.p, self._before]
        self.n_steps += taken

    def room_for_regions(self) -> tuple[Array, Array, Array]:
        """Return the arrays of the next step as room for a whole number, a sum and a count for each pixel."""
        n = self.y.size
        first, second = (spare.reshape(-1) for spare in self._spare)
        whole = first.view(np.int32)
        return whole[:n], second.view(np.float64)[:n], whole[n : 2 * n]

    def start_at(self, y: Array) -> None:
        """Go on with other data, from the field that there is, without momentum."""
        self.y = y
        self._before[...] = self.p
        self.n_steps = 0


def tv_denoised(
    y: Array, weight: float, *, goal: float, isotropic: bool = True, max_iter: int = 5000
) -> tuple[Array, Array, Trace]:
    r"""Return the image, the dual field and the trace of :math:`\min_x \tfrac12\|x - y\|^2 + \lambda\,TV(x)`.

    Objective and dual are 1-strongly convex, in x and in :math:`y - D'p`: the two squared distances to the minimizer
    sum to at most twice the gap, and the image half way between is within :math:`\sqrt{\mathrm{gap} / n}` of it, root
    mean square. Steps end where this is at most ``goal``.
    """
    span = float(y.max() - y.min()) if y.size else 0.0
    trace = Trace()
    if weight == 0.0 or span == 0.0:
        trace.add(iteration=0, gap=0.0, error_bound=0.0)
        return y.copy(), np.zeros((2, *y.shape)), trace
    middle = float(y.min()) + 0.5 * span
    with own_threads():
        dtype = np.float32 if goal >= FOR_FLOAT32 * span else np.float64
        steps = DualField(((y - middle) / weight).astype(dtype), isotropic)  # differences count: their digits are kept
        ahead, taken, best = min(FIRST_CHECK, max_iter), 0, inf
        while True:
            image = steps.mean_image(ahead, y, weight)
            taken += ahead
            gap, dual = judged(steps, image, y, weight)
            trace.add(iteration=taken, gap=gap, error_bound=sqrt(gap / y.size))
            if trace["error_bound"][-1] <= goal or taken >= max_iter:
                half_way(y, dual, image)
                return image, dual, trace
            del image, dual  # the steps need the room
            if gap > 2.0 * best:  # the longer step did not work: go on with the one that is proved to
                steps.step = SAFE_STEP
                steps.start_at(steps.y)
            best = min(best, gap)
            ahead = min(_steps_ahead(trace, goal), max_iter - taken)


def _steps_ahead(trace: Trace, goal: float) -> int:
    """Return after how many more steps the bound will be below its goal, if it goes on to fall as it fell."""
    (*_, k), (*_, bound) = trace["iteration"], trace["error_bound"]
    fall = FALL
    if len(trace) > 1:
        earlier = float(np.log(trace["error_bound"][-2] / bound) / np.log(k / trace["iteration"][-2]))
        fall = min(max(earlier, 0.5), 3.0)
    return ceil(k * (min(max((bound / goal) ** (1.0 / fall), 1.04), LONGEST_WAY) - 1.0))


def judged(steps: DualField, image: Array, y: Array, weight: float) -> tuple[float, Array]:
    """Flatten an image where the dual field allows; return the gap of both, in float64, and the field."""
    dual = np.empty((2, *y.shape))
    feasible_dual(steps.p, weight, steps.isotropic, dual)
    limits = ((1.0 - FLAT) * weight, ALONG * weight)
    flattened(dual, *limits, steps.isotropic, image.reshape(-1), *steps.room_for_regions())
    return max(float(gap_of(image, y, dual, weight, steps.isotropic)), 0.0), dual
