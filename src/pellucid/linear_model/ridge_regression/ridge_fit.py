"""Choosing and running a solver for ridge regression, for the regressor and the classifier alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid.core.checks import check_nonnegative, check_one_of, check_whole, is_number
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.linear_model.least_squares.least_squares_fits import (
    LineFit,
    fit_by_average_gradients,
    fit_by_conjugate_gradients,
    fit_directly,
    fit_nonnegative,
)
from pellucid.linear_model.least_squares.least_squares_proof import LARGEST_FACTORED
from pellucid.numerics.design import Design

SOLVERS: dict[str, Callable[..., LineFit]] = {
    "cholesky": fit_directly,
    "svd": partial(fit_directly, orthogonal=True),
    "lsqr": fit_by_conjugate_gradients,
    "sparse_cg": fit_by_conjugate_gradients,
    "sag": partial(fit_by_average_gradients, unbiased=False),
    "saga": partial(fit_by_average_gradients, unbiased=True),
    "lbfgs": fit_nonnegative,
}
DIRECT = ("cholesky", "svd")
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")


def check_ridge_parameters(estimator: Any) -> None:
    """Refuse parameters that make no sense, alone or together."""
    check_nonnegative(tol=estimator.tol)
    if estimator.max_iter is not None:
        check_whole(max_iter=estimator.max_iter)
    check_one_of(("auto", *SOLVERS), solver=estimator.solver)
    if estimator.positive and estimator.solver not in ("auto", "lbfgs"):
        raise ValueError(
            f"solver must be 'auto' or 'lbfgs' when positive=True, got {estimator.solver!r}. "
            "It does not support positive fitting."
        )
    if estimator.solver == "lbfgs" and not estimator.positive:
        raise ValueError("solver must not be 'lbfgs' unless positive=True, got 'lbfgs'. Use solver='auto'.")


def check_alpha(alpha: Any, n_targets: int) -> Array:
    """Return the penalties, one per target."""
    if np.ndim(alpha) == 0:
        check_nonnegative(alpha=alpha.item() if isinstance(alpha, np.ndarray) else alpha)
        return np.full(n_targets, float(alpha))
    values = np.asarray(alpha, dtype=np.float64).ravel()
    if len(values) not in (1, n_targets):
        raise ValueError(
            f"alpha must have one value per target, got {len(values)}. "
            f"Number of targets and number of penalties do not correspond: {n_targets} != {len(values)}"
        )
    for value in values:
        check_nonnegative(alpha=float(value) if is_number(value) else value)
    return np.broadcast_to(values, (n_targets,)).astype(np.float64)


def choose_solver(name: str, X: Array, *, positive: bool) -> str:
    """Return the solver that will run: direct where a factor fits, conjugate gradients for large sparse data."""
    if positive:
        return "lbfgs"
    large = sparse.issparse(X) and min(X.shape) > LARGEST_FACTORED
    if name == "auto":
        return "sparse_cg" if large else "cholesky"
    if sparse.issparse(X) and (name in ("sag", "saga") or (name in DIRECT and large)):
        return "sparse_cg"
    return name


def fit_ridge(estimator: Any, design: Design, X: Array, y: Array, alpha: Array, watch: Watch) -> tuple[LineFit, str]:
    """Fit ``y`` of shape (n_samples, n_targets); return the fit and the solver that ran."""
    solver = choose_solver(estimator.solver, X, positive=estimator.positive)
    options: dict[str, Any] = {}
    if solver in DIRECT:
        options = {"one_target": y.shape[1] == 1}
    elif solver in ITERATIVE:
        options = {"tol": estimator.tol, "max_iter": estimator.max_iter, "watch": watch}
    if solver in ("sag", "saga"):
        options["random_state"] = check_random_state(estimator.random_state)
    return SOLVERS[solver](design, y, alpha, **options), solver
