r"""Proof of the choice of a penalty: the errors of left-out rows, computed again from inverse matrices.

For each penalty :math:`C = K + \alpha S^{-1}` is inverted by its Cholesky factor; left out, row i is missed by
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

from pellucid.kernels.choice import pairwise_kernel
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.kernel_ridge.kernel_ridge import prove_equations
from pellucid.proofs.kernels.ridge_equations import USEFUL
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.training_data import TrainingData

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""


def prove_kernel_ridge_cv(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the fit at ``alpha_``, of its choice, and of what is stored about it."""
    kernel = pairwise_kernel(parameters, data.X.shape[1])
    certificate = prove_equations(fitted, kernel, fitted.alpha_, data)
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    if fitted.alpha_ not in alphas:
        return certificate.with_claims(Claim("penalty", "alpha_ is none of alphas", 1.0, 0.0))
    errors, doubt = left_out_errors_by_inverse(kernel, data, alphas)
    scores = np.array([np.mean(np.average(np.square(part), axis=0, weights=data.weights)) for part in errors])
    own = float(scores[alphas == fitted.alpha_][0])
    apart = abs(-fitted.best_score_ - own) / max(own, TINY)
    claims = [
        penalty_claim(own, float(scores.min()), doubt),
        Claim("score", "relative distance of best_score_ from the left-out error of alpha_", apart, doubt),
    ]
    if parameters.store_cv_results or hasattr(fitted, "cv_results_"):
        claims.append(_stored_claim(getattr(fitted, "cv_results_", None), errors, data, doubt, parameters))
    return certificate.with_claims(*claims)


def penalty_claim(own: float, best: float, doubt: float = TIE) -> Claim:
    """Return the claim that the left-out error of the chosen penalty is the least."""
    return Claim(
        "penalty",
        "left-out error of alpha_ above the least of all alphas, relative",
        max(own - best, 0.0) / max(best, TINY) if np.isfinite(own) else np.inf,
        doubt,
        "Refit: alpha_ is not the best of alphas on these data.",
    )


def left_out_errors_by_inverse(kernel: Kernel, data: TrainingData, alphas: Array) -> tuple[Array, float]:
    """Return errors of shape (alphas, rows, targets), and the relative error they may have."""
    columns = (np.arange(data.n_given) if data.kept is None else data.kept) if kernel.is_given else data.X
    K = kernel(data.X, columns)
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


def _stored_claim(stored: Any, errors: Array, data: TrainingData, doubt: float, parameters: Any) -> Claim:
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
