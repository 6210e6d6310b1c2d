"""Numbers that carry their first and second derivatives through a calculation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.types import Array


class Jet:
    """Values of some functions of ``x`` with their gradients and, if wanted, Hessians; NumPy's functions take it.

    The value may be an array: then its shape comes before that of the derivatives.

    Examples
    --------
    >>> x, y = Jet.variables(np.array([2.0, 3.0]))
    >>> product = x * x * y
    >>> product.value, product.first, product.second
    (array(12.), array([12.,  4.]), array([[6., 4.],
           [4., 0.]]))
    """

    def __init__(self, value: Any, first: Array, second: Array | None) -> None:
        self.value, self.first, self.second = np.asarray(value, dtype=float), first, second

    @classmethod
    def variables(cls, x: Array, *, second: bool = True) -> list[Jet]:
        """Return each coordinate of ``x`` as a jet."""
        n = len(x)
        return [cls(x[j], np.eye(n)[j], np.zeros((n, n)) if second else None) for j in range(n)]

    def _chain(self, value: Array, d1: Array, d2: Array) -> Jet:
        """Return a function of this jet from its value and two derivatives: the chain rule."""
        second = None
        if self.second is not None:
            outer = self.first[..., :, None] * self.first[..., None, :]
            second = d1[..., None, None] * self.second + d2[..., None, None] * outer
        return Jet(value, d1[..., None] * self.first, second)

    def __add__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self._chain(self.value + other, *_constants(self.value + other, 1.0, 0.0))
        second = None if self.second is None else self.second + other.second
        return Jet(self.value + other.value, self.first + other.first, second)

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self._chain(self.value * other, *_constants(self.value * other, other, 0.0))
        u, v = self.value[..., None], other.value[..., None]
        second = None
        if self.second is not None:
            cross = self.first[..., :, None] * other.first[..., None, :]
            second = u[..., None] * other.second + v[..., None] * self.second + cross + np.swapaxes(cross, -1, -2)
        return Jet(self.value * other.value, u * other.first + v * self.first, second)

    def __pow__(self, exponent: Any) -> Jet:
        if isinstance(exponent, Jet):
            return np.exp(exponent * np.log(self))
        u = self.value
        return self._chain(
            u**exponent, exponent * u ** (exponent - 1.0), exponent * (exponent - 1.0) * _power(u, exponent)
        )

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return -self + other

    def __truediv__(self, other: Any) -> Jet:
        return self * other**-1.0 if isinstance(other, Jet) else self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> Jet:
        return self**-1.0 * other

    __radd__, __rmul__ = __add__, __mul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Let NumPy's functions and arrays work with jets."""
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in _FUNCTIONS:
            u = self.value
            return self._chain(*(derivative(u) for derivative in _FUNCTIONS[ufunc]))
        if ufunc in _REFLECTED and isinstance(inputs[1], Jet):
            return _REFLECTED[ufunc](inputs[1], inputs[0])
        return NotImplemented


def _constants(like: Array, d1: Any, d2: float) -> tuple[Array, Array]:
    return np.broadcast_to(np.asarray(d1, dtype=float), np.shape(like)), np.full(np.shape(like), d2)


def _power(u: Array, exponent: Any) -> Array:
    """Return the power of the second derivative; of a linear function it is not asked for, which spares 0 / 0."""
    return np.zeros_like(u) if np.all(np.asarray(exponent) == 1) else u ** (exponent - 2.0)


_FUNCTIONS: dict[Any, tuple[Callable[[Array], Array], ...]] = {
    np.exp: (np.exp, np.exp, np.exp),
    np.log: (np.log, lambda u: 1 / u, lambda u: -1 / u**2),
    np.sqrt: (np.sqrt, lambda u: 0.5 / np.sqrt(u), lambda u: -0.25 * u**-1.5),
    np.sin: (np.sin, np.cos, lambda u: -np.sin(u)),
    np.cos: (np.cos, lambda u: -np.sin(u), lambda u: -np.cos(u)),
    np.arctan: (np.arctan, lambda u: 1 / (1 + u**2), lambda u: -2 * u / (1 + u**2) ** 2),
    np.abs: (np.abs, np.sign, lambda u: 0 * u),
}
"""A function with its first and second derivative."""

_REFLECTED: dict[Any, Callable[[Jet, Any], Jet]] = {
    np.add: Jet.__radd__,
    np.subtract: Jet.__rsub__,
    np.multiply: Jet.__rmul__,
    np.divide: Jet.__rtruediv__,
}
"""What an array on the left of a sign does with a jet on its right."""
