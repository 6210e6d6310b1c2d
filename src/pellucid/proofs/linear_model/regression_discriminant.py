r"""Proof of sigmoid outputs fitted by squared error: no direction leads down, and none bends down.

.. math:: E(w, b) = \frac{1}{2n}\sum_i c_i\,(\sigma(w'x_i + b) - t_i)^2 + \frac{\alpha}{2}\|w\|^2

E is not convex, so nothing is said about other minima. The gradient and the curvature are measured in units in which
every column bends alike: columns are centered by the intercept and divided by :math:`\sqrt{s_j^2/16 + \alpha}`, where
:math:`s_j` is the standard deviation and 1/16 the largest square of the slope of :math:`\sigma`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import class_columns, has_label_sets
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.rows import in_float64
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

BLOCK = 1 << 18
"""Entries copied in one go."""

ROUNDINGS = 64
"""How many times rounding of the training dtype a gradient of order 1 may be off."""

MULTIPLES = (0.0, *(0.5**k for k in range(40, 0, -1)))

MOST_UNKNOWNS = 200
"""Unknowns up to which the curvature is measured."""


@dataclass(frozen=True)
class Units:
    """Means and units of the columns; with an intercept the last unknown is the score at the means, over 4."""

    mean: Array
    unit: Array
    fit_intercept: bool


def column_units(X: SparseOrDense, weight: Array, alpha: float, *, fit_intercept: bool) -> Units:
    """Return the means of the columns, 0 without an intercept, and the units in which they bend alike."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X, dtype=np.float64)
    if sparse.issparse(X):
        squares = np.asarray(share @ X.multiply(X), dtype=np.float64)
        variance = np.maximum(squares - mean**2, EPSILON * squares)
    else:
        variance = np.sum([share[part] @ (X[part] - mean) ** 2 for part in _blocks(X)], axis=0)
    unit = np.sqrt((variance if fit_intercept else variance + mean**2) / 16.0 + alpha)
    return Units(mean * fit_intercept, np.where(unit > 0.0, unit, 1.0), fit_intercept)


def prove_regression_discriminant(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the worst output, and whether the labels are those of the data."""
    columns = column_units(data.X, data.weights, parameters.alpha, fit_intercept=parameters.fit_intercept)
    coef = dense(fitted.coef_)
    if len(coef) != data.y.shape[1] or fitted.intercept_.shape != (len(coef),):
        raise ValueError(f"coef_ must have a row for each of {data.y.shape[1]} outputs, got {len(coef)}.")
    certificate = prove_outputs(
        data.X, data.y, data.weights, coef, fitted.intercept_, parameters.alpha, parameters.tol, columns
    )
    same = fitted.multilabel_ == has_label_sets(data) and np.array_equal(fitted.classes_, data.classes)
    labels = Claim("labels", "1 if classes_ or multilabel_ are not those of the data", float(not same), 0.0)
    if parameters.fit_intercept:
        return certificate.with_claims(labels)
    size = float(np.abs(fitted.intercept_).max())
    return certificate.with_claims(labels, Claim("intercept", "size of intercept_: there is none", size, 0.0))


def prove_outputs(
    X: SparseOrDense,
    targets: Array,
    weight: Array,
    coef: Array,
    intercept: Array,
    alpha: float,
    tol: float,
    columns: Units,
) -> Certificate:
    """Return the certificate of the worst output; ``targets`` are 0 and 1, one column per output."""
    bound = tol + ROUNDINGS * float(np.finfo(X.dtype).eps)  # of the training data
    X = in_float64(X)
    coef, intercept = coef.astype(np.float64), np.broadcast_to(intercept, len(coef)).astype(np.float64)
    mean = columns.mean
    if not sparse.issparse(X):  # a mean far from 0 then costs no digits
        X, intercept, mean = X - mean, intercept + coef @ mean, np.zeros_like(mean)
    gradients, plateaus, bends = [], [], []
    for k, w in enumerate(coef):
        scores = np.asarray(X @ w) + intercept[k]
        outputs = expit(scores)
        errors, slopes = outputs - targets[:, k], outputs * (1.0 - outputs)
        residual = weight * errors * slopes / weight.sum()
        along = (np.asarray(X.T @ residual) + alpha * w - mean * residual.sum()) / columns.unit
        gradients.append(float(np.max(np.abs(along), initial=4.0 * abs(residual.sum()) * columns.fit_intercept)))
        plateaus.append(_above_simpler(scores, w, targets[:, k], weight, alpha, fit_intercept=columns.fit_intercept))
        if X.shape[1] + columns.fit_intercept <= MOST_UNKNOWNS:
            bend = slopes**2 + errors * slopes * (1.0 - 2.0 * outputs)
            bends.append(_steepest_fall(X, weight * bend / weight.sum(), alpha, mean, columns))
    remedy, said = "Raise max_iter or tol.", "largest entry of the gradient of the worst output: 0 at a minimum"
    simpler = "by how much a constant output or a smaller multiple of the scores is better: 0 unless outputs ran away"
    away = "Fit again: scores have run away to where every gradient is 0. A penalty (alpha) keeps them small."
    claims = [
        Claim("gradient", said, float(np.max(gradients)), bound, remedy),
        Claim("plateau", simpler, float(np.max(plateaus)), bound, away),
    ]
    if bends:
        statement = "most negative curvature in any direction: 0 at a minimum"
        claims.append(Claim("curvature", statement, max(bends), float(np.sqrt(tol)), remedy))
    reason = "Squared error of a sigmoid is not convex: other minima may be lower."
    return Certificate("stationary", tuple(claims), reason)


def _above_simpler(
    scores: Array, w: Array, target: Array, weight: Array, alpha: float, *, fit_intercept: bool
) -> float:
    """Return by how much the objective is above that of the best constant output and of smaller multiples."""

    def objective(multiple: float) -> float:
        errors = expit(multiple * scores) - target
        return 0.5 * float(weight @ errors**2) / float(weight.sum()) + 0.5 * alpha * multiple**2 * float(w @ w)

    simpler = [objective(multiple) for multiple in MULTIPLES]
    if fit_intercept:
        share = float(weight @ target) / float(weight.sum())
        simpler.append(0.5 * share * (1.0 - share))
    return float(np.maximum(objective(1.0) - np.min(simpler), 0.0))


def _steepest_fall(X: SparseOrDense, bend: Array, alpha: float, mean: Array, columns: Units) -> float:
    """Return how negative the smallest eigenvalue of the Hessian is, in the units of the columns."""
    hessian: Any = 0.0
    for part in _blocks(X):
        rows = (dense(X[part]) - mean) / columns.unit
        if columns.fit_intercept:
            rows = np.column_stack([rows, np.full(len(rows), 4.0)])
        hessian = hessian + rows.T @ (bend[part, None] * rows)
    places = np.arange(len(columns.unit))
    hessian[places, places] += alpha / columns.unit**2
    return max(0.0, -float(np.linalg.eigvalsh(hessian)[0]))


def _blocks(X: SparseOrDense) -> list[slice]:
    """Return parts of the rows that are small enough to be copied."""
    height = max(1, BLOCK // X.shape[1])
    return [slice(start, start + height) for start in range(0, X.shape[0], height)]


PROVES = {"RegressionDiscriminant": prove_regression_discriminant}
SEES = {"RegressionDiscriminant": class_columns}
