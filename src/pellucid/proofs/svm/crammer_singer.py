r"""Proof of one machine for all classes: its duality gap, recomputed from the data in float64.

Any :math:`\alpha_{ik} \le c_i[k = y_i]` whose rows add up to 0 bounds the least objective from below by
:math:`\sum_i\alpha_{iy_i} - \tfrac12\sum_k\|\sum_i\alpha_{ik}a_i\|^2`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array


def prove_together(
    X: Any, labels: Array, cost: Array, u: Array, dual: Array | None, constant: float
) -> tuple[float, float]:
    """Return the relative gap of weights and dual variables, a row of each per class, and how far the dual strays."""
    X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if dual is None or dual.shape != (len(u), len(labels)):
        return np.inf, np.inf
    A, alpha, each = _augmented(X, constant), dual.T, np.arange(len(labels))
    scores = np.asarray(A @ u.T)
    lacks = scores - scores[each, labels][:, None] + 1.0
    lacks[each, labels] = 0.0
    objective = 0.5 * float(np.sum(u**2)) + float(cost @ lacks.max(axis=1))
    bound = float(alpha[each, labels].sum()) - 0.5 * float(np.sum(np.asarray(A.T @ alpha) ** 2))
    relative_gap = (objective - bound) / max(objective, np.finfo(float).tiny)
    return relative_gap, dual_violation(alpha, labels, cost)


def _augmented(X: Any, constant: float) -> Any:
    if not constant:
        return X
    column = np.full((X.shape[0], 1), constant)
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


def dual_violation(alpha: Array, labels: Array, cost: Array) -> float:
    """Return how far, as a part of its cost, a row is from what is allowed."""
    most = np.zeros_like(alpha)
    most[np.arange(len(labels)), labels] = cost
    outside = np.maximum((alpha - most).max(axis=1), np.abs(alpha.sum(axis=1)))
    return float(np.max(np.maximum(outside, 0.0) / np.where(cost > 0.0, cost, 1.0)))
