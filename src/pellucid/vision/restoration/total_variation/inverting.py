"""Total variation behind an operator: the image and a copy of it in turn, stopped by a gap that holds inside a box."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.ndimage import distance_transform_edt

from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.normal_equations import shifted_solver
from pellucid.vision.restoration.operators import Mask, Operator
from pellucid.vision.restoration.total_variation.denoising import DualField
from pellucid.vision.restoration.total_variation.denoising_kernels import feasible_dual, primal_image

SHARE_DENOISED = 0.05
"""Weight of the denoising inside, as a share of the range of the data: it says how far one turn can move a pixel."""

STEPS_INSIDE = 10
"""Steps of denoising in a turn, from the dual field of the turn before."""

RELAXATION = 1.6
"""How far past the copy a turn goes: 1 is plain, 2 the limit."""

LOOK_EVERY = 10
"""Turns between two looks at the gap."""

CONJUGATE_STEPS = 5
"""Conjugate gradient steps in a turn where the operator is diagonal in no basis, from the copy of the turn before."""


class AlternatingTurns:
    r"""The alternating directions of Douglas and Rachford for :math:`\min_x \tfrac12\|Ax - y\|^2 + \lambda\,TV(x)`.

    In a turn v minimizes the first term and stays near x, x is v denoised, and u sums up by how much they differ.
    """

    def __init__(self, y: Array, operator: Operator, span: float, isotropic: bool) -> None:
        self.y, self.operator, self.isotropic = y, operator, isotropic
        shape = operator.restored_shape((y.shape[0], y.shape[1]))
        self.denoised = SHARE_DENOISED * span
        self.x = self.v = first_guess(y, operator, shape)
        self._u, self._dual = np.zeros(shape), np.zeros((2, *shape))
        self._middle, self._spread = float(self.x.mean()), operator.adjoint(y)
        self._field = DualField(np.zeros(shape, np.float32), isotropic)

    def take(self, n_turns: int, weight: float) -> None:
        """Take so many turns with this weight, from where the last ones ended."""
        rho = weight / self.denoised
        nearest = shifted_solver(self.operator, self.x.shape, rho, CONJUGATE_STEPS)
        for _ in range(n_turns):
            self.v = nearest(self._spread + rho * (self.x - self._u), self.v)
            target = RELAXATION * self.v + (1.0 - RELAXATION) * self.x + self._u
            self._field.start_at(((target - self._middle) / self.denoised).astype(np.float32))
            self._field.advance(STEPS_INSIDE)
            feasible_dual(self._field.p, self.denoised, self.isotropic, self._dual)
            self.x = np.empty(self.x.shape)
            primal_image(target, self._dual, self.x)
            self._u = target - self.x

    def dual(self, weight: float) -> Array:
        """Return the dual field of the whole problem, of vectors no longer than the weight."""
        return (weight / self.denoised) * self._dual


def tv_inverted(
    y: Array, operator: Operator, weight: float, *, tolerance: float, isotropic: bool = True, max_turns: int = 500
) -> tuple[Array, Array, Trace]:
    r"""Return the image, the dual field and the trace of :math:`\min_x \tfrac12\|Ax - y\|^2 + \lambda\,TV(x)`.

    Turns end where the gap is ``tolerance`` times the objective.
    """
    low, high = range_of(y, operator)
    trace = Trace()
    if low == high:
        shape = operator.restored_shape((y.shape[0], y.shape[1]))
        trace.add(iteration=0, objective=0.0, gap=0.0)
        return np.full(shape, low), np.zeros((2, *shape)), trace
    best_gap, best = inf, (y, y)
    with own_threads():
        turns = AlternatingTurns(y, operator, high - low, isotropic)
        for turn in range(LOOK_EVERY, max(max_turns, LOOK_EVERY) + 1, LOOK_EVERY):
            turns.take(LOOK_EVERY, weight)
            dual = turns.dual(weight)
            for image in (turns.x, turns.v):
                gap, objective = box_gap(image, dual, y, operator, weight, isotropic, low, high)
                if gap < best_gap:
                    best_gap, best = gap, (image, dual)
                    least = objective
            trace.add(iteration=turn, objective=least, gap=best_gap)
            if best_gap <= tolerance * least:
                break
    return *best, trace


def range_of(y: Array, operator: Operator) -> tuple[float, float]:
    """Return the smallest and the largest number that was measured."""
    seen = y[~operator.missing] if isinstance(operator, Mask) else y
    return float(seen.min()), float(seen.max())


def box_gap(
    x: Array, p: Array, y: Array, operator: Operator, weight: float, isotropic: bool, low: float, high: float
) -> tuple[float, float]:
    r"""Return how far, at most, the objective is above the least one of images with values in a box, and itself.

    For :math:`|p| \le \lambda` and :math:`q = y - Ax` the objective of any image z is at least
    :math:`\langle q, y\rangle - \tfrac12\|q\|^2 - \langle A'q - D'p, z\rangle`, and where z is in a box, which reaches
    half the range of the data beyond them, the last product is largest at one of its ends.
    """
    q = y - operator.apply(x)
    variation, along = _variation(x, p, isotropic)
    primal_image(operator.adjoint(q), p, mismatch := np.empty(x.shape))
    margin = 0.5 * (high - low)
    ends = np.where(mismatch > 0, high + margin, low - margin)
    gap = weight * variation - along + float(np.sum(mismatch * (ends - x)))
    return gap, 0.5 * float(np.sum(q * q)) + weight * variation


def _variation(x: Array, p: Array, isotropic: bool) -> tuple[float, float]:
    """Return the total variation of an image, and the product of its differences with a field."""
    down, right = np.zeros(x.shape), np.zeros(x.shape)
    down[:-1], right[:, :-1] = np.diff(x, axis=0), np.diff(x, axis=1)
    variation = np.hypot(down, right) if isotropic else np.abs(down) + np.abs(right)
    return float(np.sum(variation)), float(np.vdot(p[0], down) + np.vdot(p[1], right))


def first_guess(y: Array, operator: Operator, shape: tuple[int, int]) -> Array:
    """Return missing pixels as the nearest seen one, a blurred image as it is, an enlarged one by repetition."""
    if isinstance(operator, Mask):
        rows, columns = distance_transform_edt(operator.missing, return_distances=False, return_indices=True)
        return y[rows, columns]
    if shape == y.shape:
        return y.copy()
    rows, columns = ((np.arange(n) * m) // n for n, m in zip(shape, y.shape, strict=True))
    return y[rows[:, None], columns]
