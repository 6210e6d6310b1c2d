"""Is the Hessian right? Differences of gradients decide, and name the worst entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.optimize.checks.gradient_check import DerivativeEstimate, estimate_derivative
from pellucid.optimize.checks.in_double import EPS, InDouble, rounding_noise
from pellucid.optimize.problem import Problem

EVERY_COLUMN = 100
"""With more variables, so many columns are sampled."""
ROUNDING = 1e-10
"""Relative difference between two computations of one matrix that rounding may cause."""


@dataclass(frozen=True, repr=False)
class HessianCheck:
    """A Hessian next to differences of gradients."""

    worst: tuple[int, int]
    """Row and column of the entry with the largest error."""
    given: float
    """What the Hessian says at the worst entry."""
    estimated: float
    """What the differences say at the worst entry."""
    relative_error: float
    """The largest error, relative and less what rounding explains."""
    asymmetry: float
    """Largest difference between an entry and its mirror image, in parts of the largest entry."""
    product_error: float
    """Largest difference between ``hessian_product`` and the Hessian, likewise relative; 0 unless both are given."""
    columns: Array
    """Which columns were compared: all, or 100 of more."""
    n_variables: int
    """Number of all columns."""
    tol: float
    """The largest relative error allowed."""

    @property
    def ok(self) -> bool:
        """Whether entries, symmetry and products are right."""
        return self.relative_error <= self.tol and max(self.asymmetry, self.product_error) <= ROUNDING

    def __repr__(self) -> str:
        if self.ok:
            columns = "all" if self.columns.size == self.n_variables else f"{self.columns.size} of {self.n_variables}"
            return f"HessianCheck(right: {columns} columns agree with differences of gradients to {self.tol:.0e})"
        if self.relative_error > self.tol:
            return (
                f"HessianCheck(WRONG: entry {self.worst} is {self.given:.8g}, differences of gradients say "
                f"{self.estimated:.8g}, a relative error of {self.relative_error:.2g})"
            )
        if self.asymmetry > ROUNDING:
            return f"HessianCheck(WRONG: not symmetric, mirrored entries differ by {self.asymmetry:.2g} of the largest)"
        return f"HessianCheck(WRONG: hessian_product is off by {self.product_error:.2g} of the largest entry)"


def check_hessian(problem: Problem, x: Data, *, tol: float = 1e-5, random_state: int = 0) -> HessianCheck:
    """Compare the Hessian, or the product with it, with extrapolated differences of the gradient.

    Parameters
    ----------
    problem : Problem
        With a gradient, and a Hessian, a Hessian product or both. Check the gradient first.
    x : array or torch tensor of shape (n,)
        A point where the function is smooth.
    tol : float, default=1e-5
        Largest relative error of an entry.
    random_state : int, default=0
        Seed of the sample of columns if there are more than 100.

    Examples
    --------
    >>> gradient = lambda x: np.array([2 * x[0] * x[1], x[0] ** 2])
    >>> slip = Problem(lambda x: x[0] ** 2 * x[1], gradient, lambda x: np.array([[2 * x[1], 2 * x[0]], [x[0], 0.0]]))
    >>> check_hessian(slip, np.array([1.0, 3.0]))
    HessianCheck(WRONG: entry (1, 0) is 1, differences of gradients say 2, a relative error of 0.5)
    """
    check_positive(tol=tol)
    functions = InDouble(problem, x)
    if problem.hessian is None and problem.hessian_product is None:
        raise ValueError("problem must have a hessian to check, got none. Pass hessian or hessian_product.")
    n = functions.x.size
    everything = n <= EVERY_COLUMN
    columns = np.arange(n) if everything else np.random.default_rng(random_state).choice(n, EVERY_COLUMN, replace=False)
    given, nearby = (_columns(functions, z, columns) for z in (functions.x, functions.x * (1 + 2 * EPS)))
    noise = rounding_noise(functions.gradient, functions.x)
    estimates = [estimate_column(functions, j, noise) for j in columns]
    blur = np.abs(nearby - given)
    errors = np.stack([e.errors_of(given[:, k], blur[:, k]) for k, e in enumerate(estimates)], axis=1)
    row, k = (int(index) for index in np.unravel_index(np.argmax(errors), errors.shape))
    return HessianCheck(
        worst=(row, int(columns[k])),
        given=float(given[row, k]),
        estimated=float(estimates[k].values[row]),
        relative_error=float(errors[row, k]),
        asymmetry=_asymmetry(given[columns]),
        product_error=_product_error(functions, given, columns),
        columns=columns,
        n_variables=n,
        tol=tol,
    )


def _columns(functions: InDouble, z: Array, columns: Array) -> Array:
    """Return these columns of the Hessian at ``z``, of shape (n, number of columns)."""
    if functions.problem.hessian is not None:
        return functions.hessian(z)[:, columns]
    return _products(functions, z, columns)


def _products(functions: InDouble, z: Array, columns: Array) -> Array:
    identity = np.eye(functions.x.size)
    return np.stack([functions.hessian_product(z, identity[j]) for j in columns], axis=1)


def estimate_column(functions: InDouble, j: int, noise: Array) -> DerivativeEstimate:
    """Return a column of the Hessian by differences of gradients, whose rounding errors are ``noise``."""
    scale = max(1.0, abs(float(functions.x[j])))
    direction = np.zeros_like(functions.x)
    direction[j] = scale
    slopes, doubt = estimate_derivative(functions.gradient, functions.x, direction, noise)
    return DerivativeEstimate(slopes / scale, doubt / scale)


def _asymmetry(square: Array) -> float:
    return _relative(square, square.T)


def _product_error(functions: InDouble, given: Array, columns: Array) -> float:
    """Return how far the product is from the Hessian, if the problem has both."""
    if functions.problem.hessian is None or functions.problem.hessian_product is None:
        return 0.0
    return _relative(_products(functions, functions.x, columns), given)


def _relative(one: Array, other: Array) -> float:
    largest = float(np.abs(other).max())
    return float(np.abs(one - other).max()) / largest if largest else float(np.abs(one).max())
