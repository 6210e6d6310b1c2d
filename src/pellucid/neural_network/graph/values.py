"""Numbers of a graph: exact fractions while the operations allow it, floats from there on; alone or in arrays."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias

import numpy as np

from pellucid.core.types import Array

Value: TypeAlias = Any
"""A Fraction, a float, or an array of one of them: float64, or objects that are all Fractions."""

LONGEST_FRACTION = 11
"""Digits of numerator and denominator together that are still shown as a fraction."""
FEW_BITS, FLOAT_BITS = 64, 1000
"""Binary digits of numbers that may be short, and up to which floats can hold them."""
LONGEST_ARRAY = 24
"""Characters of an array that is still shown entry by entry."""


def as_value(value: Any, name: str = "value") -> Value:
    """Return a number or an array as a graph keeps it: whole numbers and fractions exact, all else as floats.

    Examples
    --------
    >>> as_value(3), as_value(0.5), as_value([[1, 2]])
    (Fraction(3, 1), 0.5, array([[Fraction(1, 1), Fraction(2, 1)]], dtype=object))
    """
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real):
        return float(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array whose rows are as long as each other, got {value!r}.") from error
    if array.dtype.kind not in "biufO":
        raise TypeError(f"{name} must be a number or an array of real numbers, got {value!r}.")
    if array.ndim == 0:
        if array.dtype == object and not isinstance(array.item(), Real):
            raise TypeError(f"{name} must be a number or an array of real numbers, got {value!r}.")
        return as_value(array.item(), name)
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    cells = [as_value(cell, name) for cell in array.flat]
    kind = object if all(isinstance(cell, Fraction) for cell in cells) else np.float64
    settled = np.empty(array.size, dtype=kind)
    settled[:] = cells
    return settled.reshape(array.shape)


def is_finite(value: Value) -> bool:
    """Return whether no number is infinite or missing."""
    return is_exact(value) or bool(np.isfinite(value).all())


def is_exact(value: Value) -> bool:
    """Return whether all numbers are fractions."""
    return isinstance(value, Fraction) or (isinstance(value, np.ndarray) and value.dtype == object)


def as_float(value: Value) -> float | Array:
    """Return the value in floating point."""
    return value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)


def summed_to(gradient: Value, shape: tuple[int, ...]) -> Value:
    """Return the gradient of a value that was repeated to a larger shape: the sum over its copies.

    Examples
    --------
    >>> summed_to(np.ones((3, 2)), (2,))
    array([3., 3.])
    """
    found = np.asarray(gradient)
    found = found.sum(axis=tuple(range(found.ndim - len(shape))))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1 != np.shape(found)[axis])
    return np.sum(found, axis=repeated, keepdims=True) if repeated else found


def shown(value: Value) -> str:
    """Return a value in few characters, large arrays by their shape.

    Examples
    --------
    >>> shown(Fraction(-3, 2)), shown(0.123456), shown(np.eye(2)), shown(np.ones((9, 9)))
    ('−3/2', '0.1235', '[1 0; 0 1]', '9 × 9')
    """
    if not isinstance(value, np.ndarray):
        return _shown_number(value)
    shape = " × ".join(map(str, value.shape))
    if value.ndim > 2 or not 0 < value.size < LONGEST_ARRAY:
        return shape
    rows = value if value.ndim == 2 else value[None]
    text = "[" + "; ".join(" ".join(map(_shown_number, row)) for row in rows) + "]"
    return text if len(text) <= LONGEST_ARRAY else shape


def _shown_number(value: Fraction | float) -> str:
    if isinstance(value, Fraction):
        sizes = abs(value.numerator).bit_length(), value.denominator.bit_length()
        if max(sizes) < FEW_BITS and len(str(value)) <= LONGEST_FRACTION:
            return str(value).replace("-", "−")
        if max(sizes) > FLOAT_BITS:  # no float can hold it
            return f"{'−' if value < 0 else ''}≈ 10^{round((sizes[0] - sizes[1]) * math.log10(2))}"
    return f"{float(value):.4g}".replace("-", "−")
