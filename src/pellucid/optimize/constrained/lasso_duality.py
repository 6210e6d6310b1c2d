"""The lasso and its dual: the scaled residual is a dual point, and its gap bounds the error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.types import Array, Data
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem
from pellucid.optimize.constrained.quadratic_program import quadratic_program


@dataclass(frozen=True, eq=False)
class LassoDuality:
    r"""The lasso without intercept, as a pair of problems.

    .. math:: \min_w\ \frac{1}{2m}\|y - Xw\|^2 + \alpha\|w\|_1 \qquad\qquad
        \max_\theta\ \frac{1}{2m}\bigl(\|y\|^2 - \|y - \theta\|^2\bigr)\quad\text{with}\quad |X'\theta|_j \le m\alpha

    The dual projects :math:`y` on a polytope; at the solution :math:`\theta = y - Xw`.

    Parameters
    ----------
    X : array of shape (m, n)
        The rows.
    y : array of shape (m,)
        Their targets.
    alpha : float
        Weight of the penalty, above 0.

    Examples
    --------
    >>> pair = LassoDuality([[1.0], [1.0]], [2.0, 2.0], alpha=0.5)  # w = 2 - 0.5
    >>> round(pair.gap([1.5]), 12), pair.gap([0.0]) >= pair.primal_value([0.0]) - pair.primal_value([1.5])
    (0.0, True)
    """

    X: Array
    y: Array
    alpha: float

    def __post_init__(self) -> None:
        check_positive(alpha=self.alpha, hint="For no penalty the dual has one feasible point.")
        X, y = np.array(self.X, dtype=np.float64), np.array(self.y, dtype=np.float64)
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise ValueError(f"X and y must have shapes (m, n) and (m,), got {X.shape} and {y.shape}.")
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise ValueError("X and y must be finite, got nan or inf in them. Remove or replace those rows.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    @property
    def primal(self) -> ConstrainedProblem:
        """The smooth problem over (u, v) with w = u - v, u >= 0, v >= 0; it leaves out the constant of y."""
        m, n = self.X.shape
        both = np.hstack([self.X, -self.X])
        return quadratic_program(both.T @ both / m, self.alpha - both.T @ self.y / m, low=np.zeros(2 * n))

    @property
    def dual(self) -> ConstrainedProblem:
        """The problem over theta, as a minimum: its value is minus that of the dual."""
        m, n = self.X.shape
        G = np.vstack([self.X.T, -self.X.T])
        return quadratic_program(np.eye(m) / m, -self.y / m, G=G, h=np.full(2 * n, m * self.alpha))

    def primal_value(self, w: Data) -> float:
        """Return the objective of the lasso."""
        w = self._checked(w)
        residual = self.y - self.X @ w
        return float(residual @ residual) / (2 * len(self.y)) + self.alpha * float(np.abs(w).sum())

    def dual_value(self, theta: Array) -> float:
        """Return the objective of the dual, or -inf outside its constraints."""
        m = len(self.y)
        if float(np.abs(self.X.T @ theta).max()) > m * self.alpha * (1 + 1e-12):
            return -np.inf
        return float(theta @ self.y - theta @ theta / 2) / m

    def dual_point(self, w: Data) -> Array:
        """Return the residual of any ``w`` times the best factor that keeps it feasible."""
        residual = self.y - self.X @ self._checked(w)
        square = float(residual @ residual)
        if square == 0.0:
            return residual
        steepest = float(np.abs(self.X.T @ residual).max())
        largest = len(self.y) * self.alpha / steepest if steepest else np.inf
        return residual * float(np.clip(float(residual @ self.y) / square, -largest, largest))

    def gap(self, w: Data) -> float:
        """Return how far, at most, the objective at ``w`` is above its minimum."""
        return self.primal_value(w) - self.dual_value(self.dual_point(w))

    def _checked(self, w: Data) -> Array:
        w = np.asarray(w, dtype=np.float64)
        if w.shape != self.X.shape[1:]:
            raise ValueError(f"w must have shape {self.X.shape[1:]}, one per feature, got {w.shape}.")
        return w
