"""Kernel machines as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.linear_classifier import dense
from pellucid.core.onnx.class_answers import labels_at
from pellucid.core.onnx.graph import DOUBLE, WHOLE, Answers, NotExportableError, Value
from pellucid.core.types import Array
from pellucid.kernels.kernels_in_onnx import products
from pellucid.svm.kernel_machine.machine_rows import class_blocks, class_pairs, machine_coefs
from pellucid.svm.kernel_machine.support_vector_model import machine_kernel, matrix_function
from pellucid.svm.svc.svc_probability import SUREST

MOST_NUMBERS = 2**27
"""A gigabyte of doubles: pairs of classes times support vectors, in which a small model may grow large."""


def svr(model: Any, X: Value) -> Answers:
    """Return numbers."""
    return {"variable": (_products(model, X) @ dense(model.dual_coef_).T + model.intercept_).reshape(-1)}


def svc(model: Any, X: Value) -> Answers:
    """Return the label with most votes of the machines, and the scores."""
    n = len(model.classes_)
    size = n * (n - 1) // 2 * max(n, len(model.support_))
    if size > MOST_NUMBERS:
        raise NotExportableError(
            f"pairs of classes must hold at most {MOST_NUMBERS:,} numbers to be exported, got {size:,}. "
            "Use LinearSVC, which has one for each class."
        )
    coefs = machine_coefs(dense(model.dual_coef_), class_blocks(model.n_support_))
    scores = _products(model, X) @ coefs.T + model.intercept_
    if n == 2:
        label = labels_at((scores >= 0.0).cast(WHOLE).reshape(-1), model.classes_)
        if hasattr(model, "probability_slopes_"):
            share = _pair_shares(scores, model.probability_slopes_)
            return {"label": label, "probabilities": X.graph.joined([1.0 - share, share])}
        return {"label": label, "scores": scores.reshape(-1)}
    first, second = (np.array([[pair[k] == c for c in range(n)] for pair in class_pairs(n)], float) for k in (0, 1))
    is_first = (scores > 0.0).cast(DOUBLE)
    votes = is_first @ first + (1.0 - is_first) @ second
    confident = scores @ (first - second)
    by_class = votes + confident / (3.0 * (confident.abs() + 1.0))
    place = (by_class if model.break_ties else votes).argmax()
    label = labels_at(place, model.classes_)
    if hasattr(model, "probability_slopes_"):
        coupled = _coupled(_pair_shares(scores, model.probability_slopes_), n)
        return {"label": label, "probabilities": _agreeing(coupled, place, n)}
    return {"label": label, "scores": scores if model.decision_function_shape == "ovo" else by_class}


def _pair_shares(scores: Value, slopes: Array) -> Value:
    """Return for each machine the probability of its positive class."""
    steep = (scores > 0.0).where(slopes[:, 1], slopes[:, 0]) * scores
    return steep.sigmoid().clip(SUREST, 1.0 - SUREST)


def _coupled(shares: Value, n: int) -> Value:
    """Return the distribution p that suits all pairs of n classes best.

    It solves Qp = c1 where the sum of p is 1, hence (Q + 11')p = d1. That matrix is positive definite, so its equations
    are solved without a choice of pivots: a round for each class makes a column of [Q + 11', 1] one of the identity.
    """
    pairs = class_pairs(n)
    place = np.full((n, n), 2 * len(pairs))
    for k, (i, j) in enumerate(pairs):
        place[i, j], place[j, i] = k, len(pairs) + k
    wins = shares.graph.joined([shares, 1.0 - shares, shares.column(0) * 0.0]).columns(place.ravel())
    r = wins.reshape(-1, n, n)
    system = (r * r).sum() * np.eye(n) - r * r.transpose(0, 2, 1) + np.ones((n, n))
    rows = shares.graph.joined([system, (shares.column(0) * 0.0).reshape(-1, 1, 1) + np.ones((n, 1))], axis=2)
    for k, unit in enumerate(np.eye(n)):
        column, row = (rows.apply("Gather", np.array([k]), axis=axis) for axis in (2, 1))
        rows = rows - (column - unit[:, None]) * (row / row.apply("Gather", np.array([k]), axis=2))
    p = rows.apply("Gather", np.array([n]), axis=2).reshape(-1, n)
    p = (p > 0.0).where(p, 0.0)
    return p / p.sum()


def _agreeing(p: Value, place: Value, n: int) -> Value:
    """Return the nearest distribution in which no class is above the predicted one.

    The predicted class and those above it share a level, the mean of as many of the largest as raise it.
    """
    is_best = place.reshape(-1, 1).equals(np.arange(n))
    own = is_best.where(p, 0.0).sum()
    others = p.graph.apply("TopK", is_best.where(-1.0, p), np.array([n - 1]), dtypes=(DOUBLE, WHOLE), axis=1)[0]
    sums = others @ np.triu(np.ones((n - 1, n - 1)))
    level = p.graph.joined([own, (own + sums) / np.arange(2.0, n + 1.0)]).max()
    return is_best.where(level, (p < level).where(p, level))


def _products(model: Any, X: Value) -> Value:
    if matrix_function(model.kernel) is not None:
        raise NotExportableError(
            f"{type(model).__name__} must have a kernel with a name to be exported, got a function."
        )
    kernel = machine_kernel(model, float(model.gamma_))
    return products(kernel, X, model.support_ if kernel.is_given else model.support_vectors_)
