"""Choosing and running a solver for ridge regression, for the regressor and the classifier alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid.core.checks import check_nonnegative
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.linear_model.least_squares.least_squares_fits import (
    LineFit,
    fit_by_average_gradients,
    fit_by_conjugate_gradients,
    fit_directly,
    fit_nonnegative,
)
from pellucid.linear_model.least_squares.line_claims import is_too_large
from pellucid.numerics.design import Design

DIRECT = ("cholesky", "svd")
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")
SOLVERS: dict[str, Callable[..., LineFit]] = {
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
    return np.broadcast_to(values, (n_targets,)).astype(np.float64)


def fit_ridge(estimator: Any, design: Design, X: Array, y: Array, alpha: Array, watch: Watch) -> tuple[LineFit, str]:
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


def chosen_solver(name: str, X: Any, *, positive: bool) -> str:
    """Return the solver of ridge that runs: direct where a factor fits, conjugate gradients for large sparse data."""
    if positive:
        return "lbfgs"
    if name == "auto":
        return "sparse_cg" if is_too_large(X) else "cholesky"
    if sparse.issparse(X) and (name in ("sag", "saga") or (name in DIRECT and is_too_large(X))):
        return "sparse_cg"
    return name
