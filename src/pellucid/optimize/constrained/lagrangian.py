"""The Lagrangian, and the problem of minimizing it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem
from pellucid.optimize.problem import Problem


@dataclass(frozen=True, eq=False)
class Lagrangian:
    r"""The function :math:`L(x, \lambda, \nu) = f(x) + \lambda'c(x) + \nu'a(x)`.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> L = Lagrangian(quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1]))  # x^2 + y^2 with x + y >= 1
    >>> x, lam, nu = np.array([1.0, 1.0]), np.array([1.0]), np.zeros(0)
    >>> L.value(x, lam, nu), L.gradient(x, lam, nu)
    (1.0, array([1., 1.]))
    """

    problem: ConstrainedProblem

    def value(self, x: Array, lam: Array, nu: Array) -> float:
        """Return the value."""
        return self.problem.value(x) + float(lam @ self.problem.c(x)) + float(nu @ self.problem.a(x))

    def gradient(self, x: Array, lam: Array, nu: Array) -> Array:
        """Return the gradient with respect to ``x``."""
        return self.problem.gradient(x) + self.problem.c_jacobian(x).T @ lam + self.problem.a_jacobian(x).T @ nu

    def in_x(self, lam: Array, nu: Array) -> Problem:
        """Return the problem of minimizing over ``x`` alone; it is convex if the constrained problem is."""
        convex = self.problem.is_convex and bool(np.all(lam >= 0))
        return Problem(
            lambda x: self.value(x, lam, nu),
            lambda x: self.gradient(x, lam, nu),
            strong_convexity=self.problem.strong_convexity if convex else None,
        )
