"""First weights of dense layers, by the name of the rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.core.types import Array
from pellucid.neural_network.mlp.dense_layers import DenseShape

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
