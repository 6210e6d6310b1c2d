"""A problem's functions as functions of float64 arrays, whatever kind of array they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from pellucid.core.array_api import is_torch_array
from pellucid.core.types import Array, Data
from pellucid.optimize.differences import native_kind
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
        self._native = native_kind(problem.value, x)
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


EPS = float(np.finfo(np.float64).eps)
SINGLE_EPS = float(np.finfo(np.float32).eps)
POINTS = 8
ORDERS = range(3, 7)
"""Orders of differences at which a smooth function has vanished at this spacing, and only its rounding is left."""
SPACINGS = tuple(8 * EPS * 64.0**k for k in range(8))
"""Relative distances of the points: from a few units in the last place to where a coarse function changes."""


def rounding_noise(function: Callable[[Array], Array | float], x: Array) -> Array:
    r"""Return the size of the rounding errors of each output of a function near ``x``.

    Along a line of close points the differences of high order of a smooth function vanish, those of its rounding errors
    do not: with errors of standard deviation :math:`\sigma`, the variance of a difference of order :math:`k` is
    :math:`\binom{2k}{k}\sigma^2`. If all points have equal values they are moved apart: the function may compute in
    single precision, and then its values are steps, whose height counts as noise.

    Examples
    --------
    >>> single = lambda x: np.float32(1.0) + np.float32(x[0])
    >>> bool(1e-9 < rounding_noise(single, np.array([0.3]))[0] < 1e-6)
    True
    """
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=x.shape)
    own, unit = np.where(x == 0, 1.0, np.abs(x)), np.maximum(np.abs(x), 1.0)
    here = _vector(function(x))
    noise, unknown, single = np.zeros_like(here), np.ones(here.shape, dtype=bool), _is_single(here)
    for scale, spacing in product((own, unit), SPACINGS):
        values = np.stack([here, *(_vector(function(x + k * spacing * signs * scale)) for k in range(1, POINTS))])
        settled = unknown & (values != here).any(axis=0) & np.isfinite(values).all(axis=0)
        noise = np.where(settled, _scatter(values), noise)
        unknown &= ~settled
        single &= _is_single(values).all(axis=0)
        if not unknown.any():
            break
    return np.maximum(noise, np.where(single, SINGLE_EPS, EPS) * np.abs(here))


def _is_single(values: Array) -> Array:
    """Return which values are numbers of single precision: if all are, that is how they were computed."""
    with np.errstate(over="ignore"):
        return np.asarray(values.astype(np.float32) == values)


def _vector(answer: Array | float) -> Array:
    return np.atleast_1d(np.asarray(answer, dtype=float))


def _scatter(values: Array) -> Array:
    """Return the standard deviation that differences of high order speak of, and no less than a part of a step."""
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = [
            np.sqrt(np.mean(np.diff(values, n=order, axis=0) ** 2, axis=0) / math.comb(2 * order, order))
            for order in ORDERS
        ]
        moves = np.abs(np.diff(values, axis=0))
    smallest = np.where(moves > 0, moves, np.inf).min(axis=0)
    coarse = np.where((moves > 0).mean(axis=0) < 0.5, 1.0, 1 / 8)  # values that rarely move: each move is a step
    return np.maximum(np.max(sizes, axis=0), coarse * smallest)
