"""A network as mathematics: a graph of affine maps, rectifiers, maxima, rearrangements and sums, as plain arrays.

The search for radii and their proof read the same description, and share nothing else. Values of a step are numbered in
the order of its flattened ``shape``; such a number is called a *place*.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from pellucid.proofs.arrays import Array

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class NetworkStep:
    """What is made of the values of earlier steps, ``sources``; this one itself is the input of the network."""

    sources: tuple[int, ...]
    shape: Shape

    @property
    def n_values(self) -> int:
        """How many numbers come out for one example."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class DenseStep(NetworkStep):
    """``weight @ z + shift``; ``weight`` has the shape (outputs, inputs)."""

    weight: Array
    shift: Array


@dataclass(frozen=True, eq=False)
class ConvolutionStep(NetworkStep):
    """A convolution of images, with one ``shift`` per channel; a signal of one axis is an image of height 1.

    ``weight`` has the shape (output channels, input channels / groups, kernel height, kernel width).
    """

    weight: Array
    shift: Array
    input_image: Shape
    output_image: Shape
    stride: Shape
    padding: Shape
    dilation: Shape
    groups: int


@dataclass(frozen=True, eq=False)
class ScalingStep(NetworkStep):
    """``weight * z + shift``, value by value; ``shift_size`` bounds what was added up to make the shift."""

    weight: Array
    shift: Array
    shift_size: Array


@dataclass(frozen=True, eq=False)
class RectifierStep(NetworkStep):
    """``max(z, slope * z)``: ReLU for slope 0, leaky for a slope up to 1."""

    slope: float


@dataclass(frozen=True, eq=False)
class MaximumStep(NetworkStep):
    """The largest value of each window; ``windows[i]`` are places of the source, -1 for none."""

    windows: Array  # (outputs, entries)


@dataclass(frozen=True, eq=False)
class RearrangementStep(NetworkStep):
    """The source's values at ``places``, each at most once; -1 stands for 0."""

    places: Array  # (outputs,)


@dataclass(frozen=True, eq=False)
class SumStep(NetworkStep):
    """The sum of two sources, as at the end of a residual block."""


@dataclass(frozen=True, eq=False)
class Network:
    """Steps from the input, number 0, to the scores, and the precision in which the module itself computes."""

    steps: tuple[NetworkStep, ...]
    module_precision: type[np.floating]

    @property
    def classes(self) -> int:
        """How many scores come out."""
        return self.steps[-1].n_values

    def narrowed(self) -> dict[int, bool]:
        """Return the steps in front of rectifiers whose ranges linear bounds can make narrower than intervals.

        They are not after a single affine map of the input, for which intervals are exact. The value says whether a
        maximum follows the rectifier: then ranges matter even where the sign is known.
        """
        is_exact = [True]
        for step in self.steps[1:]:
            if isinstance(step, DenseStep | ConvolutionStep):
                is_exact.append(self.sees_only_input(step.sources[0]))
            else:
                is_exact.append(not isinstance(step, SumStep) and is_exact[step.sources[0]])
        before_maxima = {step.sources[0] for step in self.steps if isinstance(step, MaximumStep)}
        return {
            step.sources[0]: index in before_maxima
            for index, step in enumerate(self.steps)
            if isinstance(step, RectifierStep) and not is_exact[step.sources[0]]
        }

    def sees_only_input(self, index: int) -> bool:
        """Return whether a step's values are those of the input in some order."""
        step = self.steps[index]
        return index == 0 or (isinstance(step, RearrangementStep) and self.sees_only_input(step.sources[0]))
