r"""Proof of a logistic regression: its duality gap, recomputed from the data in float64.

Any probabilities :math:`P` whose sums over the rows equal the weights of the classes (they must only where there is an
intercept) bound the least objective from below by :math:`\sum_i s_i H(p_i) - \Omega^*(X'S(P - Y))`, with the entropy
:math:`H` and :math:`\Omega^*(G) = \sum (|g| - l_1)_+^2 / (2 l_2)`, or 0 for :math:`|g| \le l_1` if :math:`l_2 = 0`.
The proof takes those of the model, moves the intercept until the sums are right, and mixes in what rounding leaves
wrong. Without a penalty there is no such bound; the gradient is measured, and whether the classes can be separated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import entr, expit, log_expit, log_softmax, softmax

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.types import Array

LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""

ROUNDING = 1e-12
"""Relative error that sums over the rows may have."""

REPRODUCED = 1e-9
"""How closely the reported gap must be found again, as a part of the objective."""

EPS = float(np.finfo(np.float64).eps)
"""What rounding leaves of the probability of a class next to a sure one; a large ``C`` multiplies it."""

LARGEST_PROGRAM = 1 << 21
"""Entries of the linear program that decides whether classes can be separated; beyond, only the model's own margins."""


@dataclass(frozen=True)
class FittedLogistic:
    """What the proof may see of a model: one row of ``coef`` per column of logits."""

    coef: Array
    intercept: Array
    dual_gap: float
    l1: float
    l2: float
    fit_intercept: bool
    tol: float


def gap_bound(tol: float, objective: float) -> float:
    """Return the gap to reach: ``tol`` of the objective, and never more than a millionth of it."""
    return (min(tol, LARGEST_GAP) + ROUNDING) * abs(objective)


def penalized_certificate(
    gap: float, objective: float, tol: float, discrepancy: float, total_weight: float, rounding: float = 0.0
) -> Certificate:
    """Return the certificate of a model with a penalty; ``rounding`` is what columns of large numbers add to a gap."""
    return Certificate(
        "optimal",
        (
            Claim(
                "duality gap",
                "the objective is at most this far above its minimum",
                gap,
                gap_bound(tol, objective),
                "Raise max_iter, standardize X, or lower C; for no penalty use C=np.inf.",
            ),
            Claim(
                "reported gap",
                "dual_gap_ differs by this from the gap of coef_ and intercept_",
                discrepancy,
                REPRODUCED * abs(objective) + 0.01 * gap + 8 * EPS * total_weight + rounding,
            ),
        ),
    )


def free_certificate(gradient: float, separable: bool, tol: float) -> Certificate:
    """Return the certificate of a model without a penalty."""
    return Certificate(
        "stationary",
        (
            Claim(
                "gradient",
                "largest correlation of a column with the residual",
                gradient,
                np.inf if separable else min(tol, LARGEST_GAP) + ROUNDING,
                "Raise max_iter, or standardize X.",
            ),
            Claim(
                "separation",
                "1 if a hyperplane separates classes, so that the coefficients would grow for ever",
                float(separable),
                0.0,
                "The classes can be separated: no finite coefficients are best. Use a penalty (a finite C).",
            ),
        ),
    )


def prove_logistic(X: Any, labels: Array, weight: Array, model: FittedLogistic) -> Certificate:
    """Return the certificate; ``weight`` is that of the loss of each row, ``labels`` count from 0."""
    W, n = model.coef.astype(np.float64).T, len(labels)
    X = X.astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    Y = np.zeros((n, W.shape[1]))
    Y[labels > 0, 0] = 1.0
    if W.shape[1] > 1:
        Y = np.eye(W.shape[1])[labels]
    mean = np.asarray(weight @ X).ravel() / weight.sum() if model.fit_intercept else np.zeros(len(W))
    Z, b = _times(X, mean, W), model.intercept.astype(np.float64) + mean @ W
    if model.l1 == model.l2 == 0.0:
        return _prove_free(X, mean, Z + b, Y, labels, weight, model)
    penalty = model.l1 * float(np.abs(W).sum()) + 0.5 * model.l2 * float(np.sum(W**2))
    objective = _loss(Z + b, Y, weight) + penalty
    P = _balanced(Z, b, Y, weight) if model.fit_intercept else _probabilities(Z)
    G = _pulled(X, mean, (P - Y) * weight[:, None])
    dual = _dual_value(P, Y, G, weight, model)
    gap = max(0.0, objective - dual)
    worse = G + np.sign(G) * _rounding_of_sums(X, mean, P - Y, weight)
    rounding = abs(dual - _dual_value(P, Y, worse, weight, model))
    return penalized_certificate(gap, objective, model.tol, abs(gap - model.dual_gap), float(weight.sum()), rounding)


def _rounding_of_sums(X: Any, mean: Array, residual: Array, weight: Array) -> Array:
    """Return by how much rounding changes the sums ``A' diag(weight) residual``: columns of large numbers feel it."""
    size = np.sqrt(np.sum(weight[:, None] * residual**2, axis=0))
    return 8 * EPS * np.outer(np.sqrt(_sq_lengths(X, mean, weight)), size)


def _dual_value(P: Array, Y: Array, G: Array, weight: Array, model: FittedLogistic) -> float:
    values = []
    if model.l2 > 0.0:
        excess = np.maximum(np.abs(G) - model.l1, 0.0)
        values.append(_entropy(P, weight) - float(np.sum(excess**2)) / (2.0 * model.l2))
    if model.l1 > 0.0:
        steepest = float(np.abs(G).max(initial=0.0))
        t = 1.0 if steepest <= model.l1 else model.l1 / steepest
        values.append(_entropy(Y + t * (P - Y), weight))
    return max(values)


def _balanced(Z: Array, b: Array, Y: Array, weight: Array) -> Array:
    """Return probabilities for logits ``Z`` with the right sum for every class."""
    for _ in range(30):
        P = _probabilities(Z + b)
        wrong = weight @ (P - Y)
        if np.abs(wrong).max() <= 1e-15 * weight.sum():
            break
        curvature = np.diag(weight @ P) - (P * weight[:, None]).T @ P
        step = np.linalg.lstsq(curvature, -wrong, rcond=1e-14)[0]
        if np.abs(step).max() > 2.0:  # far from balance: only the sums below are exact then
            break
        b = b + step
    full, wanted = _all_classes(P), weight @ _all_classes(Y)
    full[:, wanted == 0.0] = 0.0
    full /= full.sum(axis=1, keepdims=True)
    held = weight @ full
    if np.abs(held - wanted).max() <= ROUNDING * weight.sum():  # mending the last digit would disturb the others
        return full[:, 1:] if P.shape[1] == 1 else full
    kept = min(1.0, float(np.min(wanted[held > 0.0] / held[held > 0.0])))
    spread = np.maximum(wanted - kept * held, 0.0)
    total = float(spread.sum())
    mixed = kept * full + (1.0 - kept) * (spread / total if total > 0.0 else 0.0)
    return mixed[:, 1:] if P.shape[1] == 1 else mixed


def _prove_free(
    X: Any, mean: Array, logits: Array, Y: Array, labels: Array, weight: Array, model: FittedLogistic
) -> Certificate:
    residual = _probabilities(logits) - Y
    size = float(np.sqrt(np.sum(weight[:, None] * residual**2)))
    weighted = weight[:, None] * residual
    slopes = np.abs(_pulled(X, mean, weighted))
    lengths = np.sqrt(_sq_lengths(X, mean, weight))
    largest = float(np.max(slopes / np.where(lengths > 0.0, lengths, np.inf)[:, None], initial=0.0))
    if model.fit_intercept:
        largest = max(largest, float(np.abs(weighted.sum(axis=0)).max()) / np.sqrt(weight.sum()))
    gradient = largest / max(size, np.finfo(float).tiny)
    return free_certificate(gradient, separable(X, labels, weight, logits, model.fit_intercept), model.tol)


def separable(X: Any, labels: Array, weight: Array, logits: Array, fit_intercept: bool) -> bool:
    r"""Return whether some :math:`D` raises no margin below 0 and one above: then the loss has no minimum.

    A linear program decides, :math:`\max \sum m` over margins :math:`0 \le m_{ik} = (x_i'D)_{y_i} - (x_i'D)_k \le 1`.
    """
    used = weight > 0.0
    rows, labels = sparse.csr_array(X)[np.flatnonzero(used)], labels[used]
    if fit_intercept:
        rows = sparse.hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
    margins = _margin_rows(rows, labels, logits.shape[1])
    if margins.nnz > LARGEST_PROGRAM:
        full = np.column_stack([np.zeros(len(logits)), logits]) if logits.shape[1] == 1 else logits
        return bool(np.all(_least_margins(full[used], labels) > 0.0))
    m = margins.shape[0]
    scale = np.abs(margins).max(axis=1).toarray().ravel()
    margins = sparse.diags_array(1.0 / np.where(scale > 0.0, scale, 1.0)) @ margins
    both = sparse.vstack([margins, -margins])
    limits = np.concatenate([np.ones(m), np.zeros(m)])
    answer = linprog(-np.asarray(margins.sum(axis=0)).ravel(), both, limits, bounds=(None, None), method="highs")
    return bool(answer.status == 3 or (answer.status == 0 and -answer.fun > 1e-6))


def _margin_rows(rows: Any, labels: Array, n_columns: int) -> Any:
    """Return the matrix that maps the coefficients of all classes, one after the other, to the margins."""
    if n_columns == 1:
        return sparse.diags_array(np.where(labels == 1, 1.0, -1.0)) @ rows
    blocks = []
    for own in range(n_columns):
        mine = rows[np.flatnonzero(labels == own)]
        for other in (k for k in range(n_columns) if k != own and mine.shape[0]):
            pattern = np.zeros((1, n_columns))
            pattern[0, own], pattern[0, other] = 1.0, -1.0
            blocks.append(sparse.kron(pattern, mine, format="csr"))
    return sparse.vstack(blocks, format="csr")


def _least_margins(logits: Array, labels: Array) -> Array:
    rows, others = np.arange(len(logits)), logits.copy()
    others[rows, labels] = -np.inf
    return logits[rows, labels] - others.max(axis=1)


def _loss(logits: Array, Y: Array, weight: Array) -> float:
    if logits.shape[1] == 1:
        return -float(weight @ log_expit(np.where(Y > 0.0, logits, -logits))[:, 0])
    return -float(weight @ np.sum(Y * log_softmax(logits, axis=1), axis=1))


def _probabilities(logits: Array) -> Array:
    return expit(logits) if logits.shape[1] == 1 else softmax(logits, axis=1)


def _all_classes(P: Array) -> Array:
    return np.hstack([1.0 - P, P]) if P.shape[1] == 1 else P.copy()


def _entropy(P: Array, weight: Array) -> float:
    return float(weight @ entr(np.clip(_all_classes(P), 0.0, 1.0)).sum(axis=1))


def _times(X: Any, mean: Array, W: Array) -> Array:
    """Return ``(X - 1 mean') W``; a dense ``X`` is centered before, so that large means cost no digits."""
    return X @ W - mean @ W if sparse.issparse(X) else (X - mean) @ W


def _pulled(X: Any, mean: Array, R: Array) -> Array:
    """Return ``(X - 1 mean')' R``."""
    return X.T @ R - np.outer(mean, R.sum(axis=0)) if sparse.issparse(X) else (X - mean).T @ R


def _sq_lengths(X: Any, mean: Array, weight: Array) -> Array:
    if sparse.issparse(X):
        return np.maximum(X.multiply(X).T @ weight - weight.sum() * mean**2, 0.0)
    return weight @ (X - mean) ** 2
