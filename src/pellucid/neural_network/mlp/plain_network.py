"""Dense layers in plain formulas, for proofs: nothing here is shared with the code that trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pellucid.core.types import Array

SLOPES = {
    "identity": lambda z: np.ones_like(z),
    "logistic": lambda z: special.expit(z) * special.expit(-z),
    "tanh": lambda z: 1 - np.tanh(z) ** 2,
    "relu": lambda z: (z > 0) * 1.0,
    "leaky_relu": lambda z: np.where(z > 0, 1.0, 0.01),
    "elu": lambda z: np.where(z > 0, 1.0, np.exp(np.minimum(z, 0))),
    "gelu": lambda z: special.ndtr(z) + z * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi),
}
VALUES = {
    "identity": lambda z: z,
    "logistic": special.expit,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "leaky_relu": lambda z: np.maximum(z, 0.01 * z),
    "elu": lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
    "gelu": lambda z: z * special.ndtr(z),
}

SATURATING = ("logistic", "sigmoid", "tanh")
"""Activations that are steepest at 0 and flat far away."""

STEEPEST = 1.13
"""No slope of the others is larger."""


@dataclass(frozen=True)
class PlainNetwork:
    """Dense layers as a page of the lecture has them."""

    coefs: list[Array]
    intercepts: list[Array]
    activation: str
    pieces: int
    out_activation: str

    def up(self, X: Array, first: int = 0) -> tuple[list[Array], list[Array]]:
        """Return the inputs of each layer's activation, and what each layer gets from below, ``X`` the first one."""
        inputs, below = [], [X]
        for k in range(first, len(self.coefs)):
            inputs.append(below[-1] @ self.coefs[k] + self.intercepts[k])
            if k < len(self.coefs) - 1:
                below.append(self._value(inputs[-1]))
        return inputs, below

    def score_error(self, passed: tuple[list[Array], list[Array]], unit: float) -> Array:
        """Return what rounding may have done to each score, if it does ``unit`` to each number that is added up."""
        error = np.zeros_like(passed[1][0])
        for k, (Z, H, W, b) in enumerate(zip(*passed, self.coefs, self.intercepts, strict=True)):
            error = error @ np.abs(W) + unit * (np.abs(H) @ np.abs(W) + np.abs(b))
            if k < len(self.coefs) - 1:
                error = self._error_through(Z, error)
        return error

    def answers(self, scores: Array) -> Array:
        """Return probabilities, or numbers."""
        if self.out_activation == "softmax":
            return np.asarray(special.softmax(scores, axis=1))
        kinds = {"logistic": special.expit, "identity": lambda z: z, "exp": np.exp}
        return np.asarray(kinds[self.out_activation](scores))

    def losses(self, scores: Array, Y: Array) -> Array:
        """Return the loss of each row."""
        if self.out_activation == "softmax":
            return np.asarray(special.logsumexp(scores, axis=1) - (Y * scores).sum(axis=1))
        if self.out_activation == "logistic":
            return np.asarray(-(Y * special.log_expit(scores) + (1 - Y) * special.log_expit(-scores)).sum(axis=1))
        if self.out_activation == "identity":
            return np.asarray(((scores - Y) ** 2).sum(axis=1) / 2)
        return np.asarray((np.exp(scores) - Y - special.xlogy(Y, np.exp(scores)) + special.xlogy(Y, Y)).sum(axis=1))

    def gradient(
        self, passed: tuple[list[Array], list[Array]], delta: Array, *, sizes: bool = False
    ) -> list[tuple[Array, Array]]:
        """Return the gradient of each layer, given what ``up`` returned and the gradient of the scores.

        With ``sizes``, return instead sums of the sizes of what is added up.
        """
        inputs, below = passed
        absolute = np.abs if sizes else lambda numbers: numbers
        found = []
        for k in range(len(self.coefs) - 1, -1, -1):
            found.append((absolute(below[k]).T @ delta, delta.sum(axis=0)))
            if k:
                delta = self._through(inputs[k - 1], delta @ absolute(self.coefs[k]).T, absolute)
        return found[::-1]

    def sides(self, inputs: list[Array]) -> list[Array]:
        """Return on which side of its kink each hidden unit is; smooth ones have no sides."""
        if self.activation == "maxout":
            return [Z.reshape(len(Z), -1, self.pieces).argmax(axis=2) for Z in inputs]
        return [Z > 0 for Z in inputs] if self.activation in ("relu", "leaky_relu") else []

    def _value(self, Z: Array) -> Array:
        if self.activation == "maxout":
            return np.asarray(Z.reshape(len(Z), -1, self.pieces).max(axis=2))
        return np.asarray(VALUES[_known(self.activation)](Z))

    def _error_through(self, Z: Array, error: Array) -> Array:
        """Return the error of the values, given that of their inputs: a saturated unit hides most of it."""
        if self.activation == "maxout":
            return np.asarray(error.reshape(len(Z), -1, self.pieces).max(axis=2))
        slope = SLOPES[_known(self.activation)] if self.activation in SATURATING else lambda _: STEEPEST
        return np.asarray(error * slope(np.maximum(np.abs(Z) - error, 0)))

    def _through(self, Z: Array, delta: Array, absolute: Any) -> Array:
        if self.activation != "maxout":
            return np.asarray(delta * absolute(SLOPES[_known(self.activation)](Z)))
        pieces = Z.reshape(len(Z), -1, self.pieces)
        is_first_largest = np.arange(self.pieces) == pieces.argmax(axis=2)[:, :, None]
        return np.asarray((delta[:, :, None] * is_first_largest).reshape(Z.shape))


def _known(name: str) -> str:
    return "logistic" if name == "sigmoid" else name
