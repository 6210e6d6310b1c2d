"""Ridge: least squares with an l2 penalty, and the choice of its solver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state

from pellucid.core.checks import check_nonnegative
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.core.watching import Watch
from pellucid.linear_model.least_squares.least_squares_fits import (
    DesignSolution,
    fit_by_average_gradients,
    fit_by_conjugate_gradients,
    fit_directly,
    fit_nonnegative,
)
from pellucid.linear_model.least_squares.line_claims import is_too_large
from pellucid.linear_model.linear_predictor import CertifiedLine
from pellucid.solvers.design import Design


class Ridge(CertifiedLine, MultiOutputMixin, RegressorMixin, CertifiedEstimator):
    r"""Linear regression whose coefficients are pulled towards 0.

    .. math:: \min_{w,\,b}\ \sum_i s_i\,(y_i - x_i'w - b)^2 + \alpha\|w\|_2^2

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Weight of the penalty, at least 0; an array gives each target its own.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`, which is not penalized; if not, it is 0.
    copy_X : bool, default=True
        Nothing changes: ``X`` is never changed, and never copied whole.
    max_iter : int or None, default=None
        Most iterations of the solvers 'lsqr', 'sparse_cg', 'sag' and 'saga'.
    tol : float, default=1e-4
        Where those solvers stop: the gradient relative to the size of the fit.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        'auto' factors :math:`A'A + \alpha I` (or :math:`AA' + \alpha I`) and falls back on QR and SVD where that would
        lose digits; 'svd' always uses those; 'lsqr' and 'sparse_cg' are conjugate gradients; 'lbfgs' means
        ``positive``. ``solver_`` says what ran: sparse data have no 'sag' and, when large, no direct solver.
    positive : bool, default=False
        Whether coefficients must be at least 0.
    random_state : int, RandomState instance or None, default=None
        Order of the rows for 'sag' and 'saga'.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
        :math:`w` and :math:`b`.
    n_iter_ : ndarray of shape (n_targets,)
        Iterations of an iterative solver, refinements of a direct one.
    solver_ : str
        The solver that ran.
    noise_variance_, degrees_of_freedom_, unit_covariance_, feature_means_, total_weight_
        What ``standard_errors``, ``prediction_interval`` and ``summary`` compute from (direct solvers).
    certificate_ : Certificate
        Grade ``exact``; ``stationary`` with tolerance ``tol`` for iterative solvers.
    trace_ : Trace
        One row per refinement or iteration.

    Examples
    --------
    >>> model = Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> float(model.coef_[0])  # Sxy / (Sxx + alpha) = 4 / (2 + 2)
    1.0
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    n_iter_: Array
    solver_: str

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        data = self._check(X, y, sample_weight)
        targets = data.y.reshape(len(data.y), -1).astype(np.float64, copy=False)
        alpha = penalties(self.alpha, targets.shape[1])
        is_tall = data.X.shape[0] >= data.X.shape[1]
        is_factored = chosen_solver(self.solver, data.X, positive=self.positive) == "cholesky"
        design = self._design_of(data, sums_everything=is_tall and is_factored)
        watch = self._watch_line(design, data.X, data.y, self.max_iter)
        line, solver = fit_ridge(self, design, data.X, targets, alpha, watch)
        return self._adopt(self._fit_of(line, design, data, n_iter_=line.n_iter, solver_=solver), data)


DIRECT = ("cholesky", "svd")
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")
SOLVERS: dict[str, Callable[..., DesignSolution]] = {
    "cholesky": fit_directly,
    "svd": partial(fit_directly, orthogonal=True),
    "lsqr": fit_by_conjugate_gradients,
    "sparse_cg": fit_by_conjugate_gradients,
    "sag": partial(fit_by_average_gradients, unbiased=False),
    "saga": partial(fit_by_average_gradients, unbiased=True),
    "lbfgs": fit_nonnegative,
}


def check_ridge_combination(estimator: Any) -> None:
    """Refuse parameters that make no sense together."""
    if estimator.positive and estimator.solver not in ("auto", "lbfgs"):
        raise ValueError(
            f"solver must be 'auto' or 'lbfgs' when positive=True, got {estimator.solver!r}. "
            "It does not support positive fitting."
        )
    if estimator.solver == "lbfgs" and not estimator.positive:
        raise ValueError("solver must not be 'lbfgs' unless positive=True, got 'lbfgs'. Use solver='auto'.")


def penalties(alpha: Any, n_targets: int) -> Array:
    """Return the penalties, one per target."""
    values = np.asarray(alpha, dtype=np.float64).ravel()
    if np.ndim(alpha) and len(values) not in (1, n_targets):
        raise ValueError(
            f"alpha must have one value per target, got {len(values)}. "
            f"Number of targets and number of penalties do not correspond: {n_targets} != {len(values)}"
        )
    for value in values:
        check_nonnegative(alpha=float(value))
    return np.full(n_targets, values if len(values) > 1 else values[0])


def fit_ridge(
    estimator: Any, design: Design, X: Array, y: Array, alpha: Array, watch: Watch
) -> tuple[DesignSolution, str]:
    """Fit ``y`` of shape (n_samples, n_targets); return the fit and the solver that ran."""
    solver = chosen_solver(estimator.solver, X, positive=estimator.positive)
    options: dict[str, Any] = {}
    if solver in DIRECT:
        options = {"one_target": y.shape[1] == 1}
    elif solver in ITERATIVE:
        options = {"tol": estimator.tol, "max_iter": estimator.max_iter, "watch": watch}
    if solver in ("sag", "saga"):
        options["random_state"] = check_random_state(estimator.random_state)
    return SOLVERS[solver](design, y, alpha, **options), solver


def chosen_solver(name: str, X: SparseOrDense, *, positive: bool) -> str:
    """Return the solver of ridge that runs: direct where a factor fits, conjugate gradients for large sparse data."""
    if positive:
        return "lbfgs"
    if name == "auto":
        return "sparse_cg" if is_too_large(X) else "cholesky"
    if sparse.issparse(X) and (name in ("sag", "saga") or (name in DIRECT and is_too_large(X))):
        return "sparse_cg"
    return name
