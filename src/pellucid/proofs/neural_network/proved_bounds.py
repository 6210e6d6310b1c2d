r"""Lower bounds of margins for one input at a time, in float64 with rounding accounted for: the engine of the proof.

Each step is a matrix, or lies between two: where its source :math:`z` has values in known ranges,
:math:`L z + l \le \text{step}(z) \le U z + u`. So a function :math:`A \cdot \text{step}(z)` is at least
:math:`(A^+ L + A^- U) z + A^+ l + A^- u`, with the positive and the negative part of its coefficients; and so on, back
to the input.

Whatever the order of summation, a sum of :math:`n` products is off by at most :math:`n u / (1 - n u)` times the sum of
their absolute values. So the error of new coefficients, times the values that they meet, is at most
``terms * unit * (|A| . size)``, where ``size`` bounds the sum of absolute values that makes each value, and ``terms``
counts the products behind one coefficient, and a few more. ``unit`` is :math:`2u`, which also covers
:math:`1 / (1 - nu)` and the rounding of the allowance itself.

Coefficients have one column per function; they are sparse as long as each sees a small part of an image only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.neural_network.network_steps import (
    ConvolutionStep,
    DenseStep,
    MaximumStep,
    Network,
    NetworkStep,
    RearrangementStep,
    RectifierStep,
    ScalingStep,
    SumStep,
)
from pellucid.proofs.rounding import EPSILON, TINY

TOGETHER = 512
"""Functions that are bounded together."""
DENSE = 0.2
"""Share of coefficients that are not 0 from which they are no longer worth storing as sparse."""


@dataclass(frozen=True)
class ProvedMargins:
    """For each class, ``value - radius * slope`` is below the margin over it; ``lost`` is what the module may lose."""

    value: Array
    slope: Array
    lost: Array


class NotFinite(ArithmeticError):  # noqa: N818  (a reason to prove nothing, not an error of the user)
    """Numbers became too large to bound."""


class RowProof:
    """All that is known about the values of the steps, for inputs at most ``radius`` from ``x``."""

    def __init__(self, network: Network, x: Array, radius: float, norm: float, unit: float = EPSILON) -> None:
        self.network, self.x, self.radius, self.norm, self.unit = network, x, radius, norm, unit
        self.matrices = matrices_of(network)
        reach = radius + unit * (abs(x) + radius)
        self.lower, self.upper = [x - reach], [x + reach]
        self.sums = [self._size(0)]  # absolute values that are added up to make each value, at most
        self.lines: dict[int, tuple[Array, ...]] = {}

    def walk(self, *, intervals_only: bool) -> RowProof:
        """Bound the values of all steps, one after the other."""
        narrowed = {} if intervals_only else self.network.narrowed()
        for index, step in enumerate(self.network.steps[1:], 1):
            if isinstance(step, RectifierStep):
                self._rectify(index, step)
            elif isinstance(step, MaximumStep):
                self._maximize(index, step)
            else:
                self._transform(index)
            if index in narrowed:
                self._narrow(index, is_all=narrowed[index])
            if not np.isfinite(self.sums[index]).all():
                raise NotFinite
        return self

    def _size(self, index: int) -> Array:
        return np.maximum(abs(self.lower[index]), abs(self.upper[index]))

    def _transform(self, index: int) -> None:
        """Bound an affine step by intervals, or by the dual norm of its weights if they meet the input itself."""
        affine, sources = self.matrices[index], self.network.steps[index].sources
        middle, reach, sums = affine.shift, np.zeros(len(affine.shift)), affine.shift_size
        for source, part in zip(sources, affine.parts, strict=True):
            center = (self.lower[source] + self.upper[source]) / 2
            radius = np.maximum(self.upper[source] - center, center - self.lower[source])
            middle = middle + part.matrix @ center
            sums = sums + part.absolute @ self._size(source)
            if self.norm == 2 and self.network.sees_only_input(source):
                reach = reach + np.sqrt(part.squares @ radius**2)
            else:
                reach = reach + part.absolute @ radius
        reach = reach + self.unit * affine.roundings * sums + (TINY if affine.roundings else 0.0)
        self._add(middle - reach, middle + reach, sums)

    def _add(self, lower: Array, upper: Array, sums: Array) -> None:
        self.lower.append(lower)
        self.upper.append(upper)
        self.sums.append(sums)

    def _rectify(self, index: int, step: RectifierStep) -> None:
        """Bound a rectifier by two lines.

        The upper line is lifted until it is above both ends for the slope as it was rounded; by convexity it is then
        above everything between them.
        """
        lower, upper = self.lower[step.sources[0]], self.upper[step.sources[0]]
        size, slope = self._size(step.sources[0]), step.slope
        low, high = (np.where(side > 0, side, slope * side) for side in (lower, upper))
        is_open = (lower < 0) & (upper > 0)
        between = np.clip((high - low) / np.where(is_open, upper - lower, 1.0), slope, 1.0)
        lift = np.maximum(high - between * upper, low - between * lower) + 4 * self.unit * size
        steady = np.where(lower >= 0, 1.0, slope)
        self.lines[index] = (
            np.where(is_open, np.where(upper >= -lower, 1.0, slope), steady),
            np.where(is_open, between, steady),
            np.where(is_open, lift, 0.0),
        )
        spread = self.unit * size if slope else 0.0
        self._add(low - spread, high + spread, 3 * size)

    def _maximize(self, index: int, step: MaximumStep) -> None:
        """Bound a maximum from below by the entry with the highest middle, from above by that or the highest end."""
        source, windows, each = step.sources[0], step.windows, np.arange(step.n_values)
        lower, upper = (np.append(side[source], -inf)[windows] for side in (self.lower, self.upper))
        best = (lower + upper).argmax(1)
        others = upper.copy()
        others[each, best] = -inf
        is_known = lower[each, best] >= others.max(1)
        chosen = sparse.csr_array(
            (np.ones(len(each)), (windows[each, best], each)), (len(self.lower[source]), len(each))
        )
        self.lines[index] = (chosen, is_known, np.where(is_known, 0.0, upper.max(1)))
        self._add(lower.max(1), upper.max(1), np.append(self._size(source), 0.0)[windows].max(1))

    def bounds(self, index: int, A: Matrix) -> tuple[Array, Array]:
        """Return ``value`` and ``slope``: on the ball, functions of a step are above ``value - radius * slope``.

        The allowance for rounding on the whole ball has been taken from ``value``.
        """
        waiting, value = {index: A}, np.zeros(A.shape[1])
        for number in range(index, 0, -1):
            if number not in waiting:
                continue
            A = _compact(waiting.pop(number))
            value += self._offset(number, A)
            terms = self.network.steps[number].n_values + SPARE
            value -= terms * (self.unit * (abs(A).T @ self.sums[number]) + TINY)
            for source, pulled in zip(self.network.steps[number].sources, self._pull_back(number, A), strict=True):
                if source in waiting:  # where two ways meet, coefficients are added, and rounded once more
                    pulled = waiting[source] + pulled
                    value -= 2 * self.unit * (abs(pulled).T @ self._size(source))
                waiting[source] = pulled
        return self._over_ball(_as_dense(waiting[0]), value)

    def _over_ball(self, A: Array, value: Array) -> tuple[Array, Array]:
        absolute = abs(A)
        slope = np.sqrt((A * A).sum(0)) if self.norm == 2 else absolute.sum(0)
        allowance = self.unit * (len(A) + SPARE) * (absolute.T @ abs(self.x) + self.radius * slope) + TINY
        return value + A.T @ self.x - allowance, slope

    def _offset(self, index: int, A: Matrix) -> Array:
        if index not in self.lines:
            return A.T @ self.matrices[index].shift
        return _negative_part(A).T @ self.lines[index][2]

    def _pull_back(self, index: int, A: Matrix) -> list[Matrix]:
        step = self.network.steps[index]
        if isinstance(step, RectifierStep):
            lower, upper, _ = self.lines[index]
            return [_by_sign(A, lower, upper)]
        if isinstance(step, MaximumStep):
            chosen, is_known, _ = self.lines[index]
            return [chosen @ _by_sign(A, np.ones(len(is_known)), is_known.astype(float))]
        return [part.transposed_times(A) for part in self.matrices[index].parts]

    def _narrow(self, index: int, *, is_all: bool) -> None:
        """Narrow the ranges of values whose sign is open, and all upper ends above 0 if asked for, by linear bounds.

        The side towards 0 comes first: often it settles the sign, and then the other one need not matter.
        """
        lower, upper = self.lower[index], self.upper[index]
        towards = np.where(lower + upper > 0, 1.0, -1.0)
        for signs in (towards, -towards):
            places = np.flatnonzero((upper > 0) & ((lower < 0) | (is_all & (signs < 0))))
            for some in np.array_split(places, -(-len(places) // TOGETHER)) if len(places) else ():
                sign = signs[some]
                units = sparse.csr_array((sign, (some, np.arange(len(some)))), (len(lower), len(some)))
                value, slope = self.bounds(index, units)
                bound = value - self.radius * slope
                is_lower = sign > 0
                lower[some[is_lower]] = np.maximum(lower[some], bound)[is_lower]
                upper[some[~is_lower]] = np.minimum(upper[some], -bound)[~is_lower]

    def margins(self, own: int) -> ProvedMargins:
        """Return bounds of the margin of a class above every class: linear ones, or intervals where they are better."""
        each, last = np.eye(self.network.classes), len(self.network.steps) - 1
        value, slope = self.bounds(last, each[:, [own]] - each)
        apart = self.lower[last][own] - self.upper[last]
        apart -= self.unit * abs(apart)
        is_better = apart > value - self.radius * slope
        value, slope = np.where(is_better, apart, value), np.where(is_better, 0.0, slope)
        lost = self.module_errors(np.finfo(self.network.module_precision))
        return ProvedMargins(value, slope, lost + lost[own])

    def module_errors(self, precision: Any) -> Array:
        """Return how far scores that the module computes in its precision can be off, on any input of the ball."""
        unit, errors = float(precision.eps), [np.zeros_like(self.x)]
        for index, step in enumerate(self.network.steps[1:], 1):
            before = [errors[source] for source in step.sources]
            if isinstance(step, RectifierStep):  # no slope is above 1
                error = before[0] + unit * self.sums[index] * (step.slope > 0)
            elif isinstance(step, MaximumStep):
                error = np.append(before[0], 0.0)[step.windows].max(1)
            else:
                affine = self.matrices[index]
                share = unit * affine.roundings
                moved = sum(part.absolute @ error for part, error in zip(affine.parts, before, strict=True))
                error = moved * (1 + share) + share * self.sums[index]
            errors.append(error + float(precision.tiny) * (step.n_values + SPARE))
        return errors[-1]


def _by_sign(A: Matrix, positive: Array, negative: Array) -> Matrix:
    """Return each row of coefficients times one of two numbers, by the sign of the coefficient."""
    if not sparse.issparse(A):
        return np.where(A > 0, positive[:, None], negative[:, None]) * A
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    scaled = A.copy()
    scaled.data = np.where(A.data > 0, positive[rows], negative[rows]) * A.data
    scaled.eliminate_zeros()
    return scaled


def _negative_part(A: Matrix) -> Matrix:
    return A.minimum(0) if sparse.issparse(A) else np.minimum(A, 0.0)


def _compact(A: Matrix) -> Matrix:
    return A.toarray() if sparse.issparse(A) and A.nnz > DENSE * A.shape[0] * A.shape[1] else A


def _as_dense(A: Matrix) -> Array:
    return A.toarray() if sparse.issparse(A) else A


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
