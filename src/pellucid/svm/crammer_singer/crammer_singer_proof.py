r"""Proof of one machine for all classes: its duality gap, recomputed from the data in float64.

Any :math:`\alpha_{ik} \le c_i[k = y_i]` whose rows add up to 0 bounds the least objective from below by
:math:`\sum_i\alpha_{iy_i} - \tfrac12\sum_k\|\sum_i\alpha_{ik}a_i\|^2`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.certificate import Certificate
from pellucid.core.types import Array
from pellucid.svm.linear_svc.linear_svc_proof import FittedMachines, certificate_of


def prove_together(X: Any, labels: Array, cost: Array, model: FittedMachines) -> Certificate:
    """Return the certificate; ``model`` has one row of weights and of dual variables per class."""
    X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if model.dual is None or model.dual.shape != (len(model.u), len(labels)):
        return certificate_of(np.nan, np.nan, model.tol)
    A = _augmented(X, model.constant)
    alpha, each = model.dual.T, np.arange(len(labels))
    scores = np.asarray(A @ model.u.T)
    lacks = scores - scores[each, labels][:, None] + 1.0
    lacks[each, labels] = 0.0
    objective = 0.5 * float(np.sum(model.u**2)) + float(cost @ lacks.max(axis=1))
    bound = float(alpha[each, labels].sum()) - 0.5 * float(np.sum(np.asarray(A.T @ alpha) ** 2))
    relative_gap = max(0.0, objective - bound) / max(objective, np.finfo(float).tiny)
    return certificate_of(relative_gap, _violation(alpha, labels, cost), model.tol)


def _augmented(X: Any, constant: float) -> Any:
    if not constant:
        return X
    column = np.full((X.shape[0], 1), constant)
    return sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])


def _violation(alpha: Array, labels: Array, cost: Array) -> float:
    """Return how far, as a part of its cost, a row is from what is allowed."""
    most = np.zeros_like(alpha)
    most[np.arange(len(labels)), labels] = cost
    outside = np.maximum((alpha - most).max(axis=1), np.abs(alpha.sum(axis=1)))
    return float(np.max(np.maximum(outside, 0.0) / np.where(cost > 0.0, cost, 1.0)))
