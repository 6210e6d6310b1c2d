"""Passes over the logits of a logistic model. Arguments are float64 arrays that the caller has checked.

``Z`` has one column for two classes, the logit of the second, and otherwise one per class; ``b`` is added to its rows.
"""

# mypy: allow-untyped-defs

import math

from numba import njit

REORDER = {"reassoc", "contract", "nsz"}
"""Lets the sums of a row be vectorized."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def sigmoid_rows_pass(X, w, offset, b, labels, weight, Z, P, pull):
    """Do all that two classes need while a row is in cache; return the loss and its slope by ``b``. O(n p).

    Writes ``Z = X w - offset`` and the probabilities of the second class to ``P``, adds ``X' residual`` to ``pull``.
    """
    n, p = X.shape
    loss, first = 0.0, 0.0
    for i in range(n):
        fitted = -offset
        for j in range(p):
            fitted += X[i, j] * w[j]
        Z[i, 0] = fitted
        z = fitted + b
        shrunk = math.exp(-abs(z))
        small = shrunk / (1.0 + shrunk)
        P[i, 0] = 1.0 - small if z >= 0.0 else small
        loss += weight[i] * (max(-z if labels[i] == 1 else z, 0.0) + math.log1p(shrunk))
        residual = weight[i] * (P[i, 0] - labels[i])
        first += residual
        for j in range(p):
            pull[j] += residual * X[i, j]
    return loss, first


@njit(cache=True, nogil=True, error_model="numpy")
def sigmoid_pass(Z, b, labels, weight, P, slope, curvature):
    """Write the probabilities of the second class to ``P`` and return the loss. O(n).

    ``slope`` (1,) and ``curvature`` (1, 1) get the first two derivatives of the loss by ``b``.
    """
    loss, first, second = 0.0, 0.0, 0.0
    for i in range(Z.shape[0]):
        z = Z[i, 0] + b[0]
        shrunk = math.exp(-abs(z))  # in (0, 1]: it cannot overflow, and log1p keeps the digits of a small loss
        small = shrunk / (1.0 + shrunk)
        p = 1.0 - small if z >= 0.0 else small
        P[i, 0] = p
        loss += weight[i] * (max(-z if labels[i] == 1 else z, 0.0) + math.log1p(shrunk))
        first += weight[i] * (p - labels[i])
        second += weight[i] * small * (1.0 - small)
    slope[0] = first
    curvature[0, 0] = second
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_pass(Z, b, labels, weight, P, slope, curvature):
    """Write the probabilities of all classes to ``P`` and return the loss. O(n K^2).

    ``slope`` (K,) and ``curvature`` (K, K) get the first two derivatives of the loss by ``b``.
    """
    n_classes = Z.shape[1]
    slope[:] = 0.0
    curvature[:, :] = 0.0
    loss = 0.0
    for i in range(Z.shape[0]):
        top = 0
        for k in range(1, n_classes):
            if Z[i, k] + b[k] > Z[i, top] + b[top]:
                top = k
        largest, others = Z[i, top] + b[top], 0.0
        for k in range(n_classes):
            P[i, k] = math.exp(Z[i, k] + b[k] - largest)
            if k != top:  # the term of the largest is the 1 of log1p, which keeps the digits of a small loss
                others += P[i, k]
        loss += weight[i] * (math.log1p(others) + largest - Z[i, labels[i]] - b[labels[i]])
        for k in range(n_classes):
            P[i, k] /= 1.0 + others
            share = weight[i] * P[i, k]
            slope[k] += share
            curvature[k, k] += share
            for m in range(k + 1):
                curvature[k, m] -= share * P[i, m]
        slope[labels[i]] -= weight[i]
    for k in range(n_classes):
        for m in range(k):
            curvature[m, k] = curvature[k, m]
    return loss
