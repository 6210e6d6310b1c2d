r"""What least squares and ridge claim, and the proof of it from the data alone.

With :math:`A = \sqrt{W}(X - 1\bar{x}')`, :math:`b = \sqrt{W}(y - \bar{y})`, :math:`r = b - Aw` and the gradient
:math:`g = A'r - \alpha w`, the exact answer has :math:`g = 0`. A small :math:`g` alone says little when the columns are
nearly collinear, so the proof also measures how far the fitted values are from the best ones,
:math:`\|A(w^* - w)\|`, and how many digits of the coefficients rounding can have cost.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, svd, svdvals

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import class_columns, has_label_sets
from pellucid.proofs.linear_model.inference import RootWeightedRows, inference_claims, spectrum_claims
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit
from pellucid.proofs.rows import tall_qr, weighted_mean
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

MANY_FEATURES = 16
"""Of more features the rounding adds up, as the root of their number."""

DIGITS_LOST = 1e-3
"""Relative error of the coefficients above which fewer than three digits can be trusted."""

LARGEST_FACTORED = 2000
"""Above this many features a sparse problem is proved by its gradient alone; a dense factor would not fit."""


SURELY_ROUNDING = 10 * EPSILON
"""Share of the largest direction of the columns below which one is nothing but the rounding of the columns."""

DIRECT = ("cholesky", "svd")
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")
DEFAULT_TOL = 1e-6
"""The tolerance of LinearRegression that cuts nothing off."""


def size_of_fit(norms: Array, w: Array, b_norm: Array) -> Array:
    """Return ``|b| + sum_j |a_j| |w_j|`` per target: what rounding errors of the fit are relative to."""
    return np.asarray(b_norm + norms @ np.abs(w))


def gradient_evidence(gradient: Array, norms: Array, size: Array, alpha: Array, w: Array) -> float:
    """Return the largest ``|g_j| / (|a_j| size + alpha |w_j|)`` over features and targets."""
    scale = np.outer(norms, size) + alpha * np.abs(w)
    return float(np.max(np.abs(gradient) / np.where(scale > 0, scale, 1.0), initial=0.0))


def coefficient_error(condition: float, r_norm: Array, size: Array) -> float:
    """Return ``eps (k + k^2 |r| / size)``: to first order, how far ``w`` moves when the data change by ``eps``."""
    leverage = np.max(np.where(size > 0, r_norm / np.where(size > 0, size, 1.0), 0.0), initial=0.0)
    return float(EPSILON * (condition + condition**2 * leverage))


def intercept_evidence(intercept: Array, w: Array, mean: Array, y_mean: Array, spread: Array) -> float:
    """Return ``|intercept - (y_mean - mean w)|`` relative to the terms of that sum and the spread of ``y``."""
    scale = np.abs(y_mean) + np.abs(mean) @ np.abs(w) + spread
    gap = np.abs(intercept - (y_mean - mean @ w))
    return float(np.max(np.where(gap > 0, gap / np.where(scale > 0, scale, 1.0), 0.0), initial=0.0))


def prove_linear_regression(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of least squares.

    What ``tol`` cut off on purpose stays in the gradient, and so does what conjugate gradients leave of a problem too
    large to be factored.
    """

    def prove(tol: float) -> Certificate:
        return prove_coefficients(fitted, data, alpha=0.0, parameters=parameters, tol=tol)

    if is_too_large(data.X) and not parameters.positive:
        return prove(parameters.tol)
    exact = prove(0.0)
    if not (exact.holds or parameters.tol == DEFAULT_TOL or parameters.positive):
        return prove(parameters.tol)
    rows = RootWeightedRows.of(data, fit_intercept=parameters.fit_intercept)
    inference = inference_claims(fitted, data, rows, alpha=0.0, has_factor=not parameters.positive)
    return exact.with_claims(*inference, *spectrum_claims(fitted, rows))


def prove_ridge(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of ridge regression, for numbers or for signs of classes."""
    solver = chosen_solver(parameters.solver, data.X, positive=parameters.positive)
    tol = parameters.tol if solver in ITERATIVE else 0.0
    return prove_line(fitted, data, alpha=parameters.alpha, parameters=parameters, tol=tol)


def prove_ridge_classifier(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of ridge on signs; ``data.y`` has a column of 0 and 1 per class, one for two classes."""
    certificate = prove_ridge(fitted, parameters, replace(data, y=2.0 * data.y - 1.0))
    wrong = float(fitted.multilabel_ != has_label_sets(data) or len(fitted.classes_) != len(data.classes))
    return certificate.with_claims(Claim("labels", "1 if the model takes one label for several, or more", wrong, 0.0))


def prove_line(fitted: Seen, data: TrainingData, *, alpha: Any, parameters: Seen, tol: float) -> Certificate:
    """Return the certificate of the fitted line for these penalties, and of its standard errors."""
    certificate = prove_coefficients(fitted, data, alpha=alpha, parameters=parameters, tol=tol)
    if is_too_large(data.X):
        return certificate
    rows = RootWeightedRows.of(data, fit_intercept=parameters.fit_intercept)
    has_factor = tol == 0.0 and not getattr(parameters, "positive", False)
    return certificate.with_claims(*inference_claims(fitted, data, rows, alpha=alpha, has_factor=has_factor))


def is_too_large(X: SparseOrDense) -> bool:
    """Return whether sparse data are too large for a dense factor."""
    return sparse.issparse(X) and min(X.shape) > LARGEST_FACTORED


def chosen_solver(name: str, X: SparseOrDense, *, positive: bool) -> str:
    """Return the solver of ridge that runs: direct where a factor fits, conjugate gradients for large sparse data."""
    if positive:
        return "lbfgs"
    if name == "auto":
        return "sparse_cg" if is_too_large(X) else "cholesky"
    if sparse.issparse(X) and (name in ("sag", "saga") or (name in DIRECT and is_too_large(X))):
        return "sparse_cg"
    return name


def prove_coefficients(fitted: Seen, data: TrainingData, *, alpha: Any, parameters: Seen, tol: float) -> Certificate:
    """Return the certificate of ``coef_`` and ``intercept_``, recomputed in float64 from the data."""
    X, weight, positive = data.X, data.weights, getattr(parameters, "positive", False)
    w = np.atleast_2d(np.asarray(fitted.coef_, dtype=np.float64)).T  # (p, t)
    y = np.asarray(data.y, dtype=np.float64).reshape(X.shape[0], -1)
    alpha, intercept = (
        np.broadcast_to(np.asarray(part, dtype=np.float64).ravel(), w.shape[1]) for part in (alpha, fitted.intercept_)
    )
    mean, y_mean = _means(X, y, weight) if parameters.fit_intercept else (np.zeros(X.shape[1]), np.zeros(y.shape[1]))
    root = np.sqrt(weight)[:, None]
    b = root * (y - y_mean)
    if is_too_large(X):
        A = None
        residual, gradient, norms = _sparse_products(X.astype(np.float64), w, b, root, mean)
    else:
        A = root * (dense(X).astype(np.float64) - mean)
        residual = b - A @ w
        gradient, norms = A.T @ residual, np.linalg.norm(A, axis=0)
    gradient = gradient - alpha * w
    # Rounding of the means leaves this much in a constant column, and in the residual; nothing is known better.
    noise, y_noise = (10 * EPSILON * np.sqrt(weight.sum()) * np.abs(center) for center in (mean, y_mean))
    norms, b_norm = np.hypot(norms, noise), np.linalg.norm(b, axis=0)
    size = size_of_fit(norms, w, b_norm)
    if positive:
        gradient = nonnegative_gradient(gradient, w)
    known = np.maximum(np.abs(gradient) - np.outer(noise, noise @ np.abs(w)), 0.0)
    rounding = rounding_unit(X.dtype) * max(1.0, np.sqrt(X.shape[1] / MANY_FEATURES))
    bound, steepest = max(rounding, tol), gradient_evidence(known, norms, size, alpha, w)
    off = intercept_evidence(intercept, w, mean, y_mean, b_norm / np.sqrt(weight.sum()))
    remedy = "Check the data for extreme values." if tol == 0.0 else "Raise max_iter, or use solver='auto'."
    said = "largest |a_j'r - alpha w_j|, relative to |a_j| times the size of the fit"
    claims = (
        Claim("normal equations", said, steepest, bound, remedy),
        Claim("intercept", "mean residual, relative to the size of its terms", off, rounding, remedy),
    )
    if A is None or tol > 0.0 or positive:
        return Certificate("exact" if tol == 0.0 else "stationary", claims)
    more, dropped = _factored_claims(A, w, residual, alpha, size, np.hypot(b_norm, y_noise), noise, bound)
    return Certificate("exact", (*claims, *more), dropped)


def nonnegative_gradient(gradient: Array, w: Array) -> Array:
    """Return what the gradient leaves to gain under ``w >= 0``: nothing where it points below a zero ``w_j``."""
    gain = np.where(w == 0, np.maximum(gradient, 0.0), gradient)
    return np.where(w < 0, np.inf, gain)


def _means(X: SparseOrDense, y: Array, weight: Array) -> tuple[Array, Array]:
    if sparse.issparse(X):
        return np.asarray(X.astype(np.float64).T @ weight) / weight.sum(), weighted_mean(y, weight)
    return weighted_mean(X, weight), weighted_mean(y, weight)


def _sparse_products(X: SparseOrDense, w: Array, b: Array, root: Array, mean: Array) -> tuple[Array, Array, Array]:
    """Return residual, ``A'r`` and column norms without making ``X`` dense."""
    residual = b - root * (X @ w - mean @ w)
    weighted = root * residual
    gradient = X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
    weight = root[:, 0] ** 2
    squares = X.multiply(X).T @ weight - 2 * mean * (X.T @ weight) + weight.sum() * mean**2
    return residual, gradient, np.sqrt(np.maximum(squares, 0.0))


def _factored_claims(
    A: Array, w: Array, residual: Array, alpha: Array, size: Array, spread: Array, noise: Array, bound: float
) -> tuple[list[Claim], str]:
    """Return what needs the column space: fitted values, coefficients, least norm; and what was taken for rounding."""
    fitted, training, error, idle, dropped = 0.0, 0.0, 0.0, None, ""
    for value in np.unique(alpha):
        t = alpha == value
        column_space, right, condition, out = _spaces(A, float(value), noise)
        whole = np.vstack([residual[:, t], -np.sqrt(value) * w[:, t]]) if value > 0 else residual[:, t]
        gap = np.linalg.norm(column_space.T @ whole, axis=0)
        fitted = float(np.maximum(fitted, np.max(gap / np.where(size[t] > 0, size[t], 1.0), initial=0.0)))
        training = float(np.maximum(training, np.max(gap / np.where(spread[t] > 0, spread[t], 1.0), initial=0.0)))
        error = max(error, coefficient_error(condition, np.linalg.norm(whole, axis=0), size[t]))
        if value == 0 and right is not None:
            outside = np.linalg.norm(w[:, t] - right @ (right.T @ w[:, t]))
            idle = max(idle or 0.0, float(outside / max(float(np.linalg.norm(w[:, t])), EPSILON)))
            if len(A) > A.shape[1]:  # of fewer rows than columns, the shortest answer is what was asked for
                dropped = _dropped(out, residual[:, t], w[:, t])
    best, collinear = "distance of the fitted values from the best ones, relative to", "drop nearly collinear"
    moved = "relative change of coef_ when the last bit of the data changes"
    uncertain = f"Fewer than three digits of coef_ are certain: {collinear} columns or use Ridge."
    outweighed, least = f"Rounding of these columns outweighs y: {collinear} ones.", max(DIGITS_LOST, bound)
    claims = [
        Claim("fitted values", f"{best} the size of the fit", fitted, bound, "Check the data for extreme values."),
        Claim("coefficients", moved, error, DIGITS_LOST, uncertain),
        Claim("training error", f"{best} the spread of y", training, least, outweighed),
    ]
    if idle is not None:
        statement = "part of coef_ that does not change the fit, relative to coef_"
        claims.append(Claim("least norm", statement, idle, 1e-6, "Drop linearly dependent columns."))
    return claims, dropped


def _dropped(out: tuple[Array, Array, Array] | None, residual: Array, w: Array) -> str:
    """Return the sentence about directions that were dropped though they are not 0; empty if there are none.

    They are given in rows, as shares of the largest, and in coefficients, divided by their singular values.
    """
    if out is None or not len(out[1]):
        return ""
    left, shares, right = out
    change, size = np.linalg.norm(right @ (left.T @ residual), axis=0), np.linalg.norm(w, axis=0)
    amount = float(np.max(change / np.where(size > 0, size, 1.0)))
    return (
        f"{len(shares)} of {len(w)} directions of the columns are taken for rounding: of all answers that fit as "
        f"well, coef_ is the shortest. They are at most {shares.max():.1g} of the largest. Were they real, coef_ would "
        f"move by {amount:.2g} times its size, and answers for rows unlike those of the fit with it."
    )


def _spaces(
    A: Array, alpha: float, noise: Array
) -> tuple[Array, Array | None, float, tuple[Array, Array, Array] | None]:
    """Return orthonormal bases of the column space and, if it is not everything, of the row space; the condition.

    Last, what was dropped of the column space since it may be rounding.
    """
    n, p = A.shape
    if alpha > 0:
        stacked = np.vstack([A, np.sqrt(alpha) * np.eye(p)])  # each column in its own unit
        q, triangle = qr(stacked / np.linalg.norm(stacked, axis=0), mode="economic", check_finite=False)
        s = svdvals(triangle, check_finite=False)
        return q, None, float(s[0] / s[-1]), None
    norms = np.linalg.norm(A, axis=0)
    vanishing = np.maximum(noise, 100 * EPSILON * np.sqrt(n) * norms.max(initial=0.0) if n < p else 0.0)
    scale = np.where(norms > vanishing, 1.0 / np.where(norms > 0, norms, 1.0), 0.0)
    q, triangle = tall_qr(A * scale)
    left, s, right = svd(triangle, full_matrices=False, check_finite=False)
    least = max(max(100, 10 * p) * EPSILON * float(s.max(initial=0.0)), float(np.linalg.norm(noise * scale)))
    rank = int(np.sum(s > least))
    condition = float(s[0] / s[rank - 1]) if rank else 1.0
    rows, out = None, None
    if rank < p:
        real = np.flatnonzero(s[rank:] > SURELY_ROUNDING * s.max(initial=0.0)) + rank
        turned = (right[real] * scale / s[real, None]).T
        out = (q @ left[:, real], s[real] / float(s.max(initial=1e-300)), turned)
        # row space of A itself: spanned by the kept right vectors, unscaled
        rows = qr(right[:rank].T / np.where(scale > 0, scale, np.inf)[:, None], mode="economic", check_finite=False)[0]
    return q @ left[:, :rank], rows, condition, out


def prove_basis_expansion(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate; ``fitted.expanded`` is what the model makes of the rows of ``data``."""
    if parameters.functions is not None:
        return Certificate("none", reason="functions are the user's own: there is nothing to compare them with.")
    columns, powers = np.array(data.X.T, dtype=np.float64, order="C"), fitted.powers_
    wrong = _missing_or_repeated(powers, parameters, len(columns)) + abs(fitted.n_output_features_ - len(powers))
    errors = [np.inf if wrong else 0.0]
    if wrong == 0 and hasattr(fitted, "expanded"):  # a file cannot be asked
        for said, row in zip(fitted.expanded.T, powers, strict=True):
            product = np.prod(columns[np.repeat(np.arange(len(columns)), row)], axis=0)
            errors.append(np.max(np.abs(said - product) / (np.abs(product) + TINY), initial=0.0))
    bound = 8 * max(1, parameters.degree) * float(np.finfo(data.dtype).eps)
    said, counted = (
        "largest relative difference from the monomials multiplied out",
        "repeated, out of order or not counted",
    )
    claims = (
        Claim("monomials", said, float(np.max(errors)), bound, "Scale X: powers overflow."),
        Claim("powers", f"rows of powers_ that are missing, {counted}", wrong, 0.0, "Refit."),
    )
    return Certificate("exact", claims)


def _missing_or_repeated(powers: Array, parameters: Seen, n_features: int) -> float:
    """Return how many rows are not the exponents of a monomial, or not after the row before, or missing.

    Rows in strict order (by degree, then with the first exponent falling) are all different: as many as there are
    monomials are all of them.
    """
    most = 1 if parameters.interaction_only else parameters.degree
    degrees = range(0 if parameters.include_bias else 1, parameters.degree + 1)
    kinds = [n_features if parameters.interaction_only else n_features + d - 1 for d in degrees]
    count = sum(1 if d == 0 else comb(kind, d) for kind, d in zip(kinds, degrees, strict=True))
    if powers.ndim != 2 or powers.shape[1] != n_features:
        return float(count + 1)
    total = powers.sum(axis=1)
    is_wrong = (total < degrees.start) | (total >= degrees.stop) | np.any((powers < 0) | (powers > most), axis=1)
    keys = np.column_stack([total, -powers])
    steps = keys[1:] - keys[:-1]
    first = np.argmax(steps != 0, axis=1)
    is_wrong[1:] |= steps[np.arange(len(steps)), first] <= 0
    return float(np.count_nonzero(is_wrong) + abs(count - len(powers)))


PROVES = {
    "LinearRegression": prove_linear_regression,
    "Ridge": prove_ridge,
    "RidgeClassifier": prove_ridge_classifier,
    "BasisExpansion": prove_basis_expansion,
}
SEES = {"RidgeClassifier": class_columns}
