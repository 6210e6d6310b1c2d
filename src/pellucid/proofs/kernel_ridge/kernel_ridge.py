r"""Proof of kernel ridge regression: its equations hold, up to what rounding explains; and of the choice of a penalty.

Errors of left-out rows are computed again from inverse matrices. For each penalty :math:`C = K + \alpha S^{-1}` is
inverted by its Cholesky factor; left out, row i is missed by
:math:`\delta_i = (C^{-1}y)_i / (C^{-1})_{ii}`. Where it has a weight :math:`s > 1`, so many of its copies less one are
known, which leaves :math:`\delta_i\,\alpha / (\alpha + (s - 1)(1 / (C^{-1})_{ii} - \alpha / s))`. The
inverse loses digits as the condition of C grows, which is at most
:math:`1 + \mathrm{tr}(K)\,s_{\max} / \alpha`: the bounds are that many rounding errors, at least ``TIE`` and at
most ``USEFUL``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernels.matrices import ProofKernel, kernel_matrix, resolved_kernel
from pellucid.proofs.kernels.ridge_equations import USEFUL, equation_claims, rows_that_differ
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import drawn, graded, is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_FIT = 256
"""Equations looked at when a model is fitted; ``verify`` looks at all."""

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""


def prove_kernel_ridge(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, from all equations; at a fit from some."""
    return _prove_equations(fitted, _kernel(parameters, data), parameters.alpha, data)


def prove_kernel_ridge_cv(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the fit at ``alpha_``, of its choice, and of what is stored about it."""
    kernel = _kernel(parameters, data)
    certificate = _prove_equations(fitted, kernel, fitted.alpha_, data)
    if is_fitting():  # an inverse for each penalty takes longer than the fit
        return certificate
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    if fitted.alpha_ not in alphas:
        return certificate.with_claims(Claim("penalty", "alpha_ is none of alphas", 1.0, 0.0))
    errors, doubt = _left_out_errors(kernel, data, alphas)
    scores = np.array([np.mean(np.average(np.square(part), axis=0, weights=data.weights)) for part in errors])
    own = float(scores[alphas == fitted.alpha_][0])
    apart = abs(-fitted.best_score_ - own) / max(own, TINY)
    least, remedy = float(scores.min()), "Refit: alpha_ is not the best of alphas on these data."
    above = max(own - least, 0.0) / max(least, TINY) if np.isfinite(own) else np.inf
    claims = [
        Claim("penalty", "left-out error of alpha_ above the least of all alphas, relative", above, doubt, remedy),
        Claim("score", "relative distance of best_score_ from the left-out error of alpha_", apart, doubt),
    ]
    if parameters.store_cv_results or hasattr(fitted, "cv_results_"):
        claims.append(_stored_claim(getattr(fitted, "cv_results_", None), errors, data, doubt, parameters))
    return certificate.with_claims(*claims)


def _left_out_errors(kernel: ProofKernel, data: TrainingData, alphas: Array) -> tuple[Array, float]:
    """Return errors of shape (alphas, rows, targets), and the relative error they may have."""
    columns = (np.arange(data.n_given) if data.kept is None else data.kept) if kernel.is_given else data.X
    K = kernel_matrix(kernel, data.X, columns)
    y = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    condition = 1.0 + float(np.abs(np.diagonal(K)).sum() * data.weights.max() / alphas.min())
    errors = [_by_inverse(K, y, float(alpha), data.weights) for alpha in alphas]
    return np.stack(errors), min(max(TIE, 8 * sum_error(len(y)) * condition), USEFUL)


def _by_inverse(K: Array, y: Array, alpha: float, weight: Array) -> Array:
    C = K + np.diag(alpha / weight)
    scale = 1.0 / np.sqrt(np.abs(np.diagonal(C)))  # to a diagonal of ones
    factor, failed = lapack.dpotrf(scale[:, None] * C * scale, lower=True)
    if failed:
        return np.full_like(y, np.nan)
    inverse, _ = lapack.dpotri(factor, lower=True)
    dual = scale[:, None] * lapack.dpotrs(factor, scale[:, None] * y, lower=True)[0]
    diagonal = np.diagonal(inverse) * scale**2
    known = np.maximum(weight - 1.0, 0.0) * (1.0 / diagonal - alpha / weight)
    return np.asarray(dual / diagonal[:, None] * (alpha / (alpha + known))[:, None])


def _stored_claim(stored: Any, errors: Array, data: TrainingData, doubt: float, parameters: Seen) -> Claim:
    statement = "largest distance of a root of cv_results_ from a left-out error, in parts of the largest"
    wanted = np.moveaxis(np.abs(errors), 0, -1)  # (rows, targets, alphas)
    wanted = wanted if np.ndim(data.y) > 1 else wanted[:, 0]
    if stored is None or not parameters.store_cv_results or stored.shape[0] != data.n_given:
        return Claim("stored errors", statement, np.inf, doubt)
    own = stored if data.kept is None else stored[data.kept]
    if own.shape != wanted.shape or np.min(own) < 0.0:
        return Claim("stored errors", statement, np.inf, doubt)
    return Claim(
        "stored errors", statement, float(np.max(np.abs(np.sqrt(own) - wanted)) / max(np.max(wanted), TINY)), doubt
    )


def _kernel(parameters: Seen, data: TrainingData) -> ProofKernel:
    """Return the kernel as scikit-learn's ``pairwise_kernels`` reads the parameters."""
    named = {"gamma": parameters.gamma, "degree": parameters.degree, "coef0": parameters.coef0}
    return resolved_kernel(parameters.kernel, X=data.X, params=parameters.kernel_params, **named)


def _prove_equations(fitted: Seen, kernel: ProofKernel, alpha: Any, data: TrainingData) -> Certificate:
    y = np.asarray(data.y, dtype=np.float64)
    other = rows_that_differ(fitted.X_fit_, data.given[0])
    stored = Claim("training rows", "rows of X_fit_ that are not those of the data", other, 0.0)
    wanted = (data.n_given, *y.shape[1:])
    if np.shape(fitted.dual_coef_) != wanted:
        claim = Claim("shape", f"dual_coef_ has not the shape {wanted} of the targets", 1.0, 0.0)
        return Certificate("exact", (claim, stored))
    dual = np.asarray(fitted.dual_coef_, dtype=np.float64).reshape(data.n_given, -1)
    n = data.X.shape[0]
    rows = drawn(n, n if not is_fitting() else ROWS_AT_FIT)
    used = dual if data.kept is None else dual[data.kept]
    idle = 0.0 if data.kept is None else float(np.abs(np.delete(dual, data.kept, axis=0)).max(initial=0.0))
    idle_claim = Claim("rows of weight 0", "largest dual_coef_ of a row that does not count", idle, 0.0)
    return graded("exact", (*equation_claims(kernel, alpha, data, used, rows), idle_claim, stored))


PROVES = {"KernelRidge": prove_kernel_ridge, "KernelRidgeCV": prove_kernel_ridge_cv}
