"""Is a point a minimum? First and second order conditions, and a step downhill if it is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.optimize.checks.hessian_check import estimate_column
from pellucid.optimize.checks.in_double import EPS, InDouble, rounding_noise
from pellucid.optimize.problem import Problem

LARGEST = 500
"""Most variables: the eigenvalues of the Hessian are computed."""
FLAT = 1e-8
"""Curvatures below this part of the largest count as 0."""
NULL_DIRECTIONS = 64
"""Directions without curvature that are searched for a descent."""
LOCAL_STEPS = 10.0 ** np.arange(-8.0, 0.0)
"""Steps tried, relative to x. Where derivatives prove nothing, the smallest that goes down says most."""


@dataclass(frozen=True, repr=False)
class StationaryPoint:
    """What the first and second derivatives say about a point, and a step downhill if it is no minimum."""

    kind: str
    """``minimum``, ``maximum``, ``saddle``, ``degenerate`` (the second order says nothing) or ``not stationary``."""
    value: float
    """The function at the point."""
    gradient: float
    """Size of the largest entry of the gradient at the point."""
    eigenvalues: Array
    """Eigenvalues of the Hessian at the point, rising, of shape (n,)."""
    direction: Array | None = None
    """Where the function falls, of length 1; None for a minimum, or if no such direction was found."""
    step: float | None = None
    """How far along the direction the function was evaluated and found lower; None without a direction."""
    decrease: float = 0.0
    """By how much the function was found lower one step along the direction; 0 without one."""

    def __repr__(self) -> str:
        low, high = float(self.eigenvalues[0]), float(self.eigenvalues[-1])
        facts = f"largest gradient entry {self.gradient:.3g}, curvatures from {low:.6g} to {high:.6g}"
        if self.kind == "degenerate":
            facts += "; the second order says nothing"
        if self.step is not None and self.direction is not None:
            way = np.array2string(self.direction, precision=4, threshold=6)
            facts += f"; a step of {self.step:.3g} along {way} lowers f by {self.decrease:.3g}"
        return f"StationaryPoint({self.kind}: {facts})"


def classify(problem: Problem, x: Data, *, tol: float = 1e-6) -> StationaryPoint:
    r"""Classify a point by :math:`\nabla f(x)` and the eigenvalues of :math:`\nabla^2 f(x)`.

    The gradient counts as zero if a move of ``tol`` times :math:`\max(1, \|x\|_\infty)` changes it by as much:
    :math:`\|\nabla f\|_\infty \le \mathrm{tol}\,\|\nabla^2 f\|\max(1, \|x\|_\infty)`, or if it is rounding.

    Parameters
    ----------
    problem : Problem
        With a gradient and without a penalty; a Hessian that it lacks is found by differences.
    x : array or torch tensor of shape (n,)
        At most 500 variables.
    tol : float, default=1e-6
        How close to stationary, relative to :math:`x`.

    Examples
    --------
    >>> saddle = Problem(lambda x: x[0] ** 2 - x[1] ** 2, lambda x: np.array([2 * x[0], -2 * x[1]]))
    >>> point = classify(saddle, np.zeros(2))
    >>> point.kind, point.eigenvalues.round(6), abs(point.direction)
    ('saddle', array([-2.,  2.]), array([0., 1.]))
    """
    check_positive(tol=tol)
    functions = InDouble(problem, x)
    _require_smooth_and_small(functions)
    gradient, noise = functions.gradient(functions.x), rounding_noise(functions.gradient, functions.x)
    hessian, doubt = _hessian(functions, noise)
    eigenvalues, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    largest = float(np.abs(eigenvalues).max())
    allowed = tol * largest * max(1.0, float(np.abs(functions.x).max())) + 10 * float(noise.max())
    if float(np.abs(gradient).max()) > allowed:
        kind, candidates = "not stationary", (0.0 - gradient / np.linalg.norm(gradient))[None]
    else:
        kind, candidates = _second_order(eigenvalues, vectors, FLAT * largest + doubt)
    steps = LOCAL_STEPS if kind == "degenerate" else LOCAL_STEPS[::-1]
    return StationaryPoint(
        kind,
        functions.value(functions.x),
        float(np.abs(gradient).max()),
        eigenvalues,
        *_downhill(functions, candidates, steps),
    )


def _second_order(eigenvalues: Array, vectors: Array, zero: float) -> tuple[str, Array]:
    """Return the kind of a stationary point and the directions in which it may not be a minimum."""
    if eigenvalues[0] > zero:
        return "minimum", np.empty((0, len(eigenvalues)))
    if eigenvalues[0] < -zero:
        if eigenvalues[-1] > zero:
            return "saddle", vectors[:, :1].T
        return "maximum" if eigenvalues[-1] < -zero else "degenerate", vectors[:, :1].T
    null = vectors[:, np.abs(eigenvalues) <= zero]
    mixtures = np.random.default_rng(0).standard_normal((NULL_DIRECTIONS, null.shape[1])) @ null.T
    mixtures /= np.linalg.norm(mixtures, axis=1, keepdims=True)
    return "degenerate", np.concatenate([null.T, mixtures])


def _downhill(functions: InDouble, candidates: Array, steps: Array) -> tuple[Array | None, float | None, float]:
    """Return a direction, the first step that goes down beyond rounding, and by how much, evaluated; or nothing."""
    if not len(candidates):
        return None, None, 0.0
    here = functions.value(functions.x)
    floor = 10 * float(rounding_noise(functions.value, functions.x)[0])
    for step in max(1.0, float(np.abs(functions.x).max())) * steps:
        for direction in (*candidates, *-candidates):
            there = functions.value(functions.x + step * direction)
            if math.isfinite(there) and here - there > floor + 10 * EPS * abs(there):
                return direction, float(step), here - there
    return None, None, 0.0


def _hessian(functions: InDouble, noise: Array) -> tuple[Array, float]:
    """Return the Hessian and how far its eigenvalues may be off."""
    problem, x = functions.problem, functions.x
    if problem.hessian is not None:
        return functions.hessian(x), 0.0
    if problem.hessian_product is not None:
        return np.stack([functions.hessian_product(x, axis) for axis in np.eye(x.size)]), 0.0
    columns = [estimate_column(functions, j, noise) for j in range(x.size)]
    doubt = np.stack([column.doubt for column in columns])
    return np.stack([column.values for column in columns]), float(np.linalg.norm(doubt))


def _require_smooth_and_small(functions: InDouble) -> None:
    if functions.problem.penalty is not None:
        raise ValueError("problem must have no penalty, got one: f + h need not be smooth. Use certify.")
    if functions.x.size > LARGEST:
        raise ValueError(f"x must have at most {LARGEST} variables, got {functions.x.size}. Use certify.")
    value = functions.value(functions.x)
    if not math.isfinite(value):
        raise ValueError(f"value must be finite at x, got {value}. Classify a point where the function is defined.")
