"""The affine steps of a network as matrices, for its proof: dense layers as they are, all others as sparse ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.neural_network.robustness.steps import (
    ConvolutionStep,
    DenseStep,
    Network,
    NetworkStep,
    RearrangementStep,
    ScalingStep,
    SumStep,
)

SPARE = 32
"""Roundings of single numbers in a step, beside those of its sums, and of adding up the offsets of the steps."""

Matrix = Any
"""A NumPy array or a sparse one."""


class Weights:
    """The matrix that one source of a step is multiplied with, and what is made of it once and for all."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix

    @cached_property
    def absolute(self) -> Matrix:
        """The absolute values."""
        return abs(self.matrix)

    @cached_property
    def squares(self) -> Matrix:
        """The squares."""
        return self.matrix.multiply(self.matrix).tocsr() if sparse.issparse(self.matrix) else self.matrix**2

    @cached_property
    def _transposed(self) -> Matrix:
        return self.matrix.T.tocsr()

    def transposed_times(self, A: Matrix) -> Matrix:
        """Return the transposed matrix times coefficients; rows that are all 0 cost nothing."""
        if sparse.issparse(self.matrix):
            return self._transposed @ A
        if sparse.issparse(A):
            return (A.T @ self.matrix).T
        used = A.any(1)
        return self.matrix[used].T @ A[used]


@dataclass(frozen=True)
class AffineMatrices:
    """``sum(part.matrix @ source) + shift``; ``shift_size`` bounds what was added up to make the shift."""

    parts: tuple[Weights, ...]
    shift: Array
    shift_size: Array
    roundings: int
    """Roundings behind one value; 0 if it is moved but not computed."""


@lru_cache(maxsize=2)
def matrices_of(network: Network) -> dict[int, AffineMatrices]:
    """Return the matrices of all affine steps."""
    sizes = [step.n_values for step in network.steps]
    found = {}
    for index, step in enumerate(network.steps):
        maker = MAKERS.get(type(step))
        if maker is not None:
            found[index] = maker(step, sizes)
    return found


def _affine(matrix: Matrix, shift: Array, shift_size: Array | None = None) -> AffineMatrices:
    terms = matrix.shape[1] if not sparse.issparse(matrix) else int(np.diff(matrix.indptr).max(initial=0))
    return AffineMatrices((Weights(matrix),), shift, abs(shift) if shift_size is None else shift_size, terms + SPARE)


def _dense(step: DenseStep, _sizes: list[int]) -> AffineMatrices:
    return _affine(np.ascontiguousarray(step.weight), step.shift)


def _scaling(step: ScalingStep, _sizes: list[int]) -> AffineMatrices:
    return _affine(sparse.diags_array(step.weight).tocsr(), step.shift, step.shift_size)


def _rearrangement(step: RearrangementStep, sizes: list[int]) -> AffineMatrices:
    to = np.flatnonzero(step.places >= 0)
    shape = (step.n_values, sizes[step.sources[0]])
    matrix = sparse.csr_array((np.ones(len(to)), (to, step.places[to])), shape)
    nothing = np.zeros(step.n_values)
    return AffineMatrices((Weights(matrix),), nothing, nothing, 0)


def _sum(step: SumStep, _sizes: list[int]) -> AffineMatrices:
    same, nothing = Weights(sparse.eye_array(step.n_values).tocsr()), np.zeros(step.n_values)
    return AffineMatrices((same, same), nothing, nothing, SPARE)


def _convolution(step: ConvolutionStep, sizes: list[int]) -> AffineMatrices:
    """Return a row for each output with the weights of its filter at the places where it looks."""
    height, width = step.input_image[1:]
    outputs, *places = step.output_image
    shift = np.repeat(step.shift, places[0] * places[1])
    output = np.arange(step.n_values).reshape(outputs, 1, *places)
    first = np.arange(outputs) // (outputs // step.groups) * step.weight.shape[1]  # channel that a filter sees
    channel = (first[:, None] + np.arange(step.weight.shape[1]))[:, :, None, None]
    values: list[Array] = []
    rows: list[Array] = []
    columns: list[Array] = []
    for i, j in np.ndindex(*step.weight.shape[2:]):
        y = (np.arange(places[0]) * step.stride[0] + i * step.dilation[0] - step.padding[0])[:, None]
        x = np.arange(places[1]) * step.stride[1] + j * step.dilation[1] - step.padding[1]
        is_inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        weight = step.weight[:, :, i, j, None, None]
        entry = np.broadcast_arrays(weight, output, (channel * height + y) * width + x, is_inside)
        for found, array in zip((values, rows, columns), entry, strict=False):
            found.append(array[entry[3]])
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return _affine(sparse.csr_array(entries, (step.n_values, sizes[step.sources[0]])), shift)


MAKERS: dict[type[NetworkStep], Any] = {
    DenseStep: _dense,
    ScalingStep: _scaling,
    RearrangementStep: _rearrangement,
    SumStep: _sum,
    ConvolutionStep: _convolution,
}
