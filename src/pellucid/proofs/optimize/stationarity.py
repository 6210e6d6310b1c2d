"""Certificates for a candidate minimum, whoever found it: from the functions of the problem and the point alone."""

# ruff: noqa: D102  (what a problem has is described by its class)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim

AFFORDABLE = 200
"""Largest number of variables for which the eigenvalues of the Hessian are computed."""
AFFORDABLE_DIFFERENCES = 20
"""The same, if the Hessian must be found by differences of the gradient."""
TIGHT = 1e-8
"""A gap to the known lower bound below this, relative to the objective, proves the point optimal."""
DIFFERENCE = float(np.cbrt(np.finfo(np.float64).eps))
"""Relative step of a central difference: its error, the square of it, is then that of rounding."""


class GivenPenalty(Protocol):
    """A convex part that need not be smooth, and its proximal step."""

    def value(self, x: Array, /) -> float: ...
    def prox(self, x: Array, step: float, /) -> Array: ...


class GivenProblem(Protocol):
    """Functions of NumPy vectors, and what their user knows about them; what is None is not known."""

    @property
    def value(self) -> Callable[[Array], float]: ...
    @property
    def gradient(self) -> Callable[[Array], Array] | None: ...
    @property
    def value_and_gradient(self) -> Callable[[Array], tuple[float, Array]] | None: ...
    @property
    def hessian(self) -> Callable[[Array], Array] | None: ...
    @property
    def hessian_product(self) -> Callable[[Array, Array], Array] | None: ...
    @property
    def penalty(self) -> GivenPenalty | None: ...
    @property
    def strong_convexity(self) -> float | None: ...
    @property
    def smoothness(self) -> float | None: ...
    @property
    def lower_bound(self) -> float: ...


class ValueAndSlope(NamedTuple):
    """The smooth part at a point."""

    x: Array
    value: float
    gradient: Array


def prove_stationary(problem: GivenProblem, x: Array, *, tolerance: float = 1e-6) -> Certificate:
    """Return what can be said about a candidate for the minimum; see :func:`pellucid.optimize.certify`."""
    point = evaluate(problem, np.asarray(x, dtype=np.float64))
    if not (math.isfinite(point.value) and np.isfinite(point.gradient).all()):
        claim = Claim("gradient", "largest entry of the gradient: 0 at a minimum", math.nan, tolerance)
        return Certificate("none", (claim,), reason="The objective or its gradient is not finite here.")
    claims = [_gradient_claim(problem, point, tolerance), *_curvature_claims(problem, point)]
    distance = _distance_claims(problem, point, tolerance)
    return Certificate("optimal" if distance else "stationary", (*claims, *distance))


def evaluate(problem: GivenProblem, x: Array) -> ValueAndSlope:
    """Return value and gradient of the smooth part, straight from the user's functions."""
    if problem.gradient is not None:
        return ValueAndSlope(x, float(problem.value(x)), np.asarray(problem.gradient(x), dtype=np.float64))
    if problem.value_and_gradient is not None:
        value, gradient = problem.value_and_gradient(x)
        return ValueAndSlope(x, float(value), np.asarray(gradient, dtype=np.float64))
    return ValueAndSlope(x, float(problem.value(x)), _differences(lambda z: np.array([problem.value(z)]), x)[0])


def _differences(function: Callable[[Array], Array], x: Array) -> Array:
    """Return the derivatives of a function's values, one row each, by central differences."""
    columns = []
    for j, step in enumerate(DIFFERENCE * np.maximum(1.0, np.abs(x))):
        right, left = x.copy(), x.copy()
        right[j] += step
        left[j] -= step
        columns.append((np.asarray(function(right)) - np.asarray(function(left))) / (right[j] - left[j]))
    return np.stack(columns, axis=-1).astype(np.float64)


def _objective(problem: GivenProblem, x: Array) -> float:
    return float(problem.value(x)) + (0.0 if problem.penalty is None else float(problem.penalty.value(x)))


def _gradient_claim(problem: GivenProblem, point: ValueAndSlope, tolerance: float) -> Claim:
    statement = (
        "largest entry of the gradient: 0 at a minimum"
        if problem.penalty is None
        else "largest entry of x - prox(x - gradient): 0 at a minimum"
    )
    remedy = "Raise max_iter, try another method, or check the gradient."
    missing = point.gradient
    if problem.penalty is not None:
        missing = point.x - problem.penalty.prox(point.x - point.gradient, 1.0)
    return Claim("gradient", statement, float(np.abs(missing).max()), tolerance, remedy)


def _curvature_claims(problem: GivenProblem, point: ValueAndSlope) -> tuple[Claim, ...]:
    hessian, noise = _affordable_hessian(problem, point.x)
    if hessian is None or not np.isfinite(hessian).all():
        return ()
    eigenvalues = np.linalg.eigvalsh((hessian + hessian.T) / 2)
    size = max(1.0, float(np.abs(eigenvalues).max()))
    statement = "most negative curvature in any direction: 0 at a minimum"
    remedy = "This is a saddle point or a maximum: start elsewhere, or along the direction of negative curvature."
    return (Claim("curvature", statement, max(0.0, -float(eigenvalues[0])), noise * size, remedy),)


def _affordable_hessian(problem: GivenProblem, x: Array) -> tuple[Array | None, float]:
    """Return the Hessian and the relative size of its error, or nothing if it would cost too much."""
    n = x.shape[0]
    if problem.penalty is not None or n > AFFORDABLE:
        return None, 0.0
    if problem.hessian is not None:
        return np.asarray(problem.hessian(x), dtype=np.float64), 1e-10
    if problem.hessian_product is not None:
        columns = [problem.hessian_product(x, axis) for axis in np.eye(n)]
        return np.asarray(columns, dtype=np.float64), 1e-10
    if n <= AFFORDABLE_DIFFERENCES and (problem.gradient or problem.value_and_gradient):
        return _differences(lambda z: evaluate(problem, z).gradient, x), 1e-5
    return None, 0.0


def _distance_claims(problem: GivenProblem, point: ValueAndSlope, tolerance: float) -> tuple[Claim, ...]:
    """Return bounds on the distance to the optimum, if one is known."""
    mu, n = problem.strong_convexity, point.x.shape[0]
    objective = _objective(problem, point.x)
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
        Claim("distance", "x is at most this far from the minimizer",
              norm / mu + math.sqrt(max(0.0, 2 * excess / mu)),
              reach if problem.penalty is None else math.sqrt(2 * allowed / mu) + reach),
    )  # fmt: skip


def _subgradient(problem: GivenProblem, point: ValueAndSlope) -> tuple[float, float]:
    r"""Return the norm of a subgradient and how far the objective is above the point it belongs to.

    With a penalty that point is :math:`x^+ = \mathrm{prox}(x - t\nabla f(x))`, where
    :math:`\nabla f(x^+) - \nabla f(x) + (x - x^+)/t` is a subgradient of :math:`f + h`.
    """
    if problem.penalty is None:
        return float(np.linalg.norm(point.gradient)), 0.0
    step = 1.0 / (problem.smoothness or 1.0)
    near = evaluate(problem, problem.penalty.prox(point.x - step * point.gradient, step))
    subgradient = near.gradient - point.gradient + (point.x - near.x) / step
    return float(np.linalg.norm(subgradient)), max(0.0, _objective(problem, point.x) - _objective(problem, near.x))
