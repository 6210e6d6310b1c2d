r"""Each step of a network between two linear functions, on the part of its input that can occur.

A *link* is a step together with what it does to a lower bound. If for all inputs in question
:math:`\text{score} \ge A \cdot \text{output} + d`, then :math:`\text{score} \ge A' \cdot \text{input} + d'` with

.. math:: A' = \texttt{pull\_back}(A), \qquad d' = d + \texttt{offset}(A) - \texttt{allowance}(A).

The allowance is what rounding can take away. Whatever the order of summation, a sum of :math:`n` products is off by at
most :math:`n u / (1 - n u)` times the sum of their absolute values, with the rounding error :math:`u`. So the error of
:math:`A'`, times the inputs, is at most ``terms * unit * (|A| . size)``, where ``size`` bounds the sum of absolute
values that makes each output, and ``terms`` counts the products behind one entry of :math:`A'`, of the offset, and a
few more. ``unit`` is :math:`2u`, which also covers :math:`1 / (1 - nu)` and the rounding of the allowance itself; 0
leaves rounding out of account, for a search.

Shapes: bounds ``(B, *shape)``, coefficients ``(B, Q, *shape)`` for Q bounds on each of B examples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, prod
from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.core.rounding import TINY
from pellucid.neural_network.robustness.steps import Affine, Maximum, Rectifier, Reshape, Shape

SPARE = 32
"""Roundings of single numbers on the way through a step, and of adding up the offsets of the steps."""


class Box(NamedTuple):
    """The lowest and the highest value of every number in a layer."""

    lower: Tensor
    upper: Tensor

    @property
    def size(self) -> Tensor:
        """The largest absolute value of every number."""
        return torch.maximum(self.lower.abs(), self.upper.abs())


def dot(A: Tensor, z: Tensor) -> Tensor:
    """Return the products of each example with its coefficients: ``(B, Q, *shape), (B, *shape) -> (B, Q)``."""
    return (A.flatten(2) @ z.flatten(1).unsqueeze(-1)).squeeze(-1)


class Link(ABC):
    """A step on a box of inputs, with the box of its outputs. See the module's docstring."""

    box: Box
    size: Tensor  # (B, *output_shape)

    def __init__(self, output_shape: Shape, unit: float) -> None:
        self.terms, self.unit = prod(output_shape) + SPARE, unit

    @abstractmethod
    def pull_back(self, A: Tensor) -> Tensor:
        """Return the coefficients of the inputs."""

    def offset(self, A: Tensor) -> Tensor:
        """Return what the step adds to the bounds, ``(B, Q)``."""
        return A.new_zeros(A.shape[:2])

    def allowance(self, A: Tensor) -> Tensor:
        """Return what rounding can take away from the bounds, ``(B, Q)``."""
        if not self.unit:
            return A.new_zeros(A.shape[:2])
        return self.terms * (self.unit * dot(A.abs(), self.size) + TINY)

    @abstractmethod
    def error(self, error: Tensor, unit: float) -> Tensor:
        """Return how far outputs are off if computed in arithmetic of this ``unit`` from inputs that are off too."""


class AffineLink(Link):
    """An affine step: exact but for rounding. Its box is that of intervals, unless a narrower radius is known."""

    def __init__(self, step: Affine, box: Box, unit: float, radius: Tensor | None = None) -> None:
        super().__init__(step.output_shape, unit)
        self.step, self.absolute = step, step.with_weight(torch.abs)
        self.size = self.absolute.apply(box.size) + step.shift_size
        middle = (box.lower + box.upper) / 2
        if radius is None:
            radius = self.absolute.apply(torch.maximum(box.upper - middle, middle - box.lower))
        radius = radius + unit * (step.terms + SPARE) * self.size
        middle = step.apply(middle) + step.shift
        self.box = Box(middle - radius, middle + radius)

    def pull_back(self, A: Tensor) -> Tensor:
        """Return the transposed weights times the coefficients."""
        return self.step.pull_back(A.flatten(0, 1)).view(*A.shape[:2], *self.step.input_shape)

    def offset(self, A: Tensor) -> Tensor:
        """Return the coefficients times the shift."""
        return A.flatten(2) @ self._flat_shift()

    def units(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return coefficients of the inputs, offset and allowance of single outputs, ``(B, Q)`` flat indices."""
        allowance = self.terms * (self.unit * self.size.flatten(1).gather(1, index) + (TINY if self.unit else 0.0))
        return self.step.units(index), self._flat_shift()[index], allowance

    def _flat_shift(self) -> Tensor:
        return self.step.shift.expand(self.step.output_shape).flatten()

    def error(self, error: Tensor, unit: float) -> Tensor:
        """Return errors of the inputs times the weights, and those of the sums."""
        share = unit * (self.step.terms + SPARE)
        return self.absolute.apply(error) * (1 + share) + share * self.size


class RectifierLink(Link):
    r"""A rectifier on :math:`[l, u]`: the identity or :math:`sz` if the sign is known, else between two lines.

    From above the line through the ends, from below that of slope 1 or :math:`s`, whichever leaves the smaller area.
    The upper line is lifted until it is above both ends for the slope as it was rounded; by convexity it is then above
    everything between them.
    """

    def __init__(self, step: Rectifier, box: Box, unit: float) -> None:
        super().__init__(step.output_shape, unit)
        (lower, upper), size = box, box.size
        self.size, self.slope = 3 * size, step.slope
        low, high = self._apply(lower), self._apply(upper)
        spread = unit * size if step.slope else torch.zeros_like(size)
        self.box = Box(low - spread, high + spread)

        is_open = (lower < 0) & (upper > 0)
        between = ((high - low) / torch.where(is_open, upper - lower, 1.0)).clamp(step.slope, 1.0)
        # as tensors: two plain numbers would be rounded to float32
        one, slope = torch.ones_like(size), torch.full_like(size, step.slope)
        steady = torch.where(lower >= 0, one, slope)
        smaller_area = torch.where(upper >= -lower, one, slope)
        lift = torch.maximum(high - between * upper, low - between * lower) + 4 * unit * size
        self.lower_slope = torch.where(is_open, smaller_area, steady).unsqueeze(1)
        self.upper_slope = torch.where(is_open, between, steady).unsqueeze(1)
        self.upper_shift = torch.where(is_open, lift, 0.0)

    def _apply(self, z: Tensor) -> Tensor:
        return torch.where(z > 0, z, self.slope * z)

    def pull_back(self, A: Tensor) -> Tensor:
        """Return positive coefficients times the lower slopes, negative ones times the upper slopes."""
        return torch.where(A > 0, self.lower_slope, self.upper_slope).mul_(A)

    def offset(self, A: Tensor) -> Tensor:
        """Return negative coefficients times the height of the upper lines at 0."""
        return dot(A.clamp(max=0), self.upper_shift)

    def error(self, error: Tensor, unit: float) -> Tensor:
        """Return the errors of the inputs, as no slope is above 1."""
        return error + unit * self.size if self.slope else error


class MaximumLink(Link):
    """The largest of a window: at least the entry with the highest middle, at most the highest upper end.

    Where that entry's lower end is above all other upper ends, the maximum is that entry.
    """

    def __init__(self, step: Maximum, box: Box, unit: float) -> None:
        super().__init__(step.output_shape, unit)
        self.step = step
        lower, upper = self._windows(box.lower, -inf), self._windows(box.upper, -inf)  # (B, outputs, entries)
        self.box = Box(self._shaped(lower.amax(-1)), self._shaped(upper.amax(-1)))
        self.size = self._shaped(self._windows(box.size, 0.0).amax(-1))
        best = (lower + upper).argmax(-1, keepdim=True)
        others = upper.scatter(-1, best, -inf).amax(-1)
        self.is_known = self._shaped(lower.gather(-1, best).squeeze(-1) >= others).unsqueeze(1)
        self.place = step.windows.expand(len(lower), -1, -1).gather(-1, best).transpose(1, 2)  # (B, 1, outputs)

    def _windows(self, z: Tensor, outside: float) -> Tensor:
        padded = torch.cat([z.flatten(1), z.new_full((len(z), 1), outside)], 1)
        return padded[:, self.step.windows]  # place -1 is the padding

    def _shaped(self, flat: Tensor) -> Tensor:
        return flat.view(len(flat), *self.step.output_shape)

    def pull_back(self, A: Tensor) -> Tensor:
        """Return the coefficients at the places of the chosen entries."""
        kept = torch.where((A > 0) | self.is_known, A, 0.0).flatten(2)
        inputs = A.new_zeros((*A.shape[:2], prod(self.step.input_shape)))
        inputs.scatter_add_(2, self.place.expand_as(kept), kept)
        return inputs.view(*A.shape[:2], *self.step.input_shape)

    def offset(self, A: Tensor) -> Tensor:
        """Return negative coefficients times the highest upper ends, where the maximum is not known."""
        return dot(torch.where(self.is_known, 0.0, A.clamp(max=0)), self.box.upper)

    def error(self, error: Tensor, unit: float) -> Tensor:
        """Return the largest error in each window."""
        return self._shaped(self._windows(error, 0.0).amax(-1))


class ReshapeLink(Link):
    """The same numbers in another shape."""

    def __init__(self, step: Reshape, box: Box, unit: float) -> None:
        super().__init__(step.output_shape, unit)
        self.step = step
        self.box = Box(*(side.view(len(side), *step.output_shape) for side in box))
        self.size = self.box.size

    def pull_back(self, A: Tensor) -> Tensor:
        """Return the coefficients in the shape of the inputs."""
        return A.view(*A.shape[:2], *self.step.input_shape)

    def allowance(self, A: Tensor) -> Tensor:
        """Return 0: nothing is computed."""
        return A.new_zeros(A.shape[:2])

    def error(self, error: Tensor, unit: float) -> Tensor:
        """Return the same errors."""
        return error.view(len(error), *self.step.output_shape)
