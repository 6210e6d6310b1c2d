"""Passes over the logits of a logistic model, and descent on the quadratic model of its loss on sparse columns.

Arguments are float64 arrays that the caller has checked.
``Z`` has one column for two classes, the logit of the second, and otherwise one per class; ``b`` is added to its rows.
"""

# mypy: allow-untyped-defs

import math

import numpy as np

from pellucid.linear_model.coordinate_descent_kernels import soft_threshold
from pellucid.solvers.compiling_kernels import kept

REORDER = {"reassoc", "contract", "nsz"}
"""Lets the sums of a row be vectorized."""


@kept(fastmath=REORDER)
def sigmoid_rows_pass(X, w, offset, b, labels, weight, Z, P, gradient):
    """Do all that two classes need while a row is in cache; return the loss and its slope by ``b``. O(n p).

    Writes ``Z = X w - offset`` and the probabilities ``P`` of the second class, adds ``X' residual`` to ``gradient``.
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
            gradient[j] += residual * X[i, j]
    return loss, first


@kept
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


@kept
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


@kept(fastmath=REORDER)
def sigmoid_sums(A, w, labels, weight, entropies, gradients, bend):
    """Add up what Newton's method asks of rows of two classes; return loss, squared residuals, least margin. O(n p).

    Adds to the entropy and the gradient of the class of each row. With ``bend`` the rows of ``A`` are multiplied by the
    root of their curvature.
    """
    loss, squares, least = 0.0, 0.0, np.inf
    for i in range(A.shape[0]):
        z, own = 0.0, labels[i]
        for j in range(A.shape[1]):
            z += A[i, j] * w[j]
        margin = z if own == 1 else -z
        shrunk = math.exp(-abs(z))
        rest, small = math.log1p(shrunk), shrunk / (1.0 + shrunk)
        wrong = small if margin >= 0.0 else 1.0 - small
        loss += weight[i] * (max(-margin, 0.0) + rest)
        squares += weight[i] * wrong * wrong
        least = min(least, margin)
        entropies[own] += weight[i] * (rest + small * abs(z))
        residual = weight[i] * (-wrong if own == 1 else wrong)
        root = math.sqrt(weight[i] * small * (1.0 - small))
        for j in range(A.shape[1]):
            gradients[own, j] += residual * A[i, j]
        if bend:
            for j in range(A.shape[1]):
                A[i, j] *= root
    return loss, squares, least


@kept(fastmath=REORDER)
def softmax_sums(A, Z, labels, weight, entropies, gradients):
    """Do the same for several classes, with logits ``Z``, which become probabilities times roots of weights. O(n p K).

    ``gradients`` has the shape (C, K, p); ``A`` stays as it is.
    """
    loss, squares, least = 0.0, 0.0, np.inf
    for i in range(Z.shape[0]):
        own, top, other = labels[i], 0, -np.inf
        for k in range(Z.shape[1]):
            top = k if Z[i, k] > Z[i, top] else top
            other = Z[i, k] if k != own and Z[i, k] > other else other
        largest, margin, others, spread = Z[i, top], Z[i, own] - other, 0.0, 0.0
        behind = largest - Z[i, own]
        for k in range(Z.shape[1]):
            below = largest - Z[i, k]
            Z[i, k] = math.exp(-below)
            if k != top:  # the term of the largest is the 1 of log1p, which keeps the digits of a small loss
                others += Z[i, k]
                spread += Z[i, k] * below
        rest = math.log1p(others)
        loss += weight[i] * (rest + behind)
        least = min(least, margin)
        entropies[own] += weight[i] * (rest + spread / (1.0 + others))
        root, not_own = math.sqrt(weight[i]), others - Z[i, own] + 1.0 if own != top else others
        for k in range(Z.shape[1]):
            wrong = (-not_own if k == own else Z[i, k]) / (1.0 + others)
            squares += weight[i] * wrong * wrong
            for j in range(A.shape[1]):
                gradients[own, k, j] += weight[i] * wrong * A[i, j]
            Z[i, k] *= root / (1.0 + others)
    return loss, squares, least


@kept
def weighted_moments(data, indices, indptr, h, first, second):
    """Write ``sum_i h_i x_ij`` to ``first`` and ``sum_i h_i x_ij^2`` to ``second``, by column. O(nonzeros)."""
    for j in range(first.shape[0]):
        sums, squares = 0.0, 0.0
        for place in range(indptr[j], indptr[j + 1]):
            weighted = h[indices[place]] * data[place]
            sums += weighted
            squares += weighted * data[place]
        first[j] = sums
        second[j] = squares


@kept
def model_pass(data, indices, indptr, columns, h, first, second, total, gradient, w, hu, along, l1, l2):
    """Minimize the model over one coordinate of ``w`` after the other; return what it fell by and the new ``along``.

    The model is ``gradient'd + sum_i h_i (u_i + c)^2 / 2`` plus the penalty of ``w``, with the change ``u = X d`` of
    the logits, of which ``hu`` keeps ``h_i u_i`` up to date. Its intercept's change ``c = -along / total`` is the best:
    ``along`` is ``sum_i h_i u_i``, and an infinite ``total`` means no intercept. O(nonzeros of the columns).
    """
    fell = 0.0
    for position in range(columns.shape[0]):
        j = columns[position]
        curvature = second[j] - first[j] * first[j] / total + l2
        if curvature <= 1e-14 * second[j] or curvature == 0.0:  # a constant column: w[j] stays
            continue
        slope = gradient[j] - first[j] * along / total
        for place in range(indptr[j], indptr[j + 1]):
            slope += data[place] * hu[indices[place]]
        old = w[j]
        new = soft_threshold((curvature - l2) * old - slope, l1, False) / curvature
        step = new - old
        if step == 0.0:
            continue
        w[j] = new
        for place in range(indptr[j], indptr[j + 1]):
            hu[indices[place]] += h[indices[place]] * data[place] * step
        along += first[j] * step
        fell -= step * (slope + 0.5 * (curvature - l2) * step)
        fell += l1 * (abs(old) - abs(new)) + 0.5 * l2 * (old * old - new * new)
    return fell, along


@kept
def model_descent(data, indices, indptr, h, first, second, total, gradient, w, hu, l1, l2, precision, max_passes):
    """Minimize the model of ``model_pass`` until a pass over all columns adds less than ``precision`` to its fall.

    Between passes over all columns there are passes over those that are not 0. Writes ``w`` and ``hu``; returns the
    passes done.
    """
    every = np.arange(w.shape[0])
    along, fallen, n_passes = 0.0, 0.0, 0
    while n_passes < max_passes:
        fell, along = model_pass(data, indices, indptr, every, h, first, second, total, gradient, w, hu, along, l1, l2)
        fallen += fell
        n_passes += 1
        if fell <= precision * fallen:
            break
        support = np.flatnonzero(w)
        while n_passes < max_passes:
            fell, along = model_pass(
                data, indices, indptr, support, h, first, second, total, gradient, w, hu, along, l1, l2
            )
            fallen += fell
            n_passes += 1
            if fell <= 0.3 * precision * fallen:
                break
    return n_passes
