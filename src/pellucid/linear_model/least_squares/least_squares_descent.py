r"""Least squares by gradient descent and by stochastic gradient descent, as a lecture writes them.

.. math:: w \leftarrow w - \eta\,\nabla f(w), \qquad f(w) = \frac{1}{2m}\|y - Xw - b\|^2

They are here to be watched, not to be fast: ``LinearRegression`` solves the same problem directly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.utils import check_X_y

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.fit import Solution
from pellucid.core.types import Array, Data, RandomState
from pellucid.optimize import FiniteSum, GradientDescent, Method, Problem, StochasticGradient, Stopping, descend

SURELY_CONVEX = 1e-10
"""A smallest eigenvalue below this share of the largest may be 0: no distance to the optimum is claimed."""


class DescentLine(NamedTuple):
    """The coefficients and intercept of a linear function."""

    coef: Array
    intercept: float


def least_squares_gd(
    X: Data, y: Data, *, step: float | None = None, tol: float = 1e-8, max_iter: int = 10000
) -> Solution[DescentLine]:
    r"""Minimize half the mean of squares by full gradients, all with the same step.

    Parameters
    ----------
    X : array-like of shape (m, n)
        The rows; :math:`X_c` are these less their mean.
    y : array-like of shape (m,)
        Their targets.
    step : float, default=None
        :math:`\eta`, above 0; None is :math:`1/L` with :math:`L` the largest eigenvalue of :math:`X_c'X_c/m`.
    tol : float, default=1e-8
        Largest entry of the gradient at which to stop, in parts of that at 0.
    max_iter : int, default=10000
        Most steps.

    Examples
    --------
    >>> solution = least_squares_gd([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(solution.x.coef[0]), 6), round(solution.x.intercept, 6)
    (2.0, 1.0)
    """
    check_positive(tol=tol)
    check_whole(max_iter=max_iter)
    data = _CenteredLeastSquares(X, y)
    eta = 1.0 / (data.largest or 1.0) if step is None else step
    check_positive(step=eta)
    return data.fit(GradientDescent(eta), tol=tol, max_iter=max_iter)


def least_squares_sgd(
    X: Data,
    y: Data,
    *,
    step: float | None = None,
    batch_size: int = 1,
    tol: float = 1e-4,
    max_iter: int = 1000,
    random_state: RandomState = None,
) -> Solution[DescentLine]:
    r"""Minimize by gradients of mini-batches; the rows are shuffled anew each epoch.

    The step of epoch :math:`k` is :math:`\eta/(1 + k/10)`.

    Parameters
    ----------
    X : array-like of shape (m, n)
        The rows.
    y : array-like of shape (m,)
        Their targets.
    step : float, default=None
        :math:`\eta`, above 0; None is :math:`1/\max_i\|x_i\|^2` of the centered rows.
    batch_size : int, default=1
        Rows of each gradient.
    tol : float, default=1e-4
        Largest entry of the gradient of all rows at which to stop, in parts of that at 0.
    max_iter : int, default=1000
        Most epochs.
    random_state : int, RandomState or None
        Seed of the shuffles.
    """
    check_positive(tol=tol)
    check_whole(max_iter=max_iter, batch_size=batch_size)
    data = _CenteredLeastSquares(X, y)
    eta = 1.0 / (data.longest_row or 1.0) if step is None else step
    check_positive(step=eta)
    batches = -(-len(data.b) // batch_size)
    method = StochasticGradient(lambda t: eta / (1.0 + (t // batches) / 10.0))
    return data.fit(method, tol=tol, max_iter=max_iter, batch_size=batch_size, random_state=random_state)


class _CenteredLeastSquares:
    """The data without their means, so that the intercept is gone, and the problem they pose."""

    def __init__(self, X: Data, y: Data) -> None:
        X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
        self.mean, self.y_mean = X.mean(axis=0), float(y.mean())
        self.A, self.b = X - self.mean, y - self.y_mean
        eigenvalues = eigvalsh(self.A.T @ self.A) / len(self.b)
        self.smallest, self.largest = float(eigenvalues[0]), float(eigenvalues[-1])

    @property
    def longest_row(self) -> float:
        return float(np.max(np.einsum("ij,ij->i", self.A, self.A)))

    def value(self, w: Array) -> float:
        residual = self.b - self.A @ w
        return float(residual @ residual) / (2 * len(self.b))

    def gradient(self, w: Array) -> Array:
        return self.A.T @ (self.A @ w - self.b) / len(self.b)

    def gradient_of_rows(self, w: Array, rows: Array) -> Array:
        return (self.A[rows] @ w - self.b[rows]) @ self.A[rows] / len(rows)

    def fit(self, method: Method, *, tol: float, max_iter: int, **options: Any) -> Solution[DescentLine]:
        problem = Problem(
            self.value,
            self.gradient,
            terms=FiniteSum(len(self.b), self.gradient_of_rows),
            strong_convexity=self.smallest if self.smallest > SURELY_CONVEX * self.largest else 0.0,
        )
        start = np.zeros(self.A.shape[1])
        stopping = Stopping(gradient=tol * float(np.abs(self.gradient(start)).max()), max_iter=max_iter)
        solution = descend(problem, start, method, stopping=stopping, **options)
        line = DescentLine(solution.x, self.y_mean - float(self.mean @ solution.x))
        return Solution(line, solution.n_iter, solution.certificate, solution.trace)
