"""The steps of a network as mathematics: affine maps, rectifiers, maxima, new shapes.

A step is a description with the few operations that bounds need. Batches come first: ``# (B, *shape)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Affine(ABC):
    """``weights * z + shift`` for one example of ``input_shape``.

    ``shift_size`` is at least the absolute value of the shift, and of what was added up to make it.
    """

    input_shape: Shape
    output_shape: Shape
    weight: Tensor
    shift: Tensor
    shift_size: Tensor

    @property
    @abstractmethod
    def terms(self) -> int:
        """How many products are added up for one output."""

    @abstractmethod
    def apply(self, z: Tensor) -> Tensor:
        """Return the weights times each example, without the shift: ``(B, *input_shape) -> (B, *output_shape)``."""

    @abstractmethod
    def pull_back(self, A: Tensor) -> Tensor:
        """Return the transposed weights times each: ``(B, *output_shape) -> (B, *input_shape)``."""

    def units(self, index: Tensor) -> Tensor:
        """Return the weights of the outputs with these flat indices: ``(B, Q) -> (B, Q, *input_shape)``."""
        different, place = index.unique(return_inverse=True)
        chosen = functional.one_hot(different, prod(self.output_shape)).to(self.weight.dtype)
        return self.pull_back(chosen.view(-1, *self.output_shape))[place]

    def with_weight(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Return the same step with every weight changed, as to its absolute value."""
        return replace(self, weight=change(self.weight))

    def followed_by(self, scale: Scale) -> Self:
        """Return this step and a scaling of its outputs as one step."""
        outputs = scale.weight.flatten()
        return replace(
            self,
            weight=self.weight * outputs.view(-1, *[1] * (self.weight.dim() - 1)),
            shift=self.shift * scale.weight + scale.shift,
            shift_size=self.shift_size * scale.weight.abs() + scale.shift_size,
        )

    def to(self, dtype: torch.dtype) -> Self:
        """Return the same step in another precision."""
        numbers = {name: getattr(self, name).to(dtype) for name in ("weight", "shift", "shift_size")}
        return replace(self, **numbers)


class Dense(Affine):
    """A matrix of weights, ``(outputs, inputs)``."""

    @property
    def terms(self) -> int:
        """One product per input."""
        return self.weight.shape[1]

    def apply(self, z: Tensor) -> Tensor:
        """Return ``W z``."""
        return z @ self.weight.T

    def pull_back(self, A: Tensor) -> Tensor:
        """Return ``W' A``."""
        return A @ self.weight

    def units(self, index: Tensor) -> Tensor:
        """Return rows of the matrix."""
        return self.weight[index]


class Scale(Affine):
    """One weight per entry, such as batch normalization after training."""

    @property
    def terms(self) -> int:
        """One product."""
        return 1

    def apply(self, z: Tensor) -> Tensor:
        """Return the entries times their weights."""
        return z * self.weight

    def pull_back(self, A: Tensor) -> Tensor:
        """Return the entries times their weights: a diagonal matrix is its own transpose."""
        return A * self.weight


@dataclass(frozen=True, eq=False)
class Convolution(Affine):
    """A convolution over one or two axes, ``weight`` of shape (out channels, channels per group, *kernel)."""

    stride: Shape
    padding: Shape
    dilation: Shape
    groups: int

    @property
    def terms(self) -> int:
        """One product per weight of a filter."""
        return prod(self.weight.shape[1:])

    def apply(self, z: Tensor) -> Tensor:
        """Return the convolution of each example."""
        convolve = functional.conv1d if len(self.stride) == 1 else functional.conv2d
        return convolve(z, self.weight, None, self.stride, self.padding, self.dilation, self.groups)

    def pull_back(self, A: Tensor) -> Tensor:
        """Return the transposed convolution: each output's filter, added where it looked.

        Only the part of the outputs outside which all coefficients are 0 is worked on: few outputs see few inputs.
        """
        A, padding = _image(A), _two_axes(self.padding, 0)
        stride, dilation, kernel = (_two_axes(n, 1) for n in (self.stride, self.dilation, self.weight.shape[2:]))
        top, bottom, left, right = _used_part(A)
        A = A[:, :, top:bottom, left:right]
        filters = self.weight.reshape(self.groups, -1, self.terms).transpose(1, 2)  # (groups, terms, outputs each)
        seen = filters @ A.reshape(len(A), self.groups, filters.shape[2], -1)  # (B, groups, terms, places)
        sizes = zip(A.shape[2:], stride, dilation, kernel, strict=True)
        reach = tuple((n - 1) * s + d * (k - 1) + 1 for n, s, d, k in sizes)
        added = functional.fold(seen.flatten(1, 2), reach, kernel, dilation, 0, stride)
        height, width = _two_axes(self.input_shape[1:], 1)
        # a negative margin cuts off what fell on the padding
        above, before = top * stride[0] - padding[0], left * stride[1] - padding[1]
        margins = (before, width - before - reach[1], above, height - above - reach[0])
        return functional.pad(added, margins).view(len(A), *self.input_shape)

    @property
    def workspace(self) -> int:
        """Numbers in the largest array that one row of ``pull_back`` needs."""
        return self.groups * self.terms * prod(self.output_shape[1:])


def _image(A: Tensor) -> Tensor:
    """Return ``(B, channels, height, width)``: a signal of one axis gets height 1."""
    return A.unsqueeze(2) if A.dim() == 3 else A


def _two_axes(numbers: Shape, missing: int) -> tuple[int, int]:
    """Return the numbers for two axes: a single axis gets one before it that does nothing."""
    return (missing, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])


def _used_part(A: Tensor) -> tuple[int, int, int, int]:
    """Return top, bottom, left and right of the smallest part of images outside which all are 0."""
    used = A.ne(0).any(0).any(0)
    rows, columns = (torch.nonzero(used.any(axis)).flatten().tolist() or [0] for axis in (1, 0))
    return rows[0], rows[-1] + 1, columns[0], columns[-1] + 1


@dataclass(frozen=True)
class Reshape:
    """The same numbers in another shape."""

    input_shape: Shape
    output_shape: Shape


@dataclass(frozen=True)
class Rectifier:
    """``max(z, slope * z)``: ReLU for slope 0, leaky for a slope up to 1."""

    output_shape: Shape
    slope: float


@dataclass(frozen=True, eq=False)
class Maximum:
    """The largest entry of each window; ``windows[i]`` are flat places of the input, -1 for none."""

    input_shape: Shape
    output_shape: Shape
    windows: Tensor  # (outputs, entries)


Step = Affine | Reshape | Rectifier | Maximum


@dataclass(frozen=True, eq=False)
class Network:
    """Steps from inputs to scores, and the dtype in which the module itself computes."""

    steps: tuple[Step, ...]
    input_shape: Shape
    classes: int
    module_dtype: torch.dtype

    def to(self, dtype: torch.dtype) -> Network:
        """Return the same network with its weights in another precision."""
        steps = tuple(step.to(dtype) if isinstance(step, Affine) else step for step in self.steps)
        return replace(self, steps=steps)

    @property
    def largest(self) -> int:
        """How many numbers the largest step works on, for one example."""
        sizes = (step.workspace if isinstance(step, Convolution) else prod(step.output_shape) for step in self.steps)
        return max(prod(self.input_shape), *sizes)
