"""The weights of dense layers: one vector, and views into it layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pellucid.core.types import Array

VARIANCE_FLOOR = 1e-5
"""Added to a variance before batch normalization divides by its root."""


class Layers(NamedTuple):
    """Views into a vector of weights, one entry for each layer; hidden layers may have a scale and a shift."""

    coefs: list[Array]
    intercepts: list[Array]
    scales: list[Array]
    shifts: list[Array]


@dataclass(frozen=True)
class DenseShape:
    """How many numbers each layer has. Each hidden unit has ``pieces`` linear pieces: more than one for maxout."""

    inputs: int
    hidden: tuple[int, ...]
    outputs: int
    pieces: int = 1
    is_normalized: bool = False

    @property
    def sizes(self) -> Iterator[tuple[int, int]]:
        """Numbers into and out of each layer's matrix."""
        for k, (into, units) in enumerate(pairwise((self.inputs, *self.hidden, self.outputs))):
            yield into, units * (self.pieces if k < len(self.hidden) else 1)

    @cached_property
    def n_coefs(self) -> int:
        """Weights that the penalty is about: they stand first in the vector."""
        return sum(into * out for into, out in self.sizes)

    @cached_property
    def n_weights(self) -> int:
        """The length of the vector."""
        widths = [out for _, out in self.sizes]
        return self.n_coefs + sum(widths) + 2 * self.is_normalized * sum(widths[:-1])

    def views(self, vector: Array) -> Layers:
        """Return the layers in a vector: all matrices, then all intercepts, then scales and shifts."""
        place = 0

        def take(*shape: int) -> Array:
            nonlocal place
            start, place = place, place + int(np.prod(shape))
            return vector[start:place].reshape(shape)

        widths = [out for _, out in self.sizes]
        normalized = widths[:-1] if self.is_normalized else []
        coefs = [take(into, out) for into, out in self.sizes]
        intercepts = [take(width) for width in widths]
        return Layers(coefs, intercepts, [take(width) for width in normalized], [take(width) for width in normalized])


class BatchMoments:
    """Moving means and variances of each hidden layer's inputs, for batch normalization of single rows."""

    def __init__(self, shape: DenseShape, dtype: np.dtype) -> None:
        widths = [out for _, out in shape.sizes][:-1]
        self.means = [np.zeros(width, dtype) for width in widths]
        self.variances = [np.ones(width, dtype) for width in widths]

    def move(self, layer: int, mean: Array, variance: Array, share: float = 0.1) -> None:
        """Move a tenth of the way to what the last batch had."""
        self.means[layer] += share * (mean - self.means[layer])
        self.variances[layer] += share * (variance - self.variances[layer])

    def fused(self, layers: Layers) -> tuple[list[Array], list[Array]]:
        """Return matrices and intercepts that do in one product what layer and normalization do in two steps."""
        coefs, intercepts = [*map(np.copy, layers.coefs)], [*map(np.copy, layers.intercepts)]
        for k, scale in enumerate(layers.scales):
            slope = scale / np.sqrt(self.variances[k] + self.variances[k].dtype.type(VARIANCE_FLOOR))
            coefs[k] *= slope
            intercepts[k] = (intercepts[k] - self.means[k]) * slope + layers.shifts[k]
        return coefs, intercepts


Draw = Callable[[np.random.RandomState, int, int, str], tuple[Array, Array]]
"""From generator, inputs, outputs and activation to a matrix and intercepts."""

SMALL = 0.01
"""Standard deviation of small random weights."""


def _glorot(random: np.random.RandomState, into: int, out: int, activation: str) -> tuple[Array, Array]:
    """Draw as scikit-learn does, intercepts too: the same seed gives the same weights there and here."""
    bound = np.sqrt((2.0 if activation in ("logistic", "sigmoid") else 6.0) / (into + out))
    return random.uniform(-bound, bound, (into, out)), random.uniform(-bound, bound, out)


def _xavier(random: np.random.RandomState, into: int, out: int, _activation: str) -> tuple[Array, Array]:
    bound = np.sqrt(6.0 / (into + out))
    return random.uniform(-bound, bound, (into, out)), np.zeros(out)


def _he(random: np.random.RandomState, into: int, out: int, _activation: str) -> tuple[Array, Array]:
    return random.normal(0.0, np.sqrt(2.0 / into), (into, out)), np.zeros(out)


def _small_random(random: np.random.RandomState, into: int, out: int, _activation: str) -> tuple[Array, Array]:
    return random.normal(0.0, SMALL, (into, out)), np.zeros(out)


def _zero(_random: np.random.RandomState, into: int, out: int, _activation: str) -> tuple[Array, Array]:
    return np.zeros((into, out)), np.zeros(out)


FIRST_WEIGHTS: dict[str, Draw] = {
    "glorot": _glorot,
    "xavier": _xavier,
    "he": _he,
    "small_random": _small_random,
    "zero": _zero,
}


def first_weights(
    shape: DenseShape, rule: str, activation: str, random: np.random.RandomState, dtype: np.dtype
) -> Array:
    """Return the vector of first weights."""
    weights = np.zeros(shape.n_weights, dtype)
    layers = shape.views(weights)
    for coef, intercept in zip(layers.coefs, layers.intercepts, strict=True):
        coef[:], intercept[:] = FIRST_WEIGHTS[rule](random, coef.shape[0], coef.shape[1], activation)
    for scale in layers.scales:
        scale[:] = 1.0
    return weights
