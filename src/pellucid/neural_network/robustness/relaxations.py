r"""Each step of a network between two linear functions, on the values that can occur; for the search, on torch.

If for all inputs in question :math:`\text{score} \ge A \cdot \text{output} + d`, then a relaxed step gives
:math:`\text{score} \ge A' \cdot \text{source} + d'`. Rounding is left out of account: the proof is another one's task.

Shapes: examples and functions come last, ``(values, B)`` and ``(seen values, F)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pellucid.core.types import Array
from pellucid.proofs.neural_network.network_steps import (
    ConvolutionStep,
    DenseStep,
    MaximumStep,
    NetworkStep,
    RearrangementStep,
    RectifierStep,
    ScalingStep,
    Shape,
    SumStep,
)

SPARE = 32
"""Roundings of single numbers in an affine step, beside those of its sums."""


class ValueRanges(NamedTuple):
    """The lowest and the highest value of every number that a step makes, ``(values, B)``."""

    lower: Tensor
    upper: Tensor


@dataclass(frozen=True, eq=False)
class LinearFunctions:
    """F linear functions of a step's values, each for one example, of which only those at ``seen`` places count."""

    A: Tensor  # (seen, F)
    seen: Tensor  # (seen,)
    owner: Tensor  # the example of each function, (F,), or of all of them, (1,)
    is_diagonal: bool = False  # whether function i sees only place i

    def pick(self, values: Tensor) -> Tensor:
        """Return what each function sees of ``(values, B)``: (seen, F), or (seen, 1) for a common owner."""
        if len(self.owner) == 1:
            return values[:, self.owner][self.seen]
        return values[self.seen].index_select(1, self.owner)

    def at(self, seen: Tensor, A: Tensor) -> LinearFunctions:
        """Return functions for the same examples."""
        return LinearFunctions(A, seen, self.owner)

    def plus(self, other: LinearFunctions, n_values: int) -> LinearFunctions:
        """Return the sums of functions of the same step."""
        if torch.equal(self.seen, other.seen):
            return self.at(self.seen, self.A + other.A)
        A = self.A.new_zeros((n_values, self.A.shape[1]))
        A.index_add_(0, self.seen, self.A).index_add_(0, other.seen, other.A)
        return self.at(torch.arange(n_values), A)


class RelaxedStep(ABC):
    """A step on the ranges of its sources, with the ranges of its values."""

    ranges: ValueRanges

    @abstractmethod
    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return the functions of each source."""

    def offset(self, functions: LinearFunctions) -> Tensor:
        """Return what the step adds to the bounds, ``(F,)``."""
        return functions.A.new_zeros(functions.A.shape[1])

    def error(self, *before: Tensor) -> Tensor:
        """Return how far values are off if those of the sources are, ``(values, B)``: as far, if nothing is said."""
        return before[0]


class RelaxedAffine(RelaxedStep):
    """An affine step is its own relaxation; subclasses say what its weights do.

    Its ranges are those of intervals, unless ``reach`` says how far each value moves from that of the middle.
    """

    def __init__(self, shift: Array, terms: int, dtype: torch.dtype) -> None:
        self.shift, self.roundings = _tensor(shift, dtype).unsqueeze(1), terms + SPARE

    @abstractmethod
    def weigh(self, values: Tensor, power: int = 0) -> Tensor:
        """Return the weights, or their absolute values to a power, times ``(inputs, B)``."""

    def over(self, before: ValueRanges) -> RelaxedAffine:
        """Set the ranges by intervals."""
        middle, radius = (before.lower + before.upper) / 2, (before.upper - before.lower) / 2
        return self.around(middle, self.weigh(radius, 1))

    def around(self, middle: Tensor, reach: Tensor) -> RelaxedAffine:
        """Set the ranges to all values at most ``reach`` from those that ``middle`` has."""
        values = self.weigh(middle) + self.shift
        self.ranges = ValueRanges(values - reach, values + reach)
        return self

    def offset(self, functions: LinearFunctions) -> Tensor:
        """Return the coefficients times the shift."""
        return self.shift[functions.seen].T.matmul(functions.A).squeeze(0)


class RelaxedDense(RelaxedAffine):
    """A matrix."""

    def __init__(self, step: DenseStep, dtype: torch.dtype) -> None:
        super().__init__(step.shift, step.weight.shape[1], dtype)
        self.weight = _tensor(step.weight, dtype)

    def weigh(self, values: Tensor, power: int = 0) -> Tensor:
        """Return ``W z``."""
        return _to_power(self.weight, power) @ values

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return ``W' A``, for the outputs that are seen."""
        weight = self.weight[functions.seen]
        A = weight.T * functions.A.diagonal() if functions.is_diagonal else weight.T @ functions.A
        return [functions.at(torch.arange(weight.shape[1]), A)]


class RelaxedScaling(RelaxedAffine):
    """One weight per value."""

    def __init__(self, step: ScalingStep, dtype: torch.dtype) -> None:
        super().__init__(step.shift, 1, dtype)
        self.weight = _tensor(step.weight, dtype).unsqueeze(1)

    def weigh(self, values: Tensor, power: int = 0) -> Tensor:
        """Return the values times their weights."""
        return _to_power(self.weight, power) * values

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return the coefficients times the weights: a diagonal matrix is its own transpose."""
        return [functions.at(functions.seen, functions.A * self.weight[functions.seen])]


class RelaxedConvolution(RelaxedAffine):
    """A convolution, whose transpose adds each output's filter to the part of the image where it looked."""

    def __init__(self, step: ConvolutionStep, dtype: torch.dtype) -> None:
        super().__init__(np.repeat(step.shift, np.prod(step.output_image[1:])), step.weight[0].size, dtype)
        self.step, self.weight = step, _tensor(step.weight, dtype)
        # (groups, weights of a filter, outputs of a group)
        self.filters = self.weight.flatten(1).view(step.groups, -1, self.weight[0].numel()).transpose(1, 2)

    def weigh(self, values: Tensor, power: int = 0) -> Tensor:
        """Return the convolution of each example."""
        step, images = self.step, values.T.reshape(-1, *self.step.input_image)
        weight = _to_power(self.weight, power)
        return (
            functional.conv2d(images, weight, None, step.stride, step.padding, step.dilation, step.groups).flatten(1).T
        )

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return the transposed convolution of the smallest part of the image that is seen."""
        step, window = self.step, _window(functions.seen, self.step.output_image)
        part = _cut_out(functions, window, step.output_image)  # (channels, height, width, F)
        channels, kernel = self.weight.shape[1] * step.groups, self.weight.shape[2:]
        looks = self.filters @ part.view(step.groups, self.filters.shape[2], -1)
        looks = looks.view(channels, *kernel, *part.shape[1:])
        spans = [step.stride[axis] * (part.shape[axis + 1] - 1) + 1 for axis in (0, 1)]
        reach = [span + step.dilation[axis] * (kernel[axis] - 1) for axis, span in enumerate(spans)]
        image = part.new_zeros((channels, *reach, part.shape[3]))
        for row in range(kernel[0]):
            for column in range(kernel[1]):
                top, left = row * step.dilation[0], column * step.dilation[1]
                seen = image[:, top : top + spans[0] : step.stride[0], left : left + spans[1] : step.stride[1]]
                seen += looks[:, row, column]
        top, left = (window[2 * axis] * step.stride[axis] - step.padding[axis] for axis in (0, 1))
        return [functions.at(*_inside(image, top, left, step.input_image))]


def _window(seen: Tensor, image: Shape) -> tuple[int, int, int, int]:
    """Return top, bottom, left and right of the smallest part of the image with all these places."""
    rows, columns = (seen // image[2]) % image[1], seen % image[2]
    return int(rows.min()), int(rows.max()) + 1, int(columns.min()), int(columns.max()) + 1


def _places(channels: int, window: tuple[int, int, int, int], image: Shape) -> Tensor:
    """Return the places of a part of an image, (channels * height * width,)."""
    top, bottom, left, right = window
    pixels = torch.arange(top, bottom).unsqueeze(1) * image[2] + torch.arange(left, right)
    return (torch.arange(channels).view(-1, 1, 1) * (image[1] * image[2]) + pixels).flatten()


def _cut_out(functions: LinearFunctions, window: tuple[int, int, int, int], image: Shape) -> Tensor:
    """Return the coefficients of a part of the image, 0 for what is not seen: ``(channels, height, width, F)``."""
    top, bottom, left, right = window
    seen, A, height, width = functions.seen, functions.A, bottom - top, right - left
    part = A.new_zeros((image[0] * height * width, A.shape[1]))
    channel, row, column = seen // (image[1] * image[2]), (seen // image[2]) % image[1], seen % image[2]
    part[(channel * height + row - top) * width + column - left] = A
    return part.view(image[0], height, width, A.shape[1])


def _inside(part: Tensor, top: int, left: int, image: Shape) -> tuple[Tensor, Tensor]:
    """Return the places and the coefficients of a part without what fell on the padding."""
    bottom, right = min(image[1], top + part.shape[1]), min(image[2], left + part.shape[2])
    above, before = max(0, -top), max(0, -left)
    part = part[:, above : bottom - top, before : right - left]
    return _places(image[0], (top + above, bottom, left + before, right), image), part.flatten(0, 2)


class RelaxedRectifier(RelaxedStep):
    r"""A rectifier on :math:`[l, u]`: the identity or :math:`sz` if the sign is known, else between two lines.

    From above the line through the ends, from below that of slope 1 or :math:`s`, whichever leaves the smaller area.
    """

    def __init__(self, step: RectifierStep, before: ValueRanges) -> None:
        lower, upper = before
        low, high = (torch.where(side > 0, side, step.slope * side) for side in before)
        self.ranges = ValueRanges(low, high)
        is_open = (lower < 0) & (upper > 0)
        between = (high - low) / torch.where(is_open, upper - lower, 1.0)
        one, slope = torch.ones_like(lower), torch.full_like(lower, step.slope)
        steady = torch.where(lower >= 0, one, slope)
        self.lower_slope = torch.where(is_open, torch.where(upper >= -lower, one, slope), steady)
        self.upper_slope = torch.where(is_open, between, steady)
        self.upper_shift = torch.where(is_open, high - between * upper, 0.0)

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return positive coefficients times the lower slopes, negative ones times the upper slopes."""
        upper = functions.pick(self.upper_slope)
        passes = upper.ne(0).any(1)  # nothing comes through where a rectifier is shut for all examples
        upper, kept = upper[passes], functions.at(functions.seen[passes], functions.A[passes])
        return [kept.at(kept.seen, torch.where(kept.A > 0, kept.pick(self.lower_slope), upper).mul_(kept.A))]

    def offset(self, functions: LinearFunctions) -> Tensor:
        """Return negative coefficients times the height of the upper lines at 0."""
        return functions.A.clamp(max=0).mul_(functions.pick(self.upper_shift)).sum(0)


class RelaxedMaximum(RelaxedStep):
    """The largest of a window: at least the entry with the highest middle, at most the highest upper end.

    Where that entry's lower end is above all other upper ends, the maximum is that entry.
    """

    def __init__(self, step: MaximumStep, before: ValueRanges) -> None:
        self.windows, self.n_before = torch.as_tensor(step.windows), len(before.lower)
        lower, upper = (
            torch.cat([side, torch.full_like(side[:1], -inf)])[self.windows] for side in before
        )  # (outputs, entries, B); place -1 is the padding
        self.ranges = ValueRanges(lower.amax(1), upper.amax(1))
        best = (lower + upper).argmax(1, keepdim=True)
        others = upper.scatter(1, best, -inf).amax(1)
        self.is_known = lower.gather(1, best).squeeze(1) >= others
        self.highest = torch.where(self.is_known, 0.0, self.ranges.upper)
        self.place = self.windows.unsqueeze(2).expand_as(lower).gather(1, best).squeeze(1)  # (outputs, B)

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return the coefficients at the places of the chosen entries."""
        A = torch.where((functions.A > 0) | functions.pick(self.is_known), functions.A, 0.0)
        seen = self.windows[functions.seen].unique()
        seen = seen[seen >= 0]
        order = torch.empty(self.n_before, dtype=torch.long)
        order[seen] = torch.arange(len(seen))
        chosen = order[functions.pick(self.place)].expand_as(A)
        return [functions.at(seen, A.new_zeros((len(seen), A.shape[1])).scatter_add_(0, chosen, A))]

    def offset(self, functions: LinearFunctions) -> Tensor:
        """Return negative coefficients times the highest upper ends, where the maximum is not known."""
        return functions.A.clamp(max=0).mul_(functions.pick(self.highest)).sum(0)

    def error(self, *before: Tensor) -> Tensor:
        """Return the largest error in each window."""
        return torch.cat([before[0], torch.zeros_like(before[0][:1])])[self.windows].amax(1)


class RelaxedRearrangement(RelaxedStep):
    """The same values at other places, with zeros."""

    def __init__(self, step: RearrangementStep, before: ValueRanges) -> None:
        self.places = torch.as_tensor(step.places)
        self.ranges = ValueRanges(*map(self.error, before))

    def error(self, *before: Tensor) -> Tensor:
        """Return the errors where the values are."""
        return torch.cat([before[0], torch.zeros_like(before[0][:1])])[self.places]

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return the coefficients at the places from which the values came."""
        places = self.places[functions.seen]
        is_value = places >= 0
        if is_value.all():
            return [functions.at(places, functions.A)]
        return [functions.at(places[is_value], functions.A[is_value])]


class RelaxedSum(RelaxedStep):
    """The sum of two sources."""

    def __init__(self, _step: SumStep, first: ValueRanges, second: ValueRanges) -> None:
        self.ranges = ValueRanges(first.lower + second.lower, first.upper + second.upper)

    def pull_back(self, functions: LinearFunctions) -> list[LinearFunctions]:
        """Return the same coefficients for both."""
        return [functions, functions]

    def error(self, *before: Tensor) -> Tensor:
        """Return the sum of both errors."""
        return before[0] + before[1]


AFFINE: dict[type[NetworkStep], type] = {
    DenseStep: RelaxedDense,
    ScalingStep: RelaxedScaling,
    ConvolutionStep: RelaxedConvolution,
}
OTHERS: dict[type[NetworkStep], type] = {
    RectifierStep: RelaxedRectifier,
    MaximumStep: RelaxedMaximum,
    RearrangementStep: RelaxedRearrangement,
    SumStep: RelaxedSum,
}


def _to_power(weight: Tensor, power: int) -> Tensor:
    return weight if power == 0 else weight.abs() if power == 1 else weight.square()


def _tensor(values: Array, dtype: torch.dtype) -> Tensor:
    return torch.as_tensor(np.array(values), dtype=dtype)
