r"""Proof of what standard errors and intervals rest on, from the data and the coefficients.

With the weighted, centered rows :math:`A`, :math:`G = A'A` and :math:`H = G + \alpha I`, the covariance for noise of
variance 1 is the :math:`C` with :math:`HCH = G`; without a penalty, also where columns depend on each other, it is the
one with :math:`CGC = C` besides. The fit uses up :math:`d = \sum_j s_j^2/(s_j^2 + \alpha)` of the total weight, for
the singular values :math:`s_j` of :math:`A`, and the noise has the variance :math:`\|b - Aw\|^2/(\sum_i w_i - d - 1)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh, qr, solve_triangular, svdvals

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.rows import tall_singular_values, weighted_mean
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

MOST_FEATURES = 2000
"""Above this many features the covariance of the coefficients is not kept: it would outgrow the data."""

SAFE_SQUARE = 1e10
"""Condition of A'A, the square of that of A, up to which an inverse may be computed from it."""

LEAST_INDEPENDENT = 1e-13
"""Columns with a smaller ratio of singular values depend on each other as far as their digits tell."""

STATEMENT = "difference from what data and coefficients imply, relative to its terms"


@dataclass(frozen=True)
class RootWeightedRows:
    """The rows about their mean, times the roots of their weights."""

    A: Array
    mean: Array
    total: float
    fit_intercept: bool
    unit: float
    """Relative error that the fit may have made, by its dtype."""

    @classmethod
    def of(cls, data: TrainingData, *, fit_intercept: bool) -> RootWeightedRows:
        """Return the rows of the training data, in float64."""
        X = np.asarray(data.X.toarray() if sparse.issparse(data.X) else data.X, dtype=np.float64)
        weight = data.weights
        total = float(weight.sum())
        mean = weighted_mean(X, weight) if fit_intercept else np.zeros(X.shape[1])
        A = np.sqrt(weight)[:, None] * (X - mean)
        # what rounding leaves of a constant column is no column
        A[:, np.linalg.norm(A, axis=0) <= 100 * EPSILON * np.abs(mean) * np.sqrt(total)] = 0.0
        return cls(A, mean, total, fit_intercept, 1000 * EPSILON + 16 * float(np.finfo(data.dtype).eps))

    @cached_property
    def singular_values(self) -> Array:
        """Those of the columns in their units."""
        return tall_singular_values(self.A)

    @cached_property
    def ranks(self) -> Array:
        """How many directions the columns span, counted in their units and in units of their lengths."""
        lengths = np.linalg.norm(self.A, axis=0)
        scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        noise = 10 * EPSILON * np.abs(self.mean) * np.sqrt(self.total) * (lengths > 0.0)  # what the means leave unknown
        in_lengths = tall_singular_values(self.A * scale)
        return np.array([self._rank(self.singular_values, noise), self._rank(in_lengths, noise * scale)])

    def _rank(self, s: Array, noise: Array) -> int:
        least = max(100, 10 * min(self.A.shape)) * EPSILON * s.max(initial=0.0)
        return int(np.sum(s > np.maximum(least, np.linalg.norm(noise))))


def inference_claims(
    fitted: Seen, data: TrainingData, rows: RootWeightedRows, *, alpha: Any, has_factor: bool
) -> list[Claim]:
    """Return the claims; ``has_factor`` says whether the solver leaves what a covariance is computed from."""
    alphas = np.unique(np.asarray(alpha, dtype=np.float64))
    has_factor = has_factor and len(alphas) == 1
    penalty = float(alphas[0])
    size = np.linalg.norm(rows.A, axis=0) / np.sqrt(rows.total) + np.abs(rows.mean)
    means = np.abs(fitted.feature_means_ - rows.mean) / np.where(size > 0.0, size, 1.0)
    free = _free_weight(rows, penalty) if has_factor else np.array([np.nan])
    freedom = min(_difference(fitted.degrees_of_freedom_, value) for value in free) / rows.total
    values = {
        "total weight": abs(fitted.total_weight_ / rows.total - 1.0),
        "feature means": float(np.max(means, initial=0.0)),
        "degrees of freedom": freedom,
        "noise variance": _noise_error(fitted, rows, data, float(fitted.degrees_of_freedom_)),
    }
    # the trace of an inverse rounds most, and what hangs on it, a quantile of t, least
    bounds = {"noise variance": rows.unit, "degrees of freedom": max(1e-6, 100 * rows.unit)}
    claims = [
        Claim(name, STATEMENT, value, bounds.get(name, len(rows.mean) * rows.unit), "Fit again.")
        for name, value in values.items()
    ]
    return [*claims, _covariance_claim(fitted, rows, penalty, has_factor=has_factor)]


def spectrum_claims(fitted: Seen, rows: RootWeightedRows) -> list[Claim]:
    """Return the claims about ``singular_`` and ``rank_``; small singular values may come of a squared matrix."""
    if not hasattr(fitted, "singular_"):
        return []
    right = rows.singular_values
    stored = np.asarray(fitted.singular_, dtype=np.float64)
    error = np.inf
    if stored.shape == right.shape:
        error = float(np.max(np.abs(stored - right), initial=0.0)) / max(float(right.max(initial=0.0)), EPSILON)
    ranks = np.abs(rows.ranks - fitted.rank_).min()
    return [
        Claim("singular values", "largest error, relative to the largest of them", error, np.sqrt(rows.unit)),
        Claim("rank", "difference from the number of directions that the columns span", float(ranks), 0.0),
    ]


def _difference(stored: float, right: float) -> float:
    """Return the distance; two that are not numbers are the same."""
    return 0.0 if np.isnan(stored) and np.isnan(right) else float(np.abs(stored - right))


def _free_weight(rows: RootWeightedRows, alpha: float) -> Array:
    """Return what the fit leaves of the total weight; two numbers where the rank depends on the units."""
    n, p = rows.A.shape
    if alpha == 0.0:
        used = rows.ranks.astype(np.float64)
    elif p <= min(n, MOST_FEATURES):
        squares = rows.singular_values**2
        used = np.array([np.sum(squares / (squares + alpha))])
    else:  # nobody asks for intervals there: counted as if there were no penalty, by the factor of the solver
        used = np.array([n - rows.fit_intercept, n, p], dtype=np.float64)
    return rows.total - used - rows.fit_intercept


def _noise_error(fitted: Seen, rows: RootWeightedRows, data: TrainingData, free: float) -> float:
    """Return how far the length of the residuals is from what the variance says, relative to the size of the fit."""
    stored = np.atleast_1d(np.asarray(fitted.noise_variance_, dtype=np.float64))
    w = np.atleast_2d(np.asarray(fitted.coef_, dtype=np.float64)).T
    if np.isnan(stored).all() and not free > 0.0:
        return 0.0
    if stored.shape != (w.shape[1],) or np.any(stored < 0.0):
        return np.inf
    weight, y = data.weights, np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
    y_mean = weighted_mean(y, weight) if rows.fit_intercept else 0.0
    b = np.sqrt(weight)[:, None] * (y - y_mean)
    lengths = np.linalg.norm(b - rows.A @ w, axis=0)
    size = np.linalg.norm(b, axis=0) + np.linalg.norm(rows.A, axis=0) @ np.abs(w)
    error = np.abs(np.sqrt(stored * free) - lengths) / np.where(size > 0.0, size, 1.0)
    return float(np.max(error)) if np.isfinite(error).all() else np.inf


def _covariance_claim(fitted: Seen, rows: RootWeightedRows, alpha: float, *, has_factor: bool) -> Claim:
    n, p = rows.A.shape
    wanted = has_factor and p <= min(n, MOST_FEATURES) and float(fitted.degrees_of_freedom_) > 0.0
    C = fitted.unit_covariance_
    error, bound = 0.0, p * rows.unit
    if C is None or not wanted:
        error = np.inf if wanted or C is not None else 0.0
    elif C.shape != (p, p):
        error = np.inf
    else:
        C = np.asarray(C, dtype=np.float64)
        error, bound = _difference_of_covariances(C, rows, alpha) or (_error_in_equations(C, rows, alpha), bound)
    return Claim("unit covariance", STATEMENT, error if np.isfinite(error) else np.inf, bound, "Fit again.")


def _difference_of_covariances(C: Array, rows: RootWeightedRows, alpha: float) -> tuple[float, float] | None:
    r"""Return the largest error of an entry of :math:`C`, relative to :math:`H^{-1}`, and what it may be.

    With :math:`A = QR`, the rows of the penalty below those of the data, and :math:`Q_1` the part that belongs to the
    data, :math:`C = WW'` for :math:`RW = Q_1'`, in which nothing cancels. None where columns depend on each other.
    """
    lengths = np.sqrt(np.sum(rows.A**2, axis=0) + alpha)
    kept = np.flatnonzero(lengths > 0.0)
    if alpha == 0.0 and np.any(rows.ranks < len(kept)):
        return None
    A, scale = rows.A[:, kept] / lengths[kept], lengths[kept]
    Q, R = qr(np.vstack([A, np.diag(np.sqrt(alpha) / scale)]) if alpha else A, mode="economic", check_finite=False)
    s = svdvals(R, check_finite=False)
    if not len(kept) or s[-1] < LEAST_INDEPENDENT * s[0]:
        return None
    whole = solve_triangular(R, Q.T, check_finite=False) / scale[:, None]
    W = whole[:, : len(A)]
    right, deviations = np.zeros_like(C), np.ones(len(C))
    right[np.ix_(kept, kept)] = W @ W.T
    deviations[kept] = np.linalg.norm(whole, axis=1)  # the roots of the diagonal of the inverse of H
    error = np.abs(C - right) / np.outer(deviations, deviations)
    condition = float(s[0] / s[-1])
    lost = min(condition**2, max(SAFE_SQUARE, condition))  # the inverse of A'A squares the condition where that is safe
    return float(error.max()), len(C) * rows.unit + 10 * EPSILON * lost


def _error_in_equations(C: Array, rows: RootWeightedRows, alpha: float) -> float:
    """Return the largest entry of ``HCH - G``, in units in which ``H`` has a unit diagonal, relative to ``C``."""
    lengths = np.sqrt(np.sum(rows.A**2, axis=0) + alpha)
    scale = np.where(lengths > 0.0, lengths, 1.0)
    A = rows.A / scale
    G = A.T @ A
    H, C = G + alpha * np.diag(1.0 / scale**2), C * np.outer(scale, scale)
    size = max(1.0, float(np.abs(C).max(initial=0.0)))
    if alpha > 0.0:  # C comes of the inverse of H, and has its rounding
        size = max(size, 1.0 / max(float(eigvalsh(H).min()), EPSILON))
    error = float(np.abs(H @ C @ H - G).max(initial=0.0)) / size
    if alpha == 0.0:
        error = max(error, float(np.abs(C @ G @ C - C).max(initial=0.0)) / size**2)
    return error
