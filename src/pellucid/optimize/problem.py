"""A problem: the function to minimize and whatever is known about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pellucid.core.array_api import array_namespace
from pellucid.core.arrays import as_numpy
from pellucid.core.checks import check_nonnegative, check_positive, check_whole
from pellucid.core.types import Array


class Point(NamedTuple):
    """A point with the value and the gradient of the smooth part there."""

    x: Array
    value: float
    gradient: Array


class Penalty(Protocol):
    """A convex part :math:`h` that need not be smooth, but whose proximal step is known.

    Parameters
    ----------
    *args, **kwargs
        Those of a class of this kind: a protocol says what it must have, and is not made itself.
    """

    def value(self, x: Array) -> float:
        """Return :math:`h(x)`; infinite outside its domain."""
        ...

    def prox(self, x: Array, step: float) -> Array:
        r"""Return :math:`\arg\min_z\ h(z) + \|z - x\|^2 / (2\,\mathrm{step})`."""
        ...


@dataclass(frozen=True)
class FiniteSum:
    r"""The terms of :math:`f(x) = \frac1n\sum_i f_i(x)`, for methods that look at a few of them at a time.

    Parameters
    ----------
    count : int
        Number :math:`n` of terms.
    gradient : callable (x, rows) -> array
        Mean gradient of the terms with these indices: its mean over random rows is the gradient of :math:`f`.
    """

    count: int
    gradient: Callable[[Array, Array], Array]

    def __post_init__(self) -> None:
        check_whole(count=self.count)


@dataclass(frozen=True)
class Problem:
    r"""Minimize :math:`f(x) + h(x)` over vectors :math:`x`.

    Parameters
    ----------
    value : callable x -> float
        The smooth part :math:`f`. It may return inf outside its domain: line searches then step back.
    gradient : callable x -> array, default=None
        Its gradient. Without it, central differences are used, or autograd if :math:`x` is a torch tensor.
    hessian : callable x -> array of shape (n, n), default=None
        Its second derivatives.
    hessian_product : callable (x, v) -> array, default=None
        :math:`\nabla^2 f(x)\,v` without the whole matrix.
    value_and_gradient : callable x -> (float, array), default=None
        Both at once, for functions that share the work.
    terms : FiniteSum, default=None
        The terms of a mean, for mini-batches.
    penalty : Penalty, default=None
        The part :math:`h`, for proximal methods.
    strong_convexity : float, default=None
        A :math:`\mu` such that :math:`f - \frac\mu2\|x\|^2` is convex; 0 says that :math:`f` is convex, None that
        nobody knows. Above 0 it turns a gradient into a bound on the distance to the optimum.
    smoothness : float, default=None
        A Lipschitz constant :math:`L` of the gradient.
    lower_bound : float, default=-inf
        A number that :math:`f + h` never falls below.
    is_quadratic : bool, default=False
        Whether the Hessian is the same everywhere, so that a line can be searched exactly.

    Examples
    --------
    >>> import numpy as np
    >>> bowl = Problem(lambda x: float(x @ x), lambda x: 2 * x, strong_convexity=2.0)
    >>> bowl.value(np.array([3.0, 4.0]))
    25.0
    """

    value: Callable[[Array], float]
    gradient: Callable[[Array], Array] | None = None
    hessian: Callable[[Array], Array] | None = None
    hessian_product: Callable[[Array, Array], Array] | None = None
    value_and_gradient: Callable[[Array], tuple[float, Array]] | None = None
    terms: FiniteSum | None = None
    penalty: Penalty | None = None
    strong_convexity: float | None = None
    smoothness: float | None = None
    lower_bound: float = -math.inf
    is_quadratic: bool = False

    def __post_init__(self) -> None:
        for name in ("value", "gradient", "hessian", "hessian_product", "value_and_gradient"):
            _check_callable(name, getattr(self, name), needed=name == "value")
        if self.strong_convexity is not None:
            check_nonnegative(strong_convexity=self.strong_convexity)
        if self.smoothness is not None:
            check_positive(smoothness=self.smoothness)

    def objective(self, x: Array) -> float:
        """Return :math:`f(x) + h(x)`."""
        penalty = 0.0 if self.penalty is None else self.penalty.value(x)
        return float(self.value(x)) + penalty


def _check_callable(name: str, function: Any, *, needed: bool) -> None:
    if not (callable(function) or (function is None and not needed)):
        raise TypeError(f"{name} must be a function of x, got {function!r}.")


def quadratic(A: Array, b: Array | None = None, c: float = 0.0) -> Problem:
    r"""Return the problem of minimizing :math:`\frac12 x'Ax - b'x + c` for a symmetric matrix.

    Its smoothness is the largest eigenvalue of :math:`A`, its strong convexity the smallest, if that is not negative.

    Parameters
    ----------
    A : array or torch tensor of shape (n, n)
        The symmetric matrix; its kind is that of the points the problem takes.
    b : array or torch tensor of shape (n,), default=None
        The linear part; None is 0.
    c : float, default=0.0
        The value at 0.

    Examples
    --------
    >>> import numpy as np
    >>> bowl = quadratic(np.diag([1.0, 4.0]), np.array([1.0, 4.0]))
    >>> bowl.strong_convexity, bowl.smoothness
    (1.0, 4.0)
    >>> bowl.gradient(np.ones(2))
    array([0., 0.])
    """
    xp = array_namespace(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {tuple(A.shape)}.")
    if not bool(xp.all(abs(A - A.T) <= 1e-12 * abs(A).max())):
        raise ValueError("A must be symmetric, got a matrix that is not. Use (A + A.T) / 2: x'Ax is the same.")
    offset = xp.zeros_like(A[0]) if b is None else b
    if tuple(offset.shape) != (A.shape[0],):
        raise ValueError(f"b must have shape {(A.shape[0],)}, got {tuple(offset.shape)}.")
    eigenvalues = as_numpy(xp.linalg.eigvalsh(A))
    smallest, largest = float(eigenvalues[0]), float(abs(eigenvalues).max())
    semidefinite = smallest >= -1e-14 * largest

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        product = A @ x
        return float(x @ (0.5 * product - offset)) + c, product - offset

    return Problem(
        value=lambda x: value_and_gradient(x)[0],
        gradient=lambda x: A @ x - offset,
        hessian=lambda _: A,
        hessian_product=lambda _, v: A @ v,
        value_and_gradient=value_and_gradient,
        strong_convexity=max(smallest, 0.0) if semidefinite else None,
        smoothness=largest or None,
        is_quadratic=True,
    )
