"""A problem's functions as functions of float64 arrays, whatever kind of array they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from array_api_compat import is_torch_array

from pellucid.core.types import Array, Data
from pellucid.optimize.oracle import as_float
from pellucid.optimize.problem import Problem


class InDouble:
    """The value and the derivatives of a problem at float64 arrays.

    A torch function is asked in double precision if it can be, else in the precision of the point. A function that
    fails outside its domain (``math.log(-1)``) is nan there, as NumPy's would be.

    Examples
    --------
    >>> InDouble(Problem(lambda x: float(x @ x), lambda x: 2 * x), [1, 2]).gradient(np.array([3.0, 4.0]))
    array([6., 8.])
    """

    def __init__(self, problem: Problem, x: Data) -> None:
        self.problem = problem
        self._native = _native_kind(problem, x)
        self.x = np.array(x.detach().cpu().numpy() if is_torch_array(x) else x, dtype=np.float64)
        if self.x.ndim != 1 or self.x.size == 0:
            raise ValueError(f"x must be a vector, got shape {self.x.shape}. Flatten it, and reshape in your function.")
        if not np.isfinite(self.x).all():
            raise ValueError("x must be finite, got nan or inf in it. Look at another point.")

    def value(self, z: Array) -> float:
        """Return the value at ``z``."""
        try:
            with np.errstate(all="ignore"):
                return as_float(self.problem.value(self._native(z)))
        except (ArithmeticError, ValueError):
            if np.array_equal(z, self.x):
                raise
            return math.nan

    def gradient(self, z: Array) -> Array:
        """Return the gradient at ``z``, as the problem gives it."""
        gradients = self.gradients(z)
        if not gradients:
            raise ValueError("problem must have a gradient, got none. Pass gradient or value_and_gradient.")
        return gradients[0]

    def gradients(self, z: Array) -> list[Array]:
        """Return the gradient at ``z`` from every function of the problem that gives one; the terms, all at once."""
        with np.errstate(all="ignore"):
            native = self._native(z)
            found = [] if self.problem.gradient is None else [self.problem.gradient(native)]
            if self.problem.value_and_gradient is not None:
                found.append(self.problem.value_and_gradient(native)[1])
            if self.problem.terms is not None:
                found.append(self.problem.terms.gradient(native, np.arange(self.problem.terms.count)))
        return [self._checked(gradient, self.x.shape, "gradient") for gradient in found]

    def hessian(self, z: Array) -> Array:
        """Return the Hessian at ``z``; the problem must have one."""
        hessian: Any = self.problem.hessian
        with np.errstate(all="ignore"):
            return self._checked(hessian(self._native(z)), (self.x.size, self.x.size), "hessian")

    def hessian_product(self, z: Array, v: Array) -> Array:
        """Return the Hessian at ``z`` times ``v``; the problem must have the product."""
        product: Any = self.problem.hessian_product
        with np.errstate(all="ignore"):
            return self._checked(product(self._native(z), self._native(v)), self.x.shape, "hessian_product")

    @staticmethod
    def _checked(answer: Any, shape: tuple[int, ...], name: str) -> Array:
        if is_torch_array(answer):
            answer = answer.detach().cpu().numpy()
        answer = np.array(answer, dtype=np.float64)
        if answer.shape != shape:
            raise ValueError(f"{name} must return an array of shape {shape}, got {answer.shape}.")
        return answer


def _native_kind(problem: Problem, x: Data) -> Callable[[Array], Any]:
    """Return the map from a float64 array to the kind of array that the problem takes."""
    if not is_torch_array(x):
        return np.copy
    import torch

    dtype, value = torch.float64, cast("Callable[[Any], Any]", problem.value)
    try:
        value(x.detach().to(dtype))
    except RuntimeError:  # the function holds single-precision tensors of its own
        dtype = x.dtype
    return lambda z: torch.as_tensor(z, dtype=dtype, device=x.device)
