"""Logistic regression over rows on a device: what one pass there leaves, in double precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.device.device_moments import NUMBERS_AT_ONCE, block_weights, product_of, subtract
from pellucid.core.device.places import Place
from pellucid.core.labels import known_codes
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_passes import LogisticSums, PassTask


@dataclass(frozen=True, eq=False)
class DeviceTask:
    """What is asked for, on the device."""

    place: Place
    mean: Any
    scales: Any
    W: Any
    b: Any
    """Of the column beside the others, times its value."""
    task: PassTask
    with_hessian: bool

    @classmethod
    def of(cls, task: PassTask, W: Array, place: Place, *, with_hessian: bool) -> DeviceTask:
        """Return the task with its numbers there."""
        p = len(task.mean)
        b = task.last * W[p] if task.last else np.zeros(W.shape[1])
        mean, scales, weights, b = (
            place.holding(part, place.xp.float64) for part in (task.mean, task.scales, W[:p], b)
        )
        return cls(place, mean, scales, weights, b, task, with_hessian)


def logistic_block(block: RowBlock, task: PassTask, W: Array, with_hessian: bool = True) -> LogisticSums:
    """Return the sums of a block at one point; they are added up there, and come here once."""
    place, weight = Place.of(block.X), block_weights(block)
    xp, p, k = place.xp, len(task.mean), W.shape[1]
    codes = codes_there(block.y, task.classes, place)
    there = DeviceTask.of(task, W, place, with_hessian=with_hessian)
    height = max(256, NUMBERS_AT_ONCE // p)
    table = xp.empty((min(block.X.shape[0], height), p), dtype=xp.float64, device=place.device)
    sums: list[Any] = []
    least: list[Any] = []
    for start in range(0, block.X.shape[0], height):
        rows = slice(start, start + height)
        A = table[: block.X[rows].shape[0]]
        subtract(block.X[rows], there.mean, A)
        found, margin = _chunk_sums(A, codes[rows], None if weight is None else weight[rows], there)
        sums = found if not sums else [one + other for one, other in zip(sums, found, strict=True)]
        least.append(margin)
    loss, entropies, gradients, squares, residual, hessian = map(on_host, sums)
    return LogisticSums(
        float(loss), entropies, np.ascontiguousarray(gradients.reshape(-1, len(task.classes), k).transpose(1, 0, 2)),
        squares, float(residual), min(map(float, least)), hessian if with_hessian and len(W) * k else None,
    )  # fmt: skip


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


def _chunk_sums(A: Any, codes: Any, weight: Any, there: DeviceTask) -> tuple[list[Any], Any]:
    """Return the sums of some rows, and their least margin; ``A`` are the rows about the mean, and is written to."""
    xp, task = there.place.xp, there.task
    k, n_classes = there.W.shape[1], len(task.classes)
    own = xp.astype(codes[:, None] == xp.arange(n_classes, device=there.place.device), xp.float64)
    s = xp.take(there.scales, codes)
    s = s if weight is None else s * weight
    logits = A @ there.W + there.b
    log_P = _log_probabilities(logits, xp)  # (n, C)
    P = xp.exp(log_P)
    losses = -xp.sum(log_P * own, axis=1)
    entropy = -xp.sum(P * xp.where(P > 0.0, log_P, xp.zeros_like(log_P)), axis=1)
    residual = (P - own)[:, 1:] if k == 1 else P - own
    weighted = s[:, None] * residual
    split = xp.reshape(own[:, :, None] * weighted[:, None, :], (-1, n_classes * k))
    gradients = product_of(A, split, xp)
    if task.last:
        gradients = xp.concat([gradients, task.last * xp.sum(split, axis=0)[None, :]])
    squares = xp.zeros(1, dtype=xp.float64, device=there.place.device)
    if not task.l2.any():
        squares = s @ (A * A)
        squares = xp.concat([squares, task.last**2 * xp.reshape(xp.sum(s), (1,))]) if task.last else squares
    margin = xp.min(xp.where(s > 0.0, _margins(logits, own, xp), xp.full_like(losses, math.inf)))
    hessian = _hessian(A, s, P[:, 1:] if k == 1 else P, there) if there.with_hessian else squares
    return [s @ losses, (s * entropy) @ own, gradients, squares, xp.sum(weighted * residual), hessian], margin


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


def _hessian(A: Any, s: Any, P: Any, there: DeviceTask) -> Any:
    """Return the second derivatives, coefficients of one class together; writes to ``A`` where there is one column."""
    xp, k = there.place.xp, P.shape[1]
    if k == 1:
        curvature = s * P[:, 0] * (1.0 - P[:, 0])
        sums = A.T @ curvature
        A *= xp.sqrt(curvature)[:, None]
        return _bordered(product_of(A, A, xp), sums, xp.sum(curvature), there)
    lines = []
    for i in range(k):
        line = []
        for j in range(k):
            curvature = s * P[:, i] * ((1.0 - P[:, i]) if i == j else -P[:, j])
            bent = A * curvature[:, None]
            line.append(_bordered(product_of(A, bent, xp), xp.sum(bent, axis=0), xp.sum(curvature), there))
        lines.append(xp.concat(line, axis=1))
    return xp.concat(lines)


def _bordered(inner: Any, sums: Any, total: Any, there: DeviceTask) -> Any:
    """Return the products of rows, with those of the column beside the others."""
    xp, last = there.place.xp, there.task.last
    if not last:
        return inner
    edge = xp.concat([last * sums, xp.reshape(last**2 * total, (1,))])
    return xp.concat([xp.concat([inner, edge[None, :-1]]), edge[:, None]], axis=1)
