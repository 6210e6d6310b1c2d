"""Certificates for a candidate minimum, whoever found it: from the problem and the point alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_torch_array

from pellucid.core.arrays import as_numpy, length
from pellucid.optimize.differences import numerical_gradient, numerical_hessian
from pellucid.optimize.problem import Point, Problem
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim

AFFORDABLE = 200
"""Largest number of variables for which the eigenvalues of the Hessian are computed."""
AFFORDABLE_DIFFERENCES = 20
"""The same, if the Hessian must be found by differences of the gradient."""
TIGHT = 1e-8
"""A gap to the known lower bound below this, relative to the objective, proves the point optimal."""


def certify(problem: Problem, x: Array, *, tolerance: float = 1e-6) -> Certificate:
    r"""Return what can be said about a candidate for the minimum.

    - the gradient is small: :math:`\|\nabla f(x)\|_\infty \le` ``tolerance``, or, with a penalty, the fixed-point
      residual :math:`\|x - \mathrm{prox}_h(x - \nabla f(x))\|_\infty`;
    - the Hessian has no negative eigenvalue, where it can be had;
    - if :math:`f` is :math:`\mu`-strongly convex, :math:`f(x) - f^* \le \|v\|^2/2\mu` and
      :math:`\|x - x^*\| \le \|v\|/\mu` for a (sub)gradient :math:`v`; if a lower bound is known, the gap to it.

    Examples
    --------
    >>> from pellucid.optimize import quadratic
    >>> certify(quadratic(np.diag([1.0, 2.0])), np.array([0.0, 0.25]), tolerance=1.0)["gap"].value
    0.125
    """
    x = _in_double(problem, x)
    point = evaluate(problem, x)
    if not (math.isfinite(point.value) and math.isfinite(float(abs(point.gradient).sum()))):
        claim = Claim("gradient", "largest entry of the gradient: 0 at a minimum", math.nan, tolerance)
        return Certificate("none", (claim,), reason="The objective or its gradient is not finite here.")
    claims = [_gradient_claim(problem, point, tolerance), *_curvature_claims(problem, point)]
    distance = _distance_claims(problem, point, tolerance)
    return Certificate("optimal" if distance else "stationary", (*claims, *distance))


def evaluate(problem: Problem, x: Array) -> Point:
    """Return value and gradient of the smooth part, straight from the user's functions."""
    if problem.gradient is not None:
        return Point(x, float(problem.value(x)), _array(problem.gradient(x), x))
    if problem.value_and_gradient is not None:
        value, gradient = problem.value_and_gradient(x)
        return Point(x, float(value), _array(gradient, x))
    return Point(x, float(problem.value(x)), numerical_gradient(problem.value, x))


def _array(values: Any, x: Array) -> Array:
    """Return what the user's function gave; a list becomes an array like ``x``."""
    return values if hasattr(values, "shape") else array_namespace(x).asarray(values, dtype=x.dtype)


def residual(problem: Problem, point: Point) -> float:
    """Return the largest entry of the gradient, or of the fixed-point residual if there is a penalty."""
    if problem.penalty is None:
        return float(abs(point.gradient).max())
    return float(abs(point.x - problem.penalty.prox(point.x - point.gradient, 1.0)).max())


def _gradient_claim(problem: Problem, point: Point, tolerance: float) -> Claim:
    statement = (
        "largest entry of the gradient: 0 at a minimum"
        if problem.penalty is None
        else "largest entry of x - prox(x - gradient): 0 at a minimum"
    )
    remedy = "Raise max_iter, try another method, or check the gradient."
    return Claim("gradient", statement, residual(problem, point), tolerance, remedy)


def _curvature_claims(problem: Problem, point: Point) -> tuple[Claim, ...]:
    hessian, noise = _affordable_hessian(problem, point.x)
    if hessian is None or not np.isfinite(hessian).all():
        return ()
    eigenvalues = np.linalg.eigvalsh((hessian + hessian.T) / 2)
    size = max(1.0, float(np.abs(eigenvalues).max()))
    statement = "most negative curvature in any direction: 0 at a minimum"
    remedy = "This is a saddle point or a maximum: start elsewhere, or along the direction of negative curvature."
    return (Claim("curvature", statement, max(0.0, -float(eigenvalues[0])), noise * size, remedy),)


def _affordable_hessian(problem: Problem, x: Array) -> tuple[Array | None, float]:
    """Return the Hessian and the relative size of its error, or nothing if it would cost too much."""
    n = x.shape[0]
    if problem.penalty is not None or n > AFFORDABLE:
        return None, 0.0
    if problem.hessian is not None:
        return as_numpy(_array(problem.hessian(x), x)), 1e-10
    product = problem.hessian_product
    if product is not None:
        return np.stack([as_numpy(product(x, direction)) for direction in _axes(x)]), 1e-10
    if n <= AFFORDABLE_DIFFERENCES and (problem.gradient or problem.value_and_gradient):
        return numerical_hessian(lambda z: evaluate(problem, z).gradient, x), 1e-5
    return None, 0.0


def _axes(x: Array) -> Any:
    """Yield the unit vectors, of the kind that ``x`` is."""
    for j in range(x.shape[0]):
        axis = x * 0
        axis[j] = 1.0
        yield axis


def _distance_claims(problem: Problem, point: Point, tolerance: float) -> tuple[Claim, ...]:
    """Return bounds on the distance to the optimum, if one is known."""
    mu, n = problem.strong_convexity, point.x.shape[0]
    objective = problem.objective(point.x)
    above = objective - problem.lower_bound
    if above <= TIGHT * max(1.0, abs(objective)):
        bound = TIGHT * max(1.0, abs(objective))
        return (Claim("gap", "objective minus its known lower bound", above, bound),)
    if not mu:
        return ()
    norm, excess = _subgradient(problem, point)
    allowed = n * tolerance**2 / (2 * mu) + TIGHT * max(1.0, abs(objective)) * (problem.penalty is not None)
    reach = math.sqrt(n) * tolerance / mu
    return (
        Claim("gap", "the objective is at most this far above its minimum", excess + norm**2 / (2 * mu), allowed),
        Claim(
            "distance",
            "x is at most this far from the minimizer",
            norm / mu + math.sqrt(max(0.0, 2 * excess / mu)),
            reach if problem.penalty is None else math.sqrt(2 * allowed / mu) + reach,
        ),
    )


def _subgradient(problem: Problem, point: Point) -> tuple[float, float]:
    r"""Return the norm of a subgradient and how far the objective is above the point it belongs to.

    With a penalty that point is :math:`x^+ = \mathrm{prox}(x - t\nabla f(x))`, where
    :math:`\nabla f(x^+) - \nabla f(x) + (x - x^+)/t` is a subgradient of :math:`f + h`.
    """
    if problem.penalty is None:
        return length(point.gradient), 0.0
    step = 1.0 / (problem.smoothness or 1.0)
    near = evaluate(problem, problem.penalty.prox(point.x - step * point.gradient, step))
    subgradient = near.gradient - point.gradient + (point.x - near.x) / step
    return length(subgradient), max(0.0, problem.objective(point.x) - problem.objective(near.x))


def _in_double(problem: Problem, x: Array) -> Array:
    """Return the point in double precision, if the user's functions take it."""
    if not is_torch_array(x):
        return as_numpy(x)
    try:
        problem.value(x.double())
    except RuntimeError:  # the function holds single-precision tensors of its own
        return x
    return x.double()
