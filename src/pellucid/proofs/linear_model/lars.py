r"""Proof of a least angle path: equal correlations at every breakpoint, recomputed from raw data in float64.

At a breakpoint with coefficients :math:`w` and value :math:`\alpha`, the correlations :math:`c = A^\top(b - Aw)` must
be :math:`|c_j| = n\alpha` where :math:`w_j \ne 0` and :math:`|c_j| \le n\alpha` elsewhere. For the lasso also
:math:`\operatorname{sign} c_j = \operatorname{sign} w_j`: these are its optimality conditions. Without a penalty to
reach, each step must end where another feature is as correlated, the last one as ``n_nonzero_coefs`` asks.
"""

from __future__ import annotations

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_of
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.rows import weighted_mean
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

EQUAL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""How equal correlations must be, relative to the largest one possible, by dtype of the model."""

ROUNDING = sum_error(0)
"""Relative error that sums of rounded numbers may have."""

NUMBERS_AT_ONCE = 1 << 15


def prove_lars(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the worst target; a penalty among the parameters makes it a lasso."""
    Y = data.y.reshape(len(data.y), -1).astype(np.float64)
    y_means = weighted_mean(Y, data.weights) if parameters.fit_intercept else np.zeros(Y.shape[1])
    rows = _PathRows(data, Y - y_means, centers=parameters.fit_intercept)
    intercepts, certificates = np.broadcast_to(fitted.intercept_, Y.shape[1]), []
    for k, (y_mean, intercept) in enumerate(zip(y_means, intercepts, strict=True)):
        stored = (fitted.coef_, fitted.alphas_)
        coef, alphas = stored if fitted.coef_.ndim == 1 else (part[k] for part in stored)
        path, active = coef[:, None], None
        if parameters.fit_path:
            path = fitted.coef_path_ if fitted.coef_.ndim == 1 else fitted.coef_path_[k]
            active = np.asarray(fitted.active_ if Y.shape[1] == 1 else fitted.active_[k], dtype=int)
        claims = _path_claims(rows, k, coef, np.asarray(alphas, dtype=np.float64), path, active, parameters)
        claims.append(_intercept_claim(rows, k, coef, float(intercept), float(y_mean), parameters))
        certificates.append(Certificate("exact", tuple(claims)))
    return worst_of(certificates)


def _path_claims(
    rows: _PathRows, k: int, coef: Array, alphas: Array, path: Array, active: Array | None, parameters: Seen
) -> list[Claim]:
    """Return the claims about the breakpoints of a target, the last of which is the model."""
    correlations = rows.correlations(k, path.astype(np.float64))
    size, equal = rows.largest * np.sqrt(rows.n) * rows.deviation(k), EQUAL[rows.dtype]
    noise = float(parameters.jitter or 0.0) * np.sqrt(rows.n) * rows.largest
    imbalance, unit = _imbalance(correlations, path, rows.n * alphas, parameters), size if size > 0.0 else np.inf
    said = "largest deviation from equal correlations at a breakpoint, relative to |X| |y|"
    remedy, off = "Standardize X, or drop nearly collinear columns.", float(np.abs(path[:, -1] - coef).max())
    claims = [
        Claim("equal correlations", said, imbalance / unit, equal + noise / unit, remedy),
        Claim("end of path", "difference between coef_ and the last breakpoint", off, 0.0),
    ]
    if hasattr(parameters, "alpha"):
        short, bound = float(alphas[-1] - parameters.alpha), equal * parameters.alpha
        claims.append(Claim("penalty reached", "how far the path stopped above alpha", short, bound, "Raise max_iter."))
    else:
        claims.append(_steps_claim(np.abs(correlations), rows.n * alphas, parameters, 100 * equal * size + noise))
    if active is not None:
        claims.append(_active_claim(active, path, np.abs(correlations[:, -1]), 100 * equal * size))
    return claims


def _intercept_claim(rows: _PathRows, k: int, coef: Array, intercept: float, y_mean: float, parameters: Seen) -> Claim:
    sizes = rows.deviation(k) + float(np.abs(rows.mean) @ np.abs(coef))
    rounding = float(np.finfo(rows.dtype).eps) * abs(intercept) + ROUNDING * (sizes + abs(y_mean) + abs(intercept))
    drift = abs(y_mean - float(rows.mean @ coef) - intercept)
    bound = rounding + float(parameters.jitter or 0.0) if parameters.fit_intercept else 0.0
    return Claim("intercept", "size of the mean residual, 0 up to rounding", drift, bound)


class _PathRows:
    r"""Rows about their mean, with products that the correlations of all breakpoints are made of.

    Rows are read once, about the mean of some of them. That mean is off by :math:`\delta`, and the correlations of
    residuals r by :math:`\delta \sum_i r_i`.
    """

    def __init__(self, data: TrainingData, B: Array, *, centers: bool) -> None:
        X, weight = np.asarray(data.X), data.weights
        (n, p), self.B, self.weight, self.n, self.dtype = X.shape, B, weight, float(weight.sum()), data.dtype
        height = max(1, NUMBERS_AT_ONCE // p)
        near = X[:: max(1, n // height)].mean(axis=0, dtype=np.float64) if centers else np.zeros(p)
        self.A = X - near if p > n else None  # then the products of columns are more numbers than the rows
        self.gram, self.along, self.total = np.zeros((p, p) if p <= n else 0), np.zeros((p, B.shape[1])), np.zeros(p)
        squares = np.zeros(p)
        for start in range(0, n, height):
            A, counts = X[start : start + height] - near, weight[start : start + height]
            self.total += counts @ A
            weighted = A * counts[:, None]
            self.along += weighted.T @ B[start : start + height]
            if self.A is None:
                self.gram += weighted.T @ A
            else:
                squares += np.einsum("ij,ij->j", weighted, A)
        self.shift = self.total / self.n if centers else np.zeros(p)
        squares = (self.gram.diagonal() if self.A is None else squares) - self.n * self.shift**2
        self.mean, self.largest = near + self.shift, float(np.sqrt(squares.max()))

    def deviation(self, k: int) -> float:
        """Return the deviation of target ``k``."""
        return float(np.sqrt(self.weight @ self.B[:, k] ** 2 / self.n))

    def correlations(self, k: int, path: Array) -> Array:
        """Return those of target ``k`` at all breakpoints, of the shape of the path."""
        explained = self.gram @ path if self.A is None else self.A.T @ (self.weight[:, None] * (self.A @ path))
        left = self.weight @ self.B[:, k] - self.total @ path
        return np.asarray(self.along[:, [k]] - explained - np.outer(self.shift, left))


def _imbalance(c: Array, path: Array, level: Array, parameters: Seen) -> float:
    """Return the largest violation of equal correlations over all breakpoints."""
    is_lasso, positive = hasattr(parameters, "alpha"), getattr(parameters, "positive", False)
    if positive and np.any(path < 0.0):
        return np.inf
    outside = (c if positive else np.abs(c)) - level
    inside = np.abs(c - level * np.sign(path)) if is_lasso else np.abs(np.abs(c) - level)
    # the path begins where the first correlation is met: before, nothing is in use that would tell
    late = -float(outside[:, 0].max()) if path.shape[1] > 1 and level[0] > 0.0 else 0.0
    return float(np.max([0.0, outside.max(), late, np.where(path != 0.0, inside, 0.0).max()]))


def _steps_claim(correlations: Array, level: Array, parameters: Seen, rounding: float) -> Claim:
    """Return the claim that each step went as far as it should, until no feature was left or enough were in use.

    After k steps another feature than those of the steps has as large a correlation: at least k + 1 have. A point
    before that lies on the path too, but is none of its breakpoints.
    """
    most = parameters.n_nonzero_coefs
    steps = np.arange(len(level)) if parameters.fit_path else np.array([most])
    are_at_level = np.sum(correlations >= level - rounding, axis=0)
    wrong = int(np.sum((are_at_level <= steps) & (level > 0.0)))
    wrong += int(steps[-1] > most) + int(level[-1] > 0.0 and steps[-1] < most)
    return Claim("steps", "steps that end before another feature joins, and steps left out", float(wrong), 0.0)


def _active_claim(listed: Array, path: Array, correlations: Array, rounding: float) -> Claim:
    """Return the claim that ``active_`` has the features in use at the end, each once, in the order they joined."""
    wrong = len(listed) - len(np.unique(listed)) + int(np.sum((listed < 0) | (listed >= len(path))))
    if wrong == 0:
        used = np.flatnonzero(path[:, -1])
        wrong += len(np.setdiff1d(used, listed))
        joined = np.array([np.flatnonzero(path[j] == 0.0).max(initial=-1) for j in listed])  # for good
        wrong += int(np.sum(np.diff(joined) < 0))
        # one that has just joined still has a coefficient of 0, and as large a correlation as the others
        idle = np.setdiff1d(listed, used)
        wrong += int(np.sum(correlations[idle] < correlations.max(initial=0.0) - rounding))
    return Claim("active", "features missing in active_, there without reason, or out of order", float(wrong), 0.0)


PROVES = {"Lars": prove_lars, "LassoLars": prove_lars}
