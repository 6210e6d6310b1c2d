"""A constrained problem: an objective, equalities and inequalities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pellucid.core.fit import Solution
from pellucid.core.types import Array, Data
from pellucid.optimize.differences import numerical_jacobian
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
    equalities : constraints, default=()
        One or a sequence of ``LinearConstraint``, ``SmoothConstraint`` or plain functions of :math:`x`. Their values,
        one after the other, are :math:`a`; the multipliers have the same order.
    inequalities : constraints, default=()
        Constraints of the same kinds, whose values are :math:`c`.
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


class Constraint(Protocol):
    """A vector-valued function with its Jacobian."""

    def value(self, x: Array) -> Array:
        """Return the values, of shape (m,)."""
        ...

    def jacobian(self, x: Array) -> Array:
        """Return the Jacobian, of shape (m, n)."""
        ...


@dataclass(frozen=True, eq=False)
class LinearConstraint:
    r"""The function :math:`x \mapsto Ax - b`.

    Examples
    --------
    >>> LinearConstraint([[1.0, 1.0]], [3.0]).value(np.array([1.0, 1.0]))
    array([-1.])
    """

    A: Array
    """Matrix of shape (m, n), a row for each constraint; a vector is taken for one row."""
    b: Array
    """Right side, of shape (m,); a number is taken for one entry."""

    def __post_init__(self) -> None:
        A, b = np.array(self.A, dtype=np.float64, ndmin=2), np.array(self.b, dtype=np.float64, ndmin=1)
        if A.ndim != 2 or b.shape != A.shape[:1]:
            raise ValueError(f"A and b must have shapes (m, n) and (m,), got {A.shape} and {b.shape}.")
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise ValueError("A and b must be finite, got nan or inf in them. Leave out rows that bind nothing.")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)

    def value(self, x: Array) -> Array:
        """Return Ax - b."""
        return self.A @ x - self.b

    def jacobian(self, x: Array) -> Array:
        """Return A."""
        return self.A


@dataclass(frozen=True)
class SmoothConstraint:
    r"""A smooth function, with one value or several.

    Parameters
    ----------
    function : callable x -> number or array of shape (m,)
        What must not be above 0, or must be 0.
    derivative : callable x -> array of shape (n,) or (m, n), default=None
        Its Jacobian; without it, central differences are used.

    Examples
    --------
    >>> circle = SmoothConstraint(lambda x: x @ x - 1)
    >>> circle.jacobian(np.array([1.0, 2.0])).round(6)
    array([[2., 4.]])
    """

    function: Callable[[Array], Array | float]
    derivative: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        for name, given in (("function", self.function), ("derivative", self.derivative)):
            if not callable(given) and not (given is None and name == "derivative"):
                raise TypeError(f"{name} must be a function of x, got {given!r}.")

    def value(self, x: Array) -> Array:
        """Return the values as a vector."""
        values = np.atleast_1d(np.asarray(self.function(x), dtype=np.float64))
        if values.ndim != 1:
            raise ValueError(f"a constraint must return a number or a vector, got shape {values.shape}. Flatten it.")
        return values

    def jacobian(self, x: Array) -> Array:
        """Return the Jacobian, one row per value."""
        m = len(self.value(x))
        J = (
            numerical_jacobian(self.value, x)
            if self.derivative is None
            else np.asarray(self.derivative(x), dtype=np.float64)
        )
        J = J[None] if J.ndim == 1 else J
        if J.shape != (m, x.size):
            raise ValueError(f"the Jacobian of a constraint must have shape {(m, x.size)}, got {J.shape}.")
        return J


def bounds(low: Data, high: Data) -> LinearConstraint:
    r"""Return :math:`l \le x \le u` as :math:`l - x \le 0,\ x - u \le 0`, leaving out infinite bounds.

    Parameters
    ----------
    low, high : float or array-like of shape (n,)
        :math:`l` and :math:`u`, infinite where there is no bound; a number beside an array is for all variables.

    Examples
    --------
    >>> bounds([0.0, 0.0], [1.0, np.inf]).value(np.array([0.25, 2.0]))
    array([-0.25, -2.  , -0.75])
    """
    low, high = np.broadcast_arrays(np.atleast_1d(low).astype(np.float64), np.atleast_1d(high).astype(np.float64))
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise ValueError(f"low must be at most high, got {low} and {high}. Swap them.")
    identity = np.eye(low.size)
    below, above = np.isfinite(low), np.isfinite(high)
    return LinearConstraint(np.concatenate([-identity[below], identity[above]]), np.r_[-low[below], high[above]])


@dataclass(frozen=True, eq=False)
class ConstrainedSolution(Solution[Array]):
    r"""The answer ``x``, the multipliers of :math:`f + \lambda'c + \nu'a`, and what the solver said when it stopped."""

    lam: Array = field(kw_only=True)
    r"""The multipliers :math:`\lambda` of the inequalities, in their order; nan if there is no answer."""
    nu: Array = field(kw_only=True)
    r"""The multipliers :math:`\nu` of the equalities, in their order; nan if there is no answer."""
    status: str = field(kw_only=True)
    """What the solver said when it stopped, in its own words."""
