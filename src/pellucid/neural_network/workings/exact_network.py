"""A dense network in exact numbers: forward pass, loss and backward pass of one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sympy import Matrix, Rational, erf, exp, log, pi, sqrt, tanh

from pellucid.core.checks import check_one_of
from pellucid.optimize.workings.pencil import Pencil
from pellucid.show.exact_data import exact_number

LEAK = Rational(1, 100)
"""Slope of the leaky relu below 0."""


def _sigmoid(a: Any) -> Any:
    return 1 / (1 + exp(-a))


ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], str]] = {
    "identity": (lambda a: a, lambda _: Rational(1), "1"),
    "relu": (lambda a: max(a, Rational(0)), lambda a: Rational(1) if a > 0 else Rational(0), "1 where a > 0, else 0"),
    "leaky_relu": (
        lambda a: a if a > 0 else LEAK * a,
        lambda a: Rational(1) if a > 0 else LEAK,
        "1 where a > 0, else 1/100",
    ),
    "elu": (
        lambda a: a if a > 0 else exp(a) - 1,
        lambda a: Rational(1) if a > 0 else exp(a),
        "1 where a > 0, else exp(a)",
    ),
    "tanh": (tanh, lambda a: 1 - tanh(a) ** 2, "1 − tanh(a)²"),
    "logistic": (_sigmoid, lambda a: _sigmoid(a) * (1 - _sigmoid(a)), "σ(a) (1 − σ(a))"),
    "gelu": (
        lambda a: a * (1 + erf(a / sqrt(2))) / 2,
        lambda a: (1 + erf(a / sqrt(2))) / 2 + a * exp(-(a**2) / 2) / sqrt(2 * pi),
        "the normal distribution function at a, plus a times its density",
    ),
}
"""Name -> the activation, its derivative, and the derivative in words."""
ACTIVATIONS["sigmoid"] = ACTIVATIONS["logistic"]

OUTPUTS = ("identity", "logistic", "softmax", "exp")


def exactly(value: Any, name: str) -> Rational:
    """Return a number as a rational: as it was typed, or all binary digits of one that came out of a computation."""
    simple, was_rounded = exact_number(value, name)
    return Rational(Fraction(float(value))) if was_rounded else simple


def exact_matrix(values: Any, name: str) -> Matrix:
    """Return a table of numbers, or a column of them, as rationals."""
    array = np.asarray(values, dtype=object)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must be a list of numbers or a table of them, got shape {array.shape}.")
    rows = array if array.ndim == 2 else array[:, None]
    return Matrix([[exactly(cell, name) for cell in row] for row in rows])


@dataclass(frozen=True)
class ExactNetwork:
    """Weights of each layer, as tables of inputs by units, and biases, as columns."""

    coefs: tuple[Matrix, ...]
    intercepts: tuple[Matrix, ...]
    activation: str
    output: str
    pencil: Pencil

    def forward(self, x: Matrix) -> tuple[list[Matrix], list[Matrix]]:
        """Return the sums before, and the values after, the activation of each layer; the first value is the input."""
        sums: list[Matrix] = []
        values = [x]
        for layer, (W, b) in enumerate(zip(self.coefs, self.intercepts, strict=True)):
            sums.append(self.pencil.kept(W.T * values[-1] + b))
            is_last = layer == len(self.coefs) - 1
            values.append(self._ends(sums[-1]) if is_last else self._activated(sums[-1]))
        return sums, values

    def slopes(self, a: Matrix) -> Matrix:
        """Return the derivative of the activation at the sums of a hidden layer."""
        return self.pencil.kept(a.applyfunc(ACTIVATIONS[self.activation][1]))

    def loss(self, output: Matrix, target: Matrix) -> Rational:
        """Return half the squared error, minus the log of the probability of what is true, or Poisson's deviance."""
        if self.output == "identity":
            return self.pencil.kept(sum((p - t) ** 2 for p, t in zip(output, target, strict=True)) / 2)
        if self.output == "softmax":
            return self.pencil.kept(-sum(t * log(p) for p, t in zip(output, target, strict=True) if t))
        if self.output == "exp":
            return self.pencil.kept(
                sum(p - t + (t * log(t / p) if t else 0) for p, t in zip(output, target, strict=True))
            )
        right = (p if t else 1 - p for p, t in zip(output, target, strict=True))
        return self.pencil.kept(-sum(log(p) for p in right))

    def backward(
        self, sums: Sequence[Matrix], values: Sequence[Matrix], target: Matrix
    ) -> tuple[list[Matrix], list[Matrix], list[Matrix]]:
        """Return the gradients of the weights, those of the sums (which are those of the biases), and of the values."""
        errors = [self.pencil.kept(values[-1] - target)]  # of the last sums, for each of these losses
        passed: list[Matrix] = []
        for layer in range(len(self.coefs) - 1, 0, -1):
            passed.insert(0, self.pencil.kept(self.coefs[layer] * errors[0]))
            slopes = self.slopes(sums[layer - 1])
            errors.insert(0, self.pencil.kept(passed[0].multiply_elementwise(slopes)))
        weights = [self.pencil.kept(h * error.T) for h, error in zip(values, errors, strict=False)]
        return weights, errors, passed

    def moved(self, layer: int, place: tuple[int, int], by: Rational, *, bias: bool = False) -> ExactNetwork:
        """Return the network with one weight, or one bias, moved."""
        coefs, intercepts = list(self.coefs), list(self.intercepts)
        changed = (intercepts if bias else coefs)[layer].copy()
        changed[place] += by
        (intercepts if bias else coefs)[layer] = changed
        return ExactNetwork(tuple(coefs), tuple(intercepts), self.activation, self.output, self.pencil)

    def _activated(self, a: Matrix) -> Matrix:
        return self.pencil.kept(a.applyfunc(ACTIVATIONS[self.activation][0]))

    def _ends(self, a: Matrix) -> Matrix:
        if self.output == "identity":
            return a
        if self.output == "logistic":
            return self.pencil.kept(a.applyfunc(_sigmoid))
        powers = self.pencil.kept(a.applyfunc(exp))
        if self.output == "exp":
            return powers
        return self.pencil.kept(powers / sum(powers))


def exact_network(coefs: Any, intercepts: Any, activation: str, output: str) -> ExactNetwork:
    """Return the network, or refuse layers that do not fit each other."""
    check_one_of(ACTIVATIONS, activation=activation)
    check_one_of(OUTPUTS, output=output)
    if coefs is None or intercepts is None:
        raise ValueError("coefs and intercepts must both be given, got one without the other.")
    if len(coefs) == 0 or len(coefs) != len(intercepts):
        raise ValueError(
            f"coefs and intercepts must have one entry for each layer, got {len(coefs)}, {len(intercepts)}."
        )
    weights = tuple(exact_matrix(W, "coefs") for W in coefs)
    biases = tuple(exact_matrix(b, "intercepts") for b in intercepts)
    inputs = weights[0].rows
    for layer, (W, b) in enumerate(zip(weights, biases, strict=True), 1):
        if W.rows != inputs or b.shape != (W.cols, 1):
            raise ValueError(
                f"coefs must have a row for each input of their layer and intercepts an entry for each unit, got "
                f"{W.shape} and {b.rows} for {inputs} inputs of layer {layer}."
            )
        inputs = W.cols
    return ExactNetwork(weights, biases, activation, output, Pencil())
