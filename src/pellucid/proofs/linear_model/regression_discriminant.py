r"""Proof of sigmoid outputs fitted by squared error: no direction leads down, and none bends down.

.. math:: E(w, b) = \frac{1}{2n}\sum_i c_i\,(\sigma(w'x_i + b) - t_i)^2 + \frac{\alpha}{2}\|w\|^2

E is not convex, so nothing is said about other minima. The gradient and the curvature are measured in units in which
every column bends alike: columns are centered by the intercept and divided by :math:`\sqrt{s_j^2/16 + \alpha}`, where
:math:`s_j` is the standard deviation and 1/16 the largest square of the slope of :math:`\sigma`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from pellucid.core.label_sets import is_multilabel
from pellucid.core.linear_classifier import dense
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

BLOCK = 1 << 18
"""Entries copied in one go."""

ROUNDINGS = 64
"""How many times rounding of the training dtype a gradient of order 1 may be off."""

MULTIPLES = (0.0, *(0.5**k for k in range(40, 0, -1)))

MOST_UNKNOWNS = 200
"""Unknowns up to which the curvature is measured."""


@dataclass(frozen=True)
class Columns:
    """Means and units of the columns; with an intercept the last unknown is the score at the means."""

    mean: Array
    unit: Array
    fit_intercept: bool

    @property
    def n_unknowns(self) -> int:
        """Number of columns, and one for the intercept."""
        return len(self.unit) + self.fit_intercept

    def line(self, u: Array) -> tuple[Array, float]:
        """Return weights and intercept for the unknowns."""
        w = u[: len(self.unit)] / self.unit
        return w, float(4.0 * u[-1] - self.mean @ w) if self.fit_intercept else 0.0

    def gradient(self, by_weight: Array, by_intercept: float) -> Array:
        """Return the gradient by the unknowns from that by the weights and the intercept."""
        if not self.fit_intercept:
            return np.asarray(by_weight / self.unit)
        return np.append((by_weight - self.mean * by_intercept) / self.unit, 4.0 * by_intercept)

    def centered(self, X: Any) -> tuple[Any, Columns]:
        """Return dense rows less their means, in float64, and their columns: a mean far from 0 then costs no digits."""
        if sparse.issparse(X) or not self.fit_intercept:
            return X, self
        return np.subtract(X, self.mean, dtype=np.float64), replace(self, mean=np.zeros_like(self.mean))


def measure_columns(X: Any, weight: Array, alpha: float, *, fit_intercept: bool) -> Columns:
    """Return the means and units of the columns of ``X``."""
    total = float(weight.sum())
    mean = np.asarray(weight @ X, dtype=np.float64) / total
    if sparse.issparse(X):
        squares = np.asarray(weight @ X.multiply(X), dtype=np.float64) / total
        variance = np.maximum(squares - mean**2, EPSILON * squares)
    else:
        parts = [weight[part] @ (X[part] - mean) ** 2 for part in _blocks(X)]
        variance = np.sum(parts, axis=0) / total
    if not fit_intercept:
        variance = variance + mean**2
    unit = np.sqrt(variance / 16.0 + alpha)
    return Columns(mean * fit_intercept, np.where(unit > 0.0, unit, 1.0), fit_intercept)


def prove_regression_discriminant(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the worst output, and whether the labels are those of the data."""
    columns = measure_columns(data.X, data.weights, parameters.alpha, fit_intercept=parameters.fit_intercept)
    coef = dense(fitted.coef_)
    if len(coef) != data.y.shape[1] or fitted.intercept_.shape != (len(coef),):
        raise ValueError(f"coef_ must have a row for each of {data.y.shape[1]} outputs, got {len(coef)}.")
    certificate = prove_outputs(
        data.X, data.y, data.weights, coef, fitted.intercept_, parameters.alpha, parameters.tol, columns
    )
    same = fitted.multilabel_ == is_multilabel(data) and np.array_equal(fitted.classes_, data.classes)
    labels = Claim("labels", "1 if classes_ or multilabel_ are not those of the data", float(not same), 0.0)
    if parameters.fit_intercept:
        return certificate.with_claims(labels)
    size = float(np.abs(fitted.intercept_).max())
    return certificate.with_claims(labels, Claim("intercept", "size of intercept_: there is none", size, 0.0))


def prove_outputs(
    X: Any, targets: Array, weight: Array, coef: Array, intercept: Array, alpha: float, tol: float, columns: Columns
) -> Certificate:
    """Return the certificate of the worst output; ``targets`` are 0 and 1, one column per output."""
    bound = tol + ROUNDINGS * float(np.finfo(X.dtype).eps)  # of the training data
    X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    coef, intercept = coef.astype(np.float64), np.broadcast_to(intercept, len(coef)).astype(np.float64)
    X, inner = columns.centered(X)
    intercept = intercept + coef @ (columns.mean - inner.mean)
    gradients, plateaus, bends = [], [], []
    for k, w in enumerate(coef):
        scores = np.asarray(X @ w) + intercept[k]
        outputs = expit(scores)
        errors, slopes = outputs - targets[:, k], outputs * (1.0 - outputs)
        residual = weight * errors * slopes / weight.sum()
        gradient = inner.gradient(np.asarray(X.T @ residual) + alpha * w, float(residual.sum()))
        gradients.append(float(np.max(np.abs(gradient))))
        plateaus.append(_above_simpler(scores, w, targets[:, k], weight, alpha, fit_intercept=columns.fit_intercept))
        if columns.n_unknowns <= MOST_UNKNOWNS:
            bend = slopes**2 + errors * slopes * (1.0 - 2.0 * outputs)
            bends.append(_steepest_fall(X, weight * bend / weight.sum(), alpha, inner))
    remedy = "Raise max_iter or tol."
    claims = [
        Claim(
            "gradient",
            "largest entry of the gradient of the worst output: 0 at a minimum",
            float(np.max(gradients)),
            bound,
            remedy,
        ),
        Claim(
            "plateau",
            "by how much a constant output or a smaller multiple of the scores is better: 0 unless outputs ran away",
            float(np.max(plateaus)),
            bound,
            "Fit again: scores have run away to where every gradient is 0. A penalty (alpha) keeps them small.",
        ),
    ]
    if bends:
        statement = "most negative curvature in any direction: 0 at a minimum"
        claims.append(Claim("curvature", statement, max(bends), float(np.sqrt(tol)), remedy))
    return Certificate(
        "stationary", tuple(claims), "Squared error of a sigmoid is not convex: other minima may be lower."
    )


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


def _steepest_fall(X: Any, bend: Array, alpha: float, columns: Columns) -> float:
    """Return how negative the smallest eigenvalue of the Hessian is, in the units of the columns."""
    hessian = np.zeros((columns.n_unknowns, columns.n_unknowns))
    for part in _blocks(X):
        rows = X[part].toarray() if sparse.issparse(X) else X[part]
        rows = (rows - columns.mean) / columns.unit
        if columns.fit_intercept:
            rows = np.column_stack([rows, np.full(len(rows), 4.0)])
        hessian += rows.T @ (bend[part, None] * rows)
    places = np.arange(len(columns.unit))
    hessian[places, places] += alpha / columns.unit**2
    return max(0.0, -float(np.linalg.eigvalsh(hessian)[0]))


def _blocks(X: Any) -> list[slice]:
    """Return parts of the rows that are small enough to be copied."""
    height = max(1, BLOCK // X.shape[1])
    return [slice(start, start + height) for start in range(0, X.shape[0], height)]
