r"""Logistic regression by the methods of a lecture on optimization: gradient descent, SGD, Newton, BFGS and others.

.. math:: f(W, b) = \frac1m\sum_i -\log p_{y_i}(x_i) + \frac{1}{2Cm}\|W\|^2,\qquad p(x) = \mathrm{softmax}(Wx + b)

They are here to be watched and compared: ``LogisticRegression`` minimizes :math:`Cm\,f` with the method that suits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.utils import check_X_y

from pellucid.core.checks import check_one_of, check_positive, check_whole, is_number
from pellucid.core.fit import Solution
from pellucid.core.labels import encode_labels
from pellucid.core.types import Array, Data, RandomState
from pellucid.optimize import FiniteSum, Method, Problem, StochasticGradient, Stopping, descend

TOLERANCE, STOCHASTIC_TOLERANCE = 1e-6, 1e-3
"""Part of its largest entry at the start that the gradient is brought down to, if nobody says."""


class LogisticLine(NamedTuple):
    """One row of coefficients and one intercept per class; of two classes, those of the second alone."""

    coef: Array
    intercept: Array


def logistic_descent(
    X: Data,
    y: Data,
    method: str | Method = "l-bfgs",
    *,
    C: float = 1.0,
    fit_intercept: bool = True,
    tol: float | None = None,
    max_iter: int = 10_000,
    batch_size: int | None = None,
    random_state: RandomState = None,
) -> Solution[LogisticLine]:
    r"""Minimize until the largest entry of the gradient is ``tol`` times that at 0.

    Parameters
    ----------
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        Rows and their classes, two or more.
    method : str or Method, default="l-bfgs"
        A name of ``pellucid.optimize.METHODS``, such as "gradient descent", "stochastic gradient", "newton" or
        "coordinate descent", or a method with settings of your own.
    C : float, default=1.0
        Inverse of the penalty's weight, as in ``LogisticRegression``; infinity for no penalty.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`, which is not penalized.
    tol : float, default=1e-6, or 1e-3 for mini-batches
        Part of the first gradient to reach.
    max_iter : int, default=10000
        Most iterations; for mini-batches, epochs.
    batch_size : int, default=1 for "stochastic gradient"
        Rows per gradient; they are shuffled anew in each epoch. The step of epoch :math:`k` is
        :math:`\eta/(1 + k/10)`, where :math:`1/\eta` is the largest curvature of a single row.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.

    Returns
    -------
    Solution
        ``x.coef``, ``x.intercept``, ``n_iter``, ``trace`` and ``certificate``.

    Examples
    --------
    Two rows at -1 and 1: the weight solves w = 2 / (1 + exp(w)).

    >>> solution = logistic_descent([[-1.0], [1.0]], ["a", "b"], "newton", fit_intercept=False)
    >>> w = float(solution.x.coef[0, 0])
    >>> round(w, 6) == round(2.0 / (1.0 + float(np.exp(w))), 6)
    True
    """
    if not (is_number(C) and np.isposinf(C)):
        check_positive(C=C, hint="For no penalty use numpy.inf.")
    check_one_of((True, False), fit_intercept=fit_intercept)
    check_whole(max_iter=max_iter)
    posed = _MeanLogisticLoss(X, y, C, fit_intercept=fit_intercept)
    if method == "stochastic gradient" and batch_size is None:
        batch_size = 1
    if batch_size is not None:
        check_whole(batch_size=batch_size)
    if tol is None:
        tol = TOLERANCE if batch_size is None else STOCHASTIC_TOLERANCE
    check_positive(tol=tol)
    problem, start = posed.problem(), np.zeros(posed.size)
    first = float(np.abs(posed.gradient(start)).max(initial=0.0))
    solution = descend(
        problem,
        start,
        posed.method(method, batch_size),
        stopping=Stopping(gradient=tol * first, max_iter=max_iter),
        batch_size=batch_size,
        random_state=random_state,
    )
    return Solution(posed.line(solution.x), solution.n_iter, solution.certificate, solution.trace)


class _MeanLogisticLoss:
    """The objective with its derivatives; the weights of all classes stand in one vector, class by class."""

    def __init__(self, X: Data, y: Data, C: float, *, fit_intercept: bool) -> None:
        X, y = check_X_y(X, y, dtype=np.float64)
        classes, self.labels = encode_labels(y)
        if len(classes) < 2:
            raise ValueError(f"y must hold at least 2 classes, got one class: {classes.tolist()[0]!r}.")
        self.n, self.p = X.shape
        self.fit_intercept = fit_intercept
        self.A = np.hstack([X, np.ones((self.n, 1))]) if fit_intercept else X
        self.one_hot = np.eye(len(classes))[self.labels]
        self.first = 1 if len(classes) == 2 else 0  # of two classes, the first has the score 0
        self.shape = (len(classes) - self.first, self.A.shape[1])
        self.size = self.shape[0] * self.shape[1]
        self.penalized = np.ones(self.shape[1])
        self.penalized[self.p :] = 0.0
        self.penalty = 1.0 / (C * self.n)

    def log_shares(self, theta: Array, rows: Any = slice(None)) -> Array:
        scores = self.A[rows] @ theta.reshape(self.shape).T
        return np.asarray(log_softmax(np.pad(scores, ((0, 0), (self.first, 0))), axis=1))

    def value(self, theta: Array) -> float:
        norm = float(np.sum(self.penalized * theta.reshape(self.shape) ** 2))
        return 0.5 * self.penalty * norm - float(np.sum(self.one_hot * self.log_shares(theta))) / self.n

    def gradient(self, theta: Array, rows: Any = slice(None)) -> Array:
        residual = (np.exp(self.log_shares(theta, rows)) - self.one_hot[rows])[:, self.first :]
        slope = residual.T @ self.A[rows] / len(residual)
        return (slope + self.penalty * self.penalized * theta.reshape(self.shape)).ravel()

    def hessian(self, theta: Array) -> Array:
        P = np.exp(self.log_shares(theta))[:, self.first :]
        k, width = self.shape
        H = np.zeros((k, width, k, width))
        for a in range(k):
            for b in range(k):
                curvature = P[:, a] * ((a == b) - P[:, b]) / self.n
                H[a, :, b] = (self.A * curvature[:, None]).T @ self.A
        return H.reshape(self.size, self.size) + self.penalty * np.diag(np.tile(self.penalized, k))

    def problem(self) -> Problem:
        return Problem(
            self.value,
            self.gradient,
            hessian=self.hessian,
            terms=FiniteSum(self.n, self.gradient),
            strong_convexity=0.0 if self.fit_intercept else self.penalty,
            smoothness=self._curvature_of_a_share * float(np.linalg.norm(self.A, 2) ** 2) / self.n + self.penalty,
            lower_bound=0.0,
        )

    def method(self, method: str | Method, batch_size: int | None) -> str | Method:
        if method != "stochastic gradient" or batch_size is None:
            return method
        steepest = self._curvature_of_a_share * float(np.max(np.sum(self.A**2, axis=1))) + self.penalty
        batches = -(-self.n // batch_size)
        return StochasticGradient(lambda t: 1.0 / (steepest * (1.0 + (t // batches) / 10.0)))

    def line(self, theta: Array) -> LogisticLine:
        table = theta.reshape(self.shape)
        return LogisticLine(table[:, : self.p], table[:, self.p] if self.fit_intercept else np.zeros(len(table)))

    @property
    def _curvature_of_a_share(self) -> float:
        """The largest eigenvalue of ``diag(p) - pp'``."""
        return 0.25 if self.first else 0.5
