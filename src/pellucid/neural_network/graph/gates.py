"""Gates: what a node computes from its inputs, and what it hands back to them. Each rule is local."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.neural_network.graph.values import Value, as_float, is_exact

MOST_BITS = 10_000
"""Powers with more binary digits than this are worked in floating point, or a short text could fill the memory."""

ZERO: Value = Fraction(0)
ONE: Value = Fraction(1)

CALL = 9
"""How strongly a function with its parentheses binds: more than any sign."""


@dataclass(frozen=True)
class Gate:
    """One operation: forward on values, backward on the gradient of its output.

    ``forward(*inputs)`` returns the output, ``backward(gradient, output, *inputs)`` one gradient for each input, None
    for one that is always a constant. ``rule`` says in words what backward does.
    """

    sign: str
    """What stands on the gate in a drawing."""
    template: str
    """The operation as text, with a pair of braces for each input."""
    rule: str
    forward: Callable[..., Value]
    backward: Callable[..., tuple[Value | None, ...]]
    binds: int = CALL
    """How strongly it binds: an input that binds less strongly stands in parentheses."""


def _power(base: Value, exponent: Value) -> Value:
    return base**exponent if _is_short_power(base, exponent) else as_float(base) ** as_float(exponent)


def _is_short_power(base: Value, exponent: Value) -> bool:
    if not (is_exact(base) and is_exact(exponent)):
        return True
    sizes = (max(abs(number.numerator).bit_length(), number.denominator.bit_length()) for number in np.ravel(base))
    most = max((abs(number) for number in np.ravel(exponent)), default=Fraction(0))
    return bool(max(sizes, default=0) * most <= MOST_BITS)


def _power_slope(gradient: Value, _: Value, base: Value, exponent: Value) -> tuple[Value, None]:
    lower = np.where(exponent == 0, exponent, exponent - 1)[()]  # the slope of x ** 0 is 0, at 0 too
    return gradient * exponent * _power(base, lower), None


def _route(gradient: Value, _: Value, left: Value, right: Value) -> tuple[Value, Value]:
    first = np.where(left > right, ONE, np.where(left == right, ONE / 2, ZERO))
    return gradient * first, gradient * (1 - first)


def _matmul_slopes(gradient: Value, _: Value, left: Value, right: Value) -> tuple[Value, Value]:
    rows = left if left.ndim == 2 else left[None, :]  # (n, k)
    columns = right if right.ndim == 2 else right[:, None]  # (k, m)
    above = np.reshape(gradient, (rows.shape[0], columns.shape[1]))  # (n, m)
    return (above @ columns.T).reshape(left.shape), (rows.T @ above).reshape(right.shape)


def _matmul(left: Any, right: Any) -> Value:
    if not all(np.ndim(side) in (1, 2) for side in (left, right)):
        raise ValueError("a number has no rows")
    return left @ right


GATES = {
    "add": Gate("+", "{} + {}", "hands the gradient on to both", lambda u, v: u + v, lambda g, *_: (g, g), 1),
    "subtract": Gate(
        "−", "{} − {}", "hands the gradient on, to the second input with its sign turned",
        lambda u, v: u - v, lambda g, *_: (g, -g), 1,
    ),
    "negate": Gate("−", "−{}", "turns the sign of the gradient", lambda u: -u, lambda g, *_: (-g,), 2),
    "multiply": Gate(
        "×", "{} · {}", "gives each the gradient times the other",
        lambda u, v: u * v, lambda g, _, u, v: (g * v, g * u), 3,
    ),
    "divide": Gate(
        "÷", "{} / {}", "divides the gradient by the second input; that one gets it times minus the output",
        lambda u, v: u / v, lambda g, out, _, v: (g / v, -g * out / v), 3,
    ),
    "matmul": Gate("@", "{} @ {}", "gives each the gradient times the other, transposed", _matmul, _matmul_slopes, 3),
    "power": Gate(
        "^", "{}^{}", "multiplies the gradient by the exponent and the power one lower", _power, _power_slope, 5
    ),
    "max": Gate("max", "max({}, {})", "sends the gradient to the larger input; equals share it", np.maximum, _route),
    "relu": Gate(
        "relu", "relu({})", "lets the gradient pass where the input is above 0",
        lambda u: np.maximum(u, ZERO), lambda g, _, u: (g * np.where(u > 0, ONE, ZERO),),
    ),
    "exp": Gate(
        "exp", "exp({})", "multiplies the gradient by the output",
        lambda u: np.exp(as_float(u)), lambda g, out, _: (g * out,),
    ),
    "log": Gate(
        "log", "log({})", "divides the gradient by the input", lambda u: np.log(as_float(u)), lambda g, _, u: (g / u,)
    ),
    "tanh": Gate(
        "tanh", "tanh({})", "multiplies the gradient by 1 minus the output squared",
        lambda u: np.tanh(as_float(u)), lambda g, out, _: (g * (1 - out * out),),
    ),
    "sigmoid": Gate(
        "σ", "sigmoid({})", "multiplies the gradient by the output and by 1 minus it",
        lambda u: expit(as_float(u)), lambda g, out, _: (g * out * (1 - out),),
    ),
    "sum": Gate(
        "∑", "sum({})", "gives every entry the gradient",
        lambda u: np.sum(u), lambda g, _, u: (np.full(np.shape(u), g),),
    ),
    "transpose": Gate("ᵀ", "{}ᵀ", "transposes the gradient", np.transpose, lambda g, *_: (np.transpose(g),), 6),
}  # fmt: skip
"""Name of a gate -> the gate."""

COPY = "a value that is used several times is copied; its gradient is the sum over the copies"
"""The rule of the gate that nobody writes: it stands wherever a value goes to more than one place."""
