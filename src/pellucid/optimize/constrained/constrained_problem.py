"""A constrained problem: an objective, equalities and inequalities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.optimize.constrained.constraints import Constraint, LinearConstraint, SmoothConstraint
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Problem

SINGULAR = 1e-12
"""A smallest curvature below this part of the largest may be rounding."""


@dataclass(frozen=True, eq=False)
class ConstrainedProblem:
    r"""Minimize :math:`f(x)` subject to :math:`a(x) = 0` and :math:`c(x) \le 0`.

    Parameters
    ----------
    objective : Problem
        The smooth function :math:`f`, without a penalty.
    equalities, inequalities : constraints, default=()
        One or a sequence of ``LinearConstraint``, ``SmoothConstraint`` or plain functions of :math:`x`. Their values,
        one after the other, are :math:`a` and :math:`c`; multipliers have the same order.
    is_convex : bool, default=None
        Whether :math:`f` and :math:`c` are convex and :math:`a` is affine. Without it, known only if all constraints
        are linear and ``objective.strong_convexity`` is given. Check what you declare with ``check_convexity``.

    Examples
    --------
    >>> from pellucid.optimize import quadratic
    >>> problem = ConstrainedProblem(quadratic(2 * np.eye(2)), inequalities=lambda x: 1 - x[0] - x[1])
    >>> problem.c(np.array([0.5, 0.25]))
    array([0.25])
    """

    objective: Problem
    equalities: tuple[Constraint, ...] = ()
    inequalities: tuple[Constraint, ...] = ()
    is_convex: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Problem):
            raise TypeError(f"objective must be a Problem, got {type(self.objective).__name__}. Wrap it: Problem(f).")
        if self.objective.penalty is not None:
            raise ValueError("objective must have no penalty, got one. Write it as constraints, as lasso_duality does.")
        object.__setattr__(self, "equalities", _as_constraints(self.equalities))
        object.__setattr__(self, "inequalities", _as_constraints(self.inequalities))
        if self.is_convex is None:
            known = self.is_linear and self.objective.strong_convexity is not None
            object.__setattr__(self, "is_convex", known)

    @property
    def is_linear(self) -> bool:
        """Whether all constraints are linear."""
        return all(isinstance(part, LinearConstraint) for part in (*self.equalities, *self.inequalities))

    @property
    def n_variables(self) -> int | None:
        """Number of variables, if a linear constraint tells it."""
        for part in (*self.equalities, *self.inequalities):
            if isinstance(part, LinearConstraint):
                return int(part.A.shape[1])
        return None

    @property
    def strong_convexity(self) -> float:
        """The strong convexity of the objective; 0 if unknown, or no more than rounding of its largest curvature."""
        mu, largest = self.objective.strong_convexity or 0.0, self.objective.smoothness or 0.0
        return mu if mu > SINGULAR * largest else 0.0

    def value(self, x: Array) -> float:
        """Return the objective."""
        return float(self.objective.value(x))

    def gradient(self, x: Array) -> Array:
        """Return the gradient of the objective, by differences if it brings none."""
        gradient = np.asarray(Oracle(self.objective).look(x).gradient, dtype=np.float64)
        if gradient.shape != x.shape:
            raise ValueError(f"gradient must return an array of shape {x.shape} like x, got {gradient.shape}.")
        return gradient

    def a(self, x: Array) -> Array:
        """Return the equalities' values, 0 where they hold."""
        return _stacked([part.value(x) for part in self.equalities], (0,))

    def c(self, x: Array) -> Array:
        """Return the inequalities' values, at most 0 where they hold."""
        return _stacked([part.value(x) for part in self.inequalities], (0,))

    def a_jacobian(self, x: Array) -> Array:
        """Return the Jacobian of the equalities, one row each."""
        return _stacked([part.jacobian(x) for part in self.equalities], (0, x.size))

    def c_jacobian(self, x: Array) -> Array:
        """Return the Jacobian of the inequalities, one row each."""
        return _stacked([part.jacobian(x) for part in self.inequalities], (0, x.size))


def check_candidate(problem: ConstrainedProblem, x: Data) -> Array:
    """Return a candidate as a float64 vector of the right length."""
    x = np.array(x, dtype=np.float64)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"x must be a vector, got shape {x.shape}. Flatten it.")
    if problem.n_variables not in (None, x.size):
        raise ValueError(f"x must have {problem.n_variables} entries, like the constraints, got {x.size}.")
    return x


def check_multipliers(name: str, given: Data, count: int) -> Array:
    """Return multipliers as a float64 vector, one per constraint."""
    values = np.atleast_1d(np.array(given, dtype=np.float64))
    if values.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},), one per constraint, got {values.shape}.")
    return values


def _as_constraints(given: Any) -> tuple[Constraint, ...]:
    parts: Sequence[Any] = given if isinstance(given, (tuple, list)) else (given,)
    return tuple(_as_constraint(part) for part in parts)


def _as_constraint(part: Constraint | Callable[[Array], Array | float]) -> Constraint:
    if callable(part):
        return SmoothConstraint(part)
    if not (hasattr(part, "value") and hasattr(part, "jacobian")):
        raise TypeError(f"a constraint must be a function of x or a LinearConstraint, got {part!r}.")
    return part


def _stacked(parts: list[Array], empty: tuple[int, ...]) -> Array:
    return np.concatenate(parts) if parts else np.empty(empty)
