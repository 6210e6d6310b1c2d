r"""Least squares by gradient descent and by stochastic gradient descent, as a lecture writes them.

.. math:: w \leftarrow w - \eta\,\nabla f(w), \qquad f(w) = \frac{1}{2m}\|y - Xw - b\|^2

They are here to be watched, not to be fast: ``LinearRegression`` solves the same problem directly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh
from sklearn.utils import check_random_state, check_X_y

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.checks import check_positive, check_whole
from pellucid.core.solution import Solution
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data


class Line(NamedTuple):
    """The coefficients and intercept of a linear function."""

    coef: Array
    intercept: float


def least_squares_gd(
    X: Data, y: Data, *, step: float | None = None, tol: float = 1e-8, max_iter: int = 10000
) -> Solution[Line]:
    r"""Minimize by full gradients until the gradient is ``tol`` times its size at 0.

    Without a ``step``, :math:`\eta = 1/L` with :math:`L` the largest eigenvalue of :math:`X_c'X_c/m`.

    Examples
    --------
    >>> solution = least_squares_gd([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(solution.x.coef[0]), 6), round(solution.x.intercept, 6)
    (2.0, 1.0)
    """
    check_positive(tol=tol)
    check_whole(max_iter=max_iter)
    problem = _Centered(X, y)
    eta = problem.safe_step() if step is None else step
    check_positive(step=eta)

    def epoch(w: Array) -> Array:
        return w - eta * problem.gradient(w)

    return _descend(problem, epoch, tol=tol, max_iter=max_iter, remedy="Lower step or raise max_iter.")


def least_squares_sgd(
    X: Data,
    y: Data,
    *,
    step: float | None = None,
    batch_size: int = 1,
    tol: float = 1e-4,
    max_iter: int = 1000,
    random_state: Any = None,
) -> Solution[Line]:
    r"""Minimize by gradients of mini-batches; the rows are shuffled anew each epoch.

    The step of epoch :math:`k` is :math:`\eta/(1 + k/10)`; without a ``step``, :math:`\eta = 1/\max_i\|x_i\|^2` of
    the centered rows.
    """
    check_positive(tol=tol)
    check_whole(max_iter=max_iter, batch_size=batch_size)
    problem = _Centered(X, y)
    random = check_random_state(random_state)
    eta = problem.safe_step_of_one_row() if step is None else step
    check_positive(step=eta)
    done = 0

    def epoch(w: Array) -> Array:
        nonlocal done
        order = random.permutation(len(problem.b))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            error = problem.A[rows] @ w - problem.b[rows]
            w = w - eta / (1.0 + done / 10.0) * (error @ problem.A[rows]) / len(rows)
        done += 1
        return w

    return _descend(problem, epoch, tol=tol, max_iter=max_iter, remedy="Lower step, raise max_iter or batch_size.")


class _Centered:
    def __init__(self, X: Data, y: Data) -> None:
        X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
        self.mean, self.y_mean = X.mean(axis=0), float(y.mean())
        self.A, self.b = X - self.mean, y - self.y_mean

    def gradient(self, w: Array) -> Array:
        return (self.A.T @ (self.A @ w - self.b)) / len(self.b)

    def objective(self, w: Array) -> float:
        residual = self.b - self.A @ w
        return float(residual @ residual) / (2 * len(self.b))

    def safe_step(self) -> float:
        largest = float(eigvalsh(self.A.T @ self.A)[-1]) / len(self.b)
        return 1.0 / largest if largest > 0 else 1.0

    def safe_step_of_one_row(self) -> float:
        largest = float(np.max(np.einsum("ij,ij->i", self.A, self.A)))
        return 1.0 / largest if largest > 0 else 1.0

    def line(self, w: Array) -> Line:
        return Line(w, self.y_mean - float(self.mean @ w))


def _descend(
    problem: _Centered, epoch: Callable[[Array], Array], *, tol: float, max_iter: int, remedy: str
) -> Solution[Line]:
    w = np.zeros(problem.A.shape[1])
    start = float(np.linalg.norm(problem.gradient(w)))
    trace, norm, n_iter = Trace(), start, 0
    while norm > tol * start and n_iter < max_iter:
        n_iter += 1
        w = epoch(w)
        norm = float(np.linalg.norm(problem.gradient(w)))
        trace.add(iteration=n_iter, objective=problem.objective(w), gradient_norm=norm)
        trace.keep(coef=w)
        if not np.isfinite(norm):
            break
    claim = Claim("gradient", "norm of the gradient, relative to its norm at 0", norm / (start or 1.0), tol, remedy)
    return Solution(problem.line(w), n_iter, Certificate("stationary", (claim,)), trace)
