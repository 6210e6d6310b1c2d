"""Constraints: vector-valued functions that must be zero, or at most zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.optimize.differences import numerical_jacobian


class Constraint(Protocol):
    """A vector-valued function with its Jacobian."""

    def value(self, x: Array) -> Array:
        """Return the values, of shape (m,)."""
        ...

    def jacobian(self, x: Array) -> Array:
        """Return the Jacobian, of shape (m, n)."""
        ...


@dataclass(frozen=True, eq=False)
class LinearConstraint:
    r"""The function :math:`x \mapsto Ax - b`.

    Examples
    --------
    >>> LinearConstraint([[1.0, 1.0]], [3.0]).value(np.array([1.0, 1.0]))
    array([-1.])
    """

    A: Array
    b: Array

    def __post_init__(self) -> None:
        A, b = np.array(self.A, dtype=np.float64, ndmin=2), np.array(self.b, dtype=np.float64, ndmin=1)
        if A.ndim != 2 or b.shape != A.shape[:1]:
            raise ValueError(f"A and b must have shapes (m, n) and (m,), got {A.shape} and {b.shape}.")
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise ValueError("A and b must be finite, got nan or inf in them. Leave out rows that bind nothing.")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)

    def value(self, x: Array) -> Array:
        """Return Ax - b."""
        return self.A @ x - self.b

    def jacobian(self, x: Array) -> Array:
        """Return A."""
        return self.A


@dataclass(frozen=True)
class SmoothConstraint:
    r"""A smooth function, with one value or several.

    Parameters
    ----------
    function : callable x -> number or array of shape (m,)
    derivative : callable x -> array of shape (n,) or (m, n), default=None
        Its Jacobian; without it, central differences are used.

    Examples
    --------
    >>> circle = SmoothConstraint(lambda x: x @ x - 1)
    >>> circle.jacobian(np.array([1.0, 2.0])).round(6)
    array([[2., 4.]])
    """

    function: Callable[[Array], Array | float]
    derivative: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        for name, given in (("function", self.function), ("derivative", self.derivative)):
            if not callable(given) and not (given is None and name == "derivative"):
                raise TypeError(f"{name} must be a function of x, got {given!r}.")

    def value(self, x: Array) -> Array:
        """Return the values as a vector."""
        values = np.atleast_1d(np.asarray(self.function(x), dtype=np.float64))
        if values.ndim != 1:
            raise ValueError(f"a constraint must return a number or a vector, got shape {values.shape}. Flatten it.")
        return values

    def jacobian(self, x: Array) -> Array:
        """Return the Jacobian, one row per value."""
        m = len(self.value(x))
        J = (
            numerical_jacobian(self.value, x)
            if self.derivative is None
            else np.asarray(self.derivative(x), dtype=np.float64)
        )
        J = J[None] if J.ndim == 1 else J
        if J.shape != (m, x.size):
            raise ValueError(f"the Jacobian of a constraint must have shape {(m, x.size)}, got {J.shape}.")
        return J


def bounds(low: Data, high: Data) -> LinearConstraint:
    r"""Return :math:`l \le x \le u` as :math:`l - x \le 0,\ x - u \le 0`, leaving out infinite bounds.

    Examples
    --------
    >>> bounds([0.0, 0.0], [1.0, np.inf]).value(np.array([0.25, 2.0]))
    array([-0.25, -2.  , -0.75])
    """
    low, high = np.broadcast_arrays(np.atleast_1d(low).astype(np.float64), np.atleast_1d(high).astype(np.float64))
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise ValueError(f"low must be at most high, got {low} and {high}. Swap them.")
    identity = np.eye(low.size)
    below, above = np.isfinite(low), np.isfinite(high)
    return LinearConstraint(np.concatenate([-identity[below], identity[above]]), np.r_[-low[below], high[above]])
