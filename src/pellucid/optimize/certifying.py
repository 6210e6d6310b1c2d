"""certify: what can be said about a candidate for the minimum, whatever kind of array it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.core.array_api import is_torch_array
from pellucid.core.arrays import as_numpy
from pellucid.core.types import Array, Data
from pellucid.optimize.differences import native_kind, numerical_gradient
from pellucid.optimize.problem import Penalty, Point, Problem
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.optimize.stationarity import prove_stationary


def certify(problem: Problem, x: Data, *, tolerance: float = 1e-6) -> Certificate:
    r"""Return what can be said about a candidate for the minimum.

    - the gradient is small: :math:`\|\nabla f(x)\|_\infty \le` ``tolerance``, or, with a penalty, the fixed-point
      residual :math:`\|x - \mathrm{prox}_h(x - \nabla f(x))\|_\infty`;
    - the Hessian has no negative eigenvalue, where it can be had;
    - if :math:`f` is :math:`\mu`-strongly convex, :math:`f(x) - f^* \le \|v\|^2/2\mu` and
      :math:`\|x - x^*\| \le \|v\|/\mu` for a (sub)gradient :math:`v`; if a lower bound is known, the gap to it.

    Parameters
    ----------
    problem : Problem
        The function, with or without a penalty.
    x : array or torch tensor of shape (n,)
        The candidate.
    tolerance : float, default=1e-6
        What the gradient, or the fixed-point residual, may be.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.optimize import quadratic
    >>> certify(quadratic(np.diag([1.0, 2.0])), np.array([0.0, 0.25]), tolerance=1.0)["gap"].value
    0.125
    """
    in_numpy = _of_numpy_vectors(problem, x) if is_torch_array(x) else problem
    return prove_stationary(in_numpy, as_numpy(x), tolerance=tolerance)


def residual(problem: Problem, point: Point) -> float:
    """Return the largest entry of the gradient, or of the fixed-point residual if there is a penalty."""
    if problem.penalty is None:
        return float(abs(point.gradient).max())
    return float(abs(point.x - problem.penalty.prox(point.x - point.gradient, 1.0)).max())


def _of_numpy_vectors(problem: Problem, x: Any) -> Problem:
    """Return the same problem of torch's functions as one of NumPy's; in double precision, if they take it."""
    import torch

    native = native_kind(problem.value, x)

    def wrapped(function: Any) -> Any:
        return None if function is None else lambda *vectors: as_numpy(torch.as_tensor(function(*map(native, vectors))))

    both = problem.value_and_gradient
    gradient = wrapped(problem.gradient)
    if gradient is None and both is None:  # by backpropagation

        def gradient(z: Array) -> Array:
            return as_numpy(numerical_gradient(problem.value, native(z)))

    return replace(
        problem,
        value=lambda z: float(problem.value(native(z))),
        gradient=gradient,
        value_and_gradient=None if both is None else lambda z: _as_pair(both(native(z))),
        hessian=wrapped(problem.hessian),
        hessian_product=wrapped(problem.hessian_product),
        terms=None,
        penalty=None if problem.penalty is None else _PenaltyOfNumpy(problem.penalty, native),
    )


def _as_pair(found: tuple[Any, Any]) -> tuple[float, Array]:
    return float(found[0]), as_numpy(found[1])


class _PenaltyOfNumpy:
    """A penalty of torch's vectors as one of NumPy's."""

    def __init__(self, penalty: Penalty, native: Any) -> None:
        self.penalty, self.native = penalty, native

    def value(self, x: Array) -> float:
        return float(self.penalty.value(self.native(x)))

    def prox(self, x: Array, step: float) -> Array:
        return as_numpy(self.penalty.prox(self.native(x), step))
