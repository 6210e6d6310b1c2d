"""Lower bounds of margins over all inputs within a ball, by linear functions pulled back through the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.neural_network.robustness.relaxations import (
    AFFINE,
    OTHERS,
    LinearFunctions,
    RelaxedAffine,
    RelaxedStep,
    ValueRanges,
)
from pellucid.proofs.neural_network.network_steps import ConvolutionStep, DenseStep, Network

MEMORY = 1 << 27
"""Bytes that the coefficients of a step may take at a time."""
Narrow = Callable[[int, ValueRanges], ValueRanges]
"""From a step and its ranges by intervals to narrower ones."""
NEIGHBORS = 256
"""Values of images that are bounded together."""


@dataclass(frozen=True, eq=False)
class Ball:
    """All inputs at most ``radius`` away from each of B centers, in the norm inf or 2."""

    center: Tensor  # (inputs, B)
    radius: Tensor  # (B,)
    norm: float

    def box(self) -> ValueRanges:
        """Return the smallest box around the ball."""
        return ValueRanges(self.center - self.radius, self.center + self.radius)


class MarginSearch:
    """Bounds of the margins of classes within balls around given examples.

    Most of the work goes into the ranges of the values in front of rectifiers. They are kept: for a radius nearby,
    their widths are about proportional to the radius, and bounds with such ranges cost little.
    """

    def __init__(
        self,
        network: Network,
        center: Tensor,
        classes: Tensor,
        *,
        norm: float,
        arithmetic: str = "exact",
        intervals_only: bool = False,
    ) -> None:
        self.network, self.center, self.classes, self.norm = network, center, classes, norm
        self.arithmetic = arithmetic
        self.affine = {
            index: AFFINE[type(step)](step, center.dtype)
            for index, step in enumerate(network.steps)
            if type(step) in AFFINE
        }
        self.narrowed = {} if intervals_only else network.narrowed()
        self.radii = torch.zeros(center.shape[1], dtype=torch.float64)
        nominal = self._relax(Ball(center, torch.zeros_like(center[0]), norm), lambda _index, ranges: ranges)
        self.nominal = {index: nominal[index].ranges.lower for index in self.narrowed}
        self.ranges = {index: [side.clone() for side in nominal[index].ranges] for index in self.narrowed}

    def provable(self, rows: Tensor, radii: Tensor) -> Tensor:
        """Return which radius the bounds for these radii prove, for each of some rows; it may be smaller or larger.

        On the ball of the radius r the margin is at least ``value - r * slope``, so that ``value / slope`` is proved if
        it is at most r. Otherwise r is, and larger ones may be.
        """
        ball = self._ball(rows, radii)
        relaxed = self._relax(ball)
        self.radii[rows] = radii
        for index, kept in self.ranges.items():
            for old, new in zip(kept, relaxed[index].ranges, strict=True):
                old[:, rows] = new
        return self._proved(relaxed, rows, ball)

    def estimated(self, rows: Tensor, radii: Tensor) -> Tensor:
        """Return about the same, by ranges that are those of the last radius, made wider or narrower."""
        ball = self._ball(rows, radii)
        share = (radii / self.radii[rows]).to(self.center.dtype)

        def scaled(index: int, ranges: ValueRanges) -> ValueRanges:
            nominal = self.nominal[index][:, rows]
            lower, upper = (nominal + (side[:, rows] - nominal) * share for side in self.ranges[index])
            return ValueRanges(torch.maximum(ranges.lower, lower), torch.minimum(ranges.upper, upper))

        return self._proved(self._relax(ball, scaled), rows, ball)

    def _ball(self, rows: Tensor, radii: Tensor) -> Ball:
        return Ball(self.center[:, rows], radii.to(self.center.dtype), self.norm)

    def _proved(self, relaxed: list[RelaxedStep], rows: Tensor, ball: Ball) -> Tensor:
        own = self.classes[rows].unsqueeze(0)
        value, slope = _margins(relaxed, self.network, ball, self.classes[rows])
        if self.arithmetic == "module":
            lost = _module_errors(relaxed, self.network)
            value = value - lost - lost.gather(0, own)
        value.scatter_(0, own, torch.inf)
        return (value / slope).amin(0).double().nan_to_num(nan=-torch.inf, posinf=torch.inf)

    def _relax(self, ball: Ball, narrow: Narrow | None = None) -> list[RelaxedStep]:
        """Return each step relaxed on the ball: by intervals, and by linear bounds where a rectifier's sign is open."""
        relaxed: list[RelaxedStep] = [_Input(ball)]
        for index, step in enumerate(self.network.steps[1:], 1):
            before = [relaxed[source].ranges for source in step.sources]
            if index not in self.affine:
                relaxed.append(OTHERS[type(step)](step, *before))
            elif isinstance(step, DenseStep | ConvolutionStep) and self.network.sees_only_input(step.sources[0]):
                relaxed.append(_first_affine(self.affine[index], before[0], ball))
            else:
                relaxed.append(self.affine[index].over(before[0]))
            if index in self.narrowed:
                ranges = relaxed[-1].ranges
                if narrow is None:
                    relaxed[-1].ranges = _narrowed(relaxed, self.network, ball, is_all=self.narrowed[index])
                else:
                    relaxed[-1].ranges = narrow(index, ranges)
        return relaxed


class _Input(RelaxedStep):
    """The input of the network."""

    def __init__(self, ball: Ball) -> None:
        self.ranges = ball.box()

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return nothing: there is nothing before."""
        return []

    def error(self, *before: Tensor) -> Tensor:
        """Return 0: inputs are what they are."""
        return torch.zeros_like(self.ranges.lower)


def _first_affine(step: RelaxedAffine, before: ValueRanges, ball: Ball) -> RelaxedAffine:
    """Return the first affine step: each value moves by the dual norm of its weights times the radius."""
    middle, radius = (before.lower + before.upper) / 2, (before.upper - before.lower) / 2
    return step.around(middle, step.weigh(radius.square(), 2).sqrt() if ball.norm == 2 else step.weigh(radius, 1))


def _module_errors(relaxed: list[RelaxedStep], network: Network) -> Tensor:
    """Return how far scores that the module computes in its precision can be off, about: ``(C, B)``."""
    unit, errors = float(np.finfo(network.module_precision).eps), [torch.zeros_like(relaxed[0].ranges.lower)]
    for step, after in zip(network.steps[1:], relaxed[1:], strict=True):
        before = [errors[source] for source in step.sources]
        if not isinstance(after, RelaxedAffine):
            errors.append(after.error(*before))
            continue
        size = torch.maximum(*(side.abs() for side in relaxed[step.sources[0]].ranges))
        rounded = unit * after.roundings * (after.weigh(size, 1) + after.shift.abs())
        errors.append(after.weigh(before[0], 1) + rounded)
    return errors[-1]


def _linear_bounds(
    relaxed: list[RelaxedStep], network: Network, index: int, functions: LinearFunctions, ball: Ball
) -> tuple[Tensor, Tensor]:
    """Return ``value`` and ``slope`` of lower bounds ``value - radius * slope`` of functions of a step, ``(F,)``."""
    waiting = {index: functions}
    value = functions.A.new_zeros(functions.A.shape[1])
    for number in range(index, 0, -1):
        if number not in waiting:
            continue
        functions = waiting.pop(number)
        value += relaxed[number].offset(functions)
        for source, pulled in zip(network.steps[number].sources, relaxed[number].pull_back(functions), strict=True):
            n_values = network.steps[source].n_values
            waiting[source] = waiting[source].plus(pulled, n_values) if source in waiting else pulled
    functions = waiting[0]
    value += (functions.A * functions.pick(ball.center)).sum(0)
    return value, functions.A.norm(dim=0) if ball.norm == 2 else functions.A.abs().sum(0)


def _margins(relaxed: list[RelaxedStep], network: Network, ball: Ball, classes: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``value`` and ``slope`` of the margin of the class above each class, ``(C, B)``."""
    count, last = network.classes, len(network.steps) - 1
    each = torch.eye(count, dtype=ball.center.dtype)
    found = []
    for rows in torch.arange(len(classes)).split(max(1, _together(network, ball) // count)):
        A = (each[:, classes[rows]].unsqueeze(1) - each.unsqueeze(2)).flatten(1)  # (C, C * rows)
        functions = LinearFunctions(A, torch.arange(count), rows.repeat(count))
        found.append(_linear_bounds(relaxed, network, last, functions, ball))
    value, slope = (torch.cat([part[side].view(count, -1) for part in found], 1) for side in (0, 1))
    return value, slope


def _narrowed(relaxed: list[RelaxedStep], network: Network, ball: Ball, *, is_all: bool) -> ValueRanges:
    """Return the last step's ranges with linear bounds of values whose sign is open, and of all upper ends if asked.

    The side towards 0 comes first: often it settles the sign, and then the other one need not matter.
    """
    lower, upper = relaxed[-1].ranges
    index, together = len(relaxed) - 1, _together(network, ball)
    towards = torch.where(lower + upper > 0, 1.0, -1.0).to(lower.dtype)
    for signs in (towards, -towards):
        for places, owner in _groups(
            (upper > 0) & ((lower < 0) | (is_all & (signs < 0))), network.steps[index].shape, together
        ):
            sign = signs[places, owner]
            functions = _units(places, owner, sign)
            value, slope = _linear_bounds(relaxed, network, index, functions, ball)
            bound = value - ball.radius[functions.owner] * slope
            for side, better, which in ((lower, torch.maximum, sign > 0), (upper, torch.minimum, sign < 0)):
                place = places[which], owner[which]
                side[place] = better(side[place], (sign * bound)[which])
    return ValueRanges(lower, upper)


def _units(places: Tensor, owner: Tensor, sign: Tensor) -> LinearFunctions:
    """Return functions each of which is one value, or minus that."""
    seen, row = places.unique(return_inverse=True)
    A = sign.new_zeros((len(seen), len(places)))
    A[row, torch.arange(len(places))] = sign
    is_common = bool((owner == owner[0]).all())
    return LinearFunctions(A, seen, owner[:1] if is_common else owner, is_diagonal=torch.equal(seen, places))


def _groups(is_wanted: Tensor, shape: tuple[int, ...], together: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield places and examples of values, in groups that see nearly the same values before them.

    In an image, these are neighbors, of all examples; else all values of one example.
    """
    places, owner = is_wanted.nonzero().unbind(1)
    if len(shape) == 3 and shape[1] * shape[2] > 1:
        groups = (places % (shape[1] * shape[2])).argsort(stable=True).split(NEIGHBORS)
    elif len(places) > NEIGHBORS:
        groups = owner.argsort(stable=True).split(torch.bincount(owner).tolist())
    else:
        groups = (torch.arange(len(places)),)
    for group in groups:
        for part in group.split(together):
            if len(part):
                yield places[part], owner[part]


def _together(network: Network, ball: Ball) -> int:
    """Return how many functions fit into the memory."""
    largest = max(
        step.n_values if not isinstance(step, ConvolutionStep) else step.n_values * step.weight[0].size
        for step in network.steps
    )
    return max(1, MEMORY // (largest * ball.center.element_size()))
