"""The problem as a method sees it: each answer is checked, counted and remembered."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pellucid.core.array_api import array_namespace
from pellucid.core.types import Array
from pellucid.optimize.differences import numerical_gradient
from pellucid.optimize.problem import Point, Problem


class Oracle:
    """Answers questions about a problem at a point.

    ``evaluations`` counts the points at which a method asked for a value or a gradient. What the driver looks at for
    its trace is remembered, too, and counts only if the method asks for it.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.evaluations = 0
        self.batch: Array | None = None
        self._values: list[tuple[Array, float]] = []
        self._points: list[Point] = []
        self._counted: list[Array] = []

    def value(self, x: Array) -> float:
        """Return the smooth part at ``x``; it may be infinite or nan where the function is not defined."""
        self._count(x)
        return self._value(x)

    def at(self, x: Array) -> Point:
        """Return value and gradient of the smooth part at ``x``."""
        self._count(x)
        return self.look(x)

    def gradient(self, x: Array) -> Array:
        """Return the gradient at ``x``: of the current batch if there is one, else of the whole."""
        if self.batch is None:
            return self.at(x).gradient
        self._count(x)
        assert self.problem.terms is not None
        return self._checked(self.problem.terms.gradient(x, self.batch), x)

    def look(self, x: Array) -> Point:
        """Return value and gradient of the smooth part without counting it."""
        for point in self._points:
            if point.x is x:
                return point
        point = self._evaluate(x)
        self._points = [*self._points[-1:], point]
        return point

    def objective(self, point: Point) -> float:
        """Return the value at a point, with the penalty."""
        penalty = self.problem.penalty
        return point.value if penalty is None else point.value + penalty.value(point.x)

    def hessian(self, x: Array) -> Array:
        """Return the Hessian at ``x``, symmetric."""
        if self.problem.hessian is None:
            raise ValueError("problem must have a hessian for this method, got none. Use BFGS, which builds its own.")
        hessian = self.problem.hessian(x)
        hessian = hessian if hasattr(hessian, "shape") else _as_array(hessian, x, "hessian")
        expected = (x.shape[0], x.shape[0])
        if tuple(hessian.shape) != expected:
            raise ValueError(f"hessian must return an array of shape {expected}, got {tuple(hessian.shape)}.")
        return hessian

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Return the Hessian at ``x`` times ``v``."""
        product: Callable[[Array, Array], Array] | None = self.problem.hessian_product
        return self.hessian(x) @ v if product is None else self._checked(product(x, v), x, "hessian_product")

    def _count(self, x: Array) -> None:
        if not any(counted is x for counted in self._counted):
            self.evaluations += 1
            self._counted = [*self._counted[-1:], x]

    def _value(self, x: Array) -> float:
        for known, value in (*self._points_values(), *self._values):
            if known is x:
                return value
        value = as_float(self.problem.value(x))
        self._values = [(x, value)]
        return value

    def _points_values(self) -> list[tuple[Array, float]]:
        return [(point.x, point.value) for point in self._points]

    def _evaluate(self, x: Array) -> Point:
        problem = self.problem
        value_is_known = any(known is x for known, _ in self._values)
        if problem.value_and_gradient is not None and (problem.gradient is None or not value_is_known):
            value, gradient = problem.value_and_gradient(x)
            return Point(x, as_float(value), self._checked(gradient, x))
        value = self._value(x)
        gradient = numerical_gradient(problem.value, x) if problem.gradient is None else problem.gradient(x)
        return Point(x, value, self._checked(gradient, x))

    @staticmethod
    def _checked(vector: Any, x: Array, name: str = "gradient") -> Array:
        """Return a copy of what the user's function gave, in the precision of ``x``: it may reuse its memory."""
        vector = vector if hasattr(vector, "shape") else _as_array(vector, x, name)
        if tuple(vector.shape) != tuple(x.shape):
            got = f"shape {tuple(vector.shape)}" if vector.ndim else repr(vector.item())
            raise ValueError(f"{name} must return an array of shape {tuple(x.shape)} like x, got {got}.")
        return array_namespace(x).asarray(vector, dtype=x.dtype, copy=True)


def _as_array(values: Any, like: Array, name: str) -> Array:
    """Return a list of numbers as an array of the kind of ``x``."""
    try:
        if values is not None:
            return array_namespace(like).asarray(values, dtype=like.dtype)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must return an array of numbers, got {values!r}.")


def as_float(value: Any) -> float:
    """Return what the user's function gave as a number."""
    if isinstance(value, float):
        return value
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):  # RuntimeError is torch's
        shape = getattr(value, "shape", None)
        got = repr(value) if shape is None else f"an array of shape {tuple(shape)}"
        raise ValueError(f"value must return one number, got {got}. Sum or average it.") from None


def is_finite(point: Point) -> bool:
    """Return whether value and gradient are finite."""
    return math.isfinite(point.value) and math.isfinite(float(abs(point.gradient).sum()))
