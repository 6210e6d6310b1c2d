"""Total variation: the image with the fewest and smallest jumps that explains what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, floor, inf, log, log2
from typing import ClassVar

import numpy as np

from pellucid.core.checks import check_nonnegative, check_one_of, check_positive, check_whole
from pellucid.core.threads import own_threads
from pellucid.core.types import Array
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Identity, Mask, Operator
from pellucid.vision.restoration.total_variation.denoising import DualField, tv_denoised
from pellucid.vision.restoration.total_variation.denoising_kernels import feasible_dual, primal_image
from pellucid.vision.restoration.total_variation.inverting import (
    STEPS_INSIDE,
    AlternatingTurns,
    range_of,
    tv_inverted,
)

SMALLEST, LARGEST = 1e-100, 1e100
"""Data between these are taken as they are."""

PROBE = 0.1
"""Length of the random change, per pixel, in units of sigma, by which the divergence is measured."""

PROBE_STEPS, PROBE_TURNS = 40, 10
"""Steps and turns for a weight that is only tried, each from the end of the one before."""

FIRST_WEIGHT = {"Identity": 0.7}
FIRST_WEIGHT_BEHIND = 0.15
"""Weights that are tried first, in units of sigma: what photographs needed."""

FACTOR = 1.7
"""From one weight that is tried to the next."""

LARGEST_TRIED = 352
"""Rows and columns, at most, that weights are tried on where A is the identity."""

MOST_TRIED = 8
"""Weights that are tried at most."""

WITHOUT_NOISE = 2e-4
"""Weight as a share of the range, where pixels are missing and no noise says how much to smooth."""


@dataclass(frozen=True)
class TotalVariation(RestorationMethod):
    r"""The image with small total variation that is near what was measured (Rudin, Osher and Fatemi 1992).

    .. math:: \min_x\ \tfrac12\|Ax - y\|_2^2 + \lambda \sum_i
        \sqrt{(x_{i\downarrow} - x_i)^2 + (x_{i\rightarrow} - x_i)^2}

    Differences beyond the border are 0. Noise is flattened and edges stay; slopes turn into stairs.

    Parameters
    ----------
    weight : float, optional
        :math:`\lambda`, at least 0, in gray levels. None takes the one of least estimated error (Stein's estimate of
        the error of :math:`Ax`).
    accuracy : float, default=2e-5
        Distance to the minimizer to reach where A is the identity: root mean square, as a share of the range of y (of
        the luminance, if that is larger). Of 0 to 255, 2e-5 are 0.005 gray levels.
    tolerance : float, default=1e-3
        Gap to reach behind another operator, as a share of the objective.
    isotropic : bool, default=True
        Whether a jump counts by its length; if not, down and right are counted apart.
    max_iter : int, default=5000
        Most steps on the dual problem.

    Examples
    --------
    Two halves move towards each other by the weight over their width:

    >>> from pellucid.vision.restoration.operators import Identity
    >>> y = np.array([[0.0, 0.0, 10.0, 10.0]])
    >>> TotalVariation(weight=2.0).solve(y, Identity(), 1.0, 10.0).image.round(3)
    array([[1., 1., 9., 9.]])
    """

    weight: float | None = None
    accuracy: float = 2e-5
    tolerance: float = 1e-3
    isotropic: bool = True
    max_iter: int = 5000
    takes: ClassVar[tuple[str, ...]] = ("Identity", "Mask", "Blur", "BlurDecimate", "Downscale")
    leaves: ClassVar[tuple[str, ...]] = ("dual",)

    def __post_init__(self) -> None:
        if self.weight is not None:
            check_nonnegative(weight=self.weight)
        check_positive(accuracy=self.accuracy, tolerance=self.tolerance)
        check_one_of((True, False), isotropic=self.isotropic)
        check_whole(1, max_iter=self.max_iter)

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the minimizer, with the dual field that proves it."""
        return self._solve_scaled(y, operator, sigma, 0.0)

    def solve_planes(self, y: Array, operator: Operator, sigma: float, peak: float) -> tuple[RestoredPlane, ...]:
        """Return the answer for each plane; differences of color are as accurate as the luminance, though smaller."""
        low, high = range_of(y[0], operator)
        return tuple(self._solve_scaled(plane, operator, sigma, high - low) for plane in y)

    def _solve_scaled(self, y: Array, operator: Operator, sigma: float, least_span: float) -> RestoredPlane:
        largest = float(np.abs(y).max())
        if not 0.0 < largest < inf or SMALLEST < largest < LARGEST:
            return self._solve(y, operator, sigma, least_span)
        unit = 2.0 ** floor(log2(largest))  # squares of such numbers would not be finite, or 0
        given = None if self.weight is None else self.weight / unit
        answer = replace(self, weight=given)._solve(y / unit, operator, sigma / unit, least_span / unit)
        chosen = {name: value * unit for name, value in answer.chosen.items()}
        return RestoredPlane(answer.image * unit, chosen, answer.trace, {"dual": answer.evidence["dual"] * unit})

    def _solve(self, y: Array, operator: Operator, sigma: float, least_span: float) -> RestoredPlane:
        low, high = range_of(y, operator)
        span = max(high - low, least_span)
        weight = self.weight if self.weight is not None else chosen_weight(y, operator, sigma, self.isotropic)
        chosen = {} if self.weight is not None else {"weight": weight}
        if isinstance(operator, Identity):
            image, dual, trace = tv_denoised(
                y, weight, goal=self.accuracy * span, isotropic=self.isotropic, max_iter=self.max_iter
            )
        else:
            image, dual, trace = tv_inverted(
                y,
                operator,
                max(weight, np.finfo(np.float64).eps * span),
                tolerance=self.tolerance,
                isotropic=self.isotropic,
                max_turns=self.max_iter // STEPS_INSIDE,
            )
        return RestoredPlane(image, chosen, trace, {"dual": dual})


def chosen_weight(y: Array, operator: Operator, sigma: float, isotropic: bool) -> float:
    r"""Return the weight of least estimated error of :math:`Ax`, in the units of y.

    .. math:: \|Ax - y\|^2 + 2\sigma^2\,\mathrm{div}

    The divergence is that of the steps that were taken, found by taking them again for data changed a little.
    """
    low, high = range_of(y, operator) if y.size else (0.0, 0.0)
    if sigma == 0.0:
        return 0.0 if isinstance(operator, Identity) else WITHOUT_NOISE * (high - low)
    if low == high:
        return sigma
    if isinstance(operator, Identity):  # the middle of a large image says enough
        top, left = (max(0, (n - LARGEST_TRIED) // 2) for n in y.shape)
        y = np.ascontiguousarray(y[top : top + LARGEST_TRIED, left : left + LARGEST_TRIED])
    direction = np.random.default_rng(0).choice([-1.0, 1.0], size=y.shape)
    if isinstance(operator, Mask):
        direction[operator.missing] = 0.0
    twins = [y, y + PROBE * sigma * direction]
    if isinstance(operator, Identity):
        images = _trial_denoising(twins, isotropic)
    else:
        images = _trial_inverting(twins, operator, high - low, isotropic)

    def risk(log_weight: float) -> float:
        seen, changed = images(exp(log_weight) * sigma)
        divergence = float(np.vdot(direction, changed - seen)) / (PROBE * sigma)
        return float(np.sum((seen - y) ** 2)) + 2.0 * sigma**2 * divergence

    with own_threads():
        return sigma * exp(least_point(risk, log(FIRST_WEIGHT.get(operator.name, FIRST_WEIGHT_BEHIND)), log(FACTOR)))


def _trial_denoising(twins: list[Array], isotropic: bool) -> Callable[[float], list[Array]]:
    """Return the function that gives both images for a weight, after few steps from those for the weight before."""
    middle, shape = float(twins[0].mean()), twins[0].shape
    field, dual = DualField(np.empty(shape, np.float32), isotropic), np.empty((2, *shape))
    ended = [field.p.copy() for _ in twins]

    def images(weight: float) -> list[Array]:
        found = []
        for y, p in zip(twins, ended, strict=True):
            field.p[...] = p
            field.start_at(((y - middle) / weight).astype(np.float32))
            field.advance(PROBE_STEPS)
            p[...] = field.p
            feasible_dual(p, weight, isotropic, dual)
            primal_image(y, dual, x := np.empty(shape))
            found.append(x)
        return found

    return images


def _trial_inverting(
    twins: list[Array], operator: Operator, span: float, isotropic: bool
) -> Callable[[float], list[Array]]:
    """The same behind an operator; what is returned is A x."""
    turns = [AlternatingTurns(y, operator, span, isotropic) for y in twins]

    def images(weight: float) -> list[Array]:
        for one in turns:
            one.take(PROBE_TURNS, weight)
        return [operator.apply(one.x) for one in turns]

    return images


def least_point(function: Callable[[float], float], start: float, step: float) -> float:
    """Return where a function of one number is least: walk downhill, then the parabola through the last three points.

    Examples
    --------
    >>> round(least_point(lambda t: (t - 2.2) ** 2, 0.0, 1.0), 12)
    2.2
    """
    values = {k: function(start + k * step) for k in (0, 1)}
    direction = -1 if values[1] > values[0] else 1
    k = 1 if direction == 1 else 0
    while len(values) < MOST_TRIED:
        values[k + direction] = function(start + (k + direction) * step)
        if values[k + direction] >= values[k]:
            break
        k += direction
    if k - 1 not in values or k + 1 not in values:
        return start + k * step
    left, here, right = values[k - 1], values[k], values[k + 1]
    bend = left - 2.0 * here + right
    return start + step * (k + (0.5 * (left - right) / bend if bend > 0 else 0.0))
