"""Logistic regression over rows on a device: what one pass there leaves, in double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.device.device_moments import NUMBERS_AT_ONCE, block_weights
from pellucid.core.device.places import Place
from pellucid.core.labels import known_codes
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_passes import LogisticSums, PassTask, join_logistic


def logistic_block(block: RowBlock, task: PassTask, W: Array, with_hessian: bool = True) -> LogisticSums:
    """Return the sums of a block at one point."""
    place, weight = Place.of(block.X), block_weights(block)
    codes = codes_there(block.y, task.classes, place)
    height = max(256, NUMBERS_AT_ONCE // len(W))
    found = []
    for start in range(0, block.X.shape[0], height):
        rows = slice(start, start + height)
        own = None if weight is None else weight[rows]
        found.append(_chunk_sums(block.X[rows], codes[rows], own, task, W, place, with_hessian))
    return found[0] if len(found) == 1 else join_logistic(found)


def codes_there(y: Any, classes: Array, place: Place) -> Any:
    """Return the place of each label among the classes; refuse a label that is not there."""
    if isinstance(y, np.ndarray) or classes.dtype.kind not in "biuf":
        return place.holding(known_codes(on_host(y), classes))
    xp = place.xp
    known = place.holding(classes.astype(np.int64) if classes.dtype.kind == "b" else classes)
    y = xp.astype(y, known.dtype)
    codes = xp.searchsorted(known, y)
    codes = xp.clip(codes, max=len(classes) - 1)
    if not bool(xp.all(known[codes] == y)):
        raise ValueError(f"y must hold only the labels {classes.tolist()} of the fit, got others.")
    return codes


def _chunk_sums(
    X: Any, codes: Any, weight: Any, task: PassTask, W: Array, place: Place, with_hessian: bool
) -> LogisticSums:
    """Return the sums of some rows."""
    xp, k, n_classes = place.xp, W.shape[1], len(task.classes)
    A = X - place.holding(task.mean, xp.float64)
    if task.last:
        A = xp.concat([A, xp.full((A.shape[0], 1), task.last, dtype=xp.float64, device=place.device)], axis=1)
    own = xp.astype(codes[:, None] == xp.arange(n_classes, device=place.device), xp.float64)
    s = xp.take(place.holding(task.scales, xp.float64), codes)
    s = s if weight is None else s * weight
    logits = A @ place.holding(W, xp.float64)
    log_P = _log_probabilities(logits, xp)  # (n, C)
    P = xp.exp(log_P)
    losses = -xp.sum(log_P * own, axis=1)
    entropy = -xp.sum(P * xp.where(P > 0.0, log_P, xp.zeros_like(log_P)), axis=1)
    residual = (P - own)[:, 1:] if k == 1 else P - own
    weighted = s[:, None] * residual
    split = xp.reshape(own[:, :, None] * weighted[:, None, :], (-1, n_classes * k))
    gradients = xp.reshape((A.T @ split).T, (n_classes, k, -1))
    counted = s > 0.0
    margin = xp.where(counted, _margins(logits, own, xp), xp.full_like(losses, math.inf))
    return LogisticSums(
        float(s @ losses),
        on_host((s * entropy) @ own),
        np.ascontiguousarray(on_host(gradients).transpose(0, 2, 1)),
        np.zeros(len(W)) if task.l2.any() else on_host(s @ (A * A)),
        float(xp.sum(weighted * residual)),
        float(xp.min(margin)),
        _hessian(A, s, P[:, 1:] if k == 1 else P, xp) if with_hessian else None,
    )


def _log_probabilities(logits: Any, xp: Any) -> Any:
    """Return the logarithm of the probability of each class; small ones keep their digits."""
    if logits.shape[1] == 1:
        logits = xp.concat([xp.zeros_like(logits), logits], axis=1)
    moved = logits - xp.max(logits, axis=1, keepdims=True)
    return moved - xp.log(xp.sum(xp.exp(moved), axis=1, keepdims=True))


def _margins(logits: Any, own: Any, xp: Any) -> Any:
    """Return how far a row's own class is ahead of the best of the others."""
    if logits.shape[1] == 1:
        return logits[:, 0] * (2.0 * own[:, 1] - 1.0)
    others = xp.where(own > 0.0, xp.full_like(logits, -math.inf), logits)
    return xp.sum(logits * own, axis=1) - xp.max(others, axis=1)


def _hessian(A: Any, s: Any, P: Any, xp: Any) -> Array:
    """Return the second derivatives, coefficients of one class together."""
    k, width = P.shape[1], A.shape[1]
    if k == 1:
        bent = A * xp.sqrt(s * P[:, 0] * (1.0 - P[:, 0]))[:, None]
        return on_host(bent.T @ bent)
    whole = np.zeros((k * width, k * width))
    for i in range(k):
        for j in range(i, k):
            curvature = s * P[:, i] * ((1.0 - P[:, i]) if i == j else -P[:, j])
            part = on_host(A.T @ (A * curvature[:, None]))
            whole[i * width : (i + 1) * width, j * width : (j + 1) * width] = part
            whole[j * width : (j + 1) * width, i * width : (i + 1) * width] = part.T
    return whole
