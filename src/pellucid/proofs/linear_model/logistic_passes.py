r"""Proof of a logistic regression from passes over rows in blocks: its duality gap, in float64.

As in memory, residuals :math:`P - Y` that sum to 0 in every class bound the least objective. Multiplied by the part
:math:`t_c` for the rows of class :math:`c`, the stationary distribution of a Markov chain, they do. Entropy is concave
and 0 at a label, so that of such a row is at least :math:`t_c` times what it was: sums by class from one pass suffice.
Where the intercept leaves the sums so far from 0 that the bound is poor, Newton's step moves it, for one more pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import class_weights, codes_among
from pellucid.proofs.linear_model.logistic import (
    LARGEST_GAP,
    LONGEST_MOVE,
    REPRODUCED,
    curvature_of,
    entropies_of,
    gap_certificate,
    gradient_certificate,
    least_margins,
    loss_of,
    residuals_of,
    stationary,
)
from pellucid.proofs.rounding import EPSILON, TINY
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 4096
MOST_MOVES = 4
"""Passes in which the intercept moves."""


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """What a pass leaves at one point; the columns are moved by a pivot, a row of the first block."""

    pivot: Array
    losses: Array  # (C,): of the rows of each class
    entropies: Array  # (C,)
    slopes: Array  # (C, p, K): products of columns and residuals, of the rows of each class
    flows: Array  # (C, K): sums of the residuals
    curvatures: Array  # (C, K, K): second derivatives by the intercept
    squares: Array  # (C, K): of the residuals
    weights: Array  # (C,)
    firsts: Array  # (C, p): weighted sums of the columns
    seconds: Array  # (C, p): and of their squares
    least_margin: float

    def about(self, pivot: Array) -> ResidualSums:
        """Return the same sums about another pivot."""
        move = self.pivot - pivot
        return ResidualSums(
            pivot, self.losses, self.entropies, self.slopes + move[None, :, None] * self.flows[:, None, :], self.flows,
            self.curvatures, self.squares, self.weights, self.firsts + self.weights[:, None] * move,
            self.seconds + 2.0 * move * self.firsts + self.weights[:, None] * move**2, self.least_margin,
        )  # fmt: skip


SUMMED = ("losses", "entropies", "slopes", "flows", "curvatures", "squares", "weights", "firsts", "seconds")


def residuals_of_block(block: Any, classes: Array, W: Array, b: Array, is_free: bool) -> ResidualSums:
    """Return the sums of a block, before rows count more or less by their class."""
    X, weight = block.X, np.ones(block.X.shape[0])
    if block.weight is not None:
        weight = np.asarray(block.weight, dtype=np.float64)
    n, p, k, n_classes = X.shape[0], len(W), W.shape[1], len(classes)
    pivot = dense(X[:1])[0].astype(np.float64) if is_free else np.zeros(p)
    shapes = ((), (), (p, k), (k,), (k, k), (k,), (), (p,), (p,))
    sums, least = {name: np.zeros((n_classes, *shape)) for name, shape in zip(SUMMED, shapes, strict=True)}, math.inf
    for start in range(0, n, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        counts = weight[part] > 0.0
        rows, s, y = dense(X[part]).astype(np.float64)[counts] - pivot, weight[part][counts], block.y[part][counts]
        places = codes_among(classes, y)
        logits = rows @ W + (b + pivot @ W)
        for c in np.unique(places):
            own = places == c
            _add_class(sums, c, rows[own], s[own], logits[own])
        full = logits if k > 1 else np.column_stack([np.zeros(len(logits)), logits])
        least = float(np.min(least_margins(full, places), initial=least))
    return ResidualSums(pivot, least_margin=least, **sums)


def _add_class(sums: dict[str, Array], c: int, rows: Array, s: Array, logits: Array) -> None:
    """Add some rows of one class."""
    labels = np.full(len(rows), c)
    R = residuals_of(logits, labels)
    weighted = s[:, None] * R
    sums["losses"][c] += loss_of(logits, labels, s)
    sums["entropies"][c] += s @ entropies_of(R, labels)
    sums["slopes"][c] += rows.T @ weighted
    sums["flows"][c] += weighted.sum(axis=0)
    sums["curvatures"][c] += curvature_of(R, labels, s)
    sums["squares"][c] += np.sum(weighted * R, axis=0)
    sums["weights"][c] += s.sum()
    sums["firsts"][c] += s @ rows
    sums["seconds"][c] += s @ rows**2


def join_residuals(found: Sequence[ResidualSums]) -> ResidualSums:
    """Return the sums over several blocks, about the pivot of the first."""
    moved = [one.about(found[0].pivot) for one in found]
    sums = {name: np.sum([getattr(one, name) for one in moved], axis=0) for name in SUMMED}
    return ResidualSums(moved[0].pivot, least_margin=float(np.min([one.least_margin for one in moved])), **sums)


@dataclass(frozen=True, eq=False)
class BlockTask:
    """What the parameters ask to minimize, once the weights of the classes are known."""

    scales: Array
    """What a row of each class counts, times its weight."""
    l2: float
    is_free: bool
    """Whether there is an intercept without a penalty."""
    constant: float

    def dual_value(self, sums: ResidualSums) -> tuple[float, float]:
        """Return a lower bound of the least objective, and how much of it is rounding."""
        shrunk = np.ones(len(self.scales))
        if self.is_free:
            present = np.flatnonzero(sums.weights * self.scales > 0.0)
            shrunk[present] = stationary(_rates(sums.flows * self.scales[:, None])[np.ix_(present, present)])
        shrunk *= self.scales
        slopes = np.tensordot(shrunk, sums.slopes, axes=1)
        if self.constant:
            slopes = np.vstack([slopes, self.constant * (shrunk @ sums.flows)])
        lengths = np.sqrt(np.append(self.scales @ sums.seconds, self.constant**2 * float(self.scales @ sums.weights)))
        size = 8 * EPSILON * np.outer(lengths[: len(slopes)], np.sqrt(self.scales @ sums.squares))
        value = float(shrunk @ sums.entropies) - float(np.sum(slopes**2)) / (2.0 * self.l2)
        return value, float(np.sum((2.0 * np.abs(slopes) + size) * size)) / (2.0 * self.l2)


def _rates(flows: Array) -> Array:
    """Return how much probability each class gives to each other one; two classes have one column of residuals."""
    if flows.shape[1] == 1:
        return np.array([[0.0, max(float(flows[0, 0]), 0.0)], [max(-float(flows[1, 0]), 0.0), 0.0]])
    return np.where(np.eye(len(flows), dtype=bool), 0.0, np.maximum(flows, 0.0))


def prove_logistic_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate: the gap, or without a penalty the gradient, of the attributes as they are stored."""
    W, b, classes = dense(fitted.coef_).T.astype(np.float64), fitted.intercept_.astype(np.float64), fitted.classes_
    n_columns = 1 if len(classes) == 2 else len(classes)
    if W.shape != (blocks.n_features, n_columns) or b.shape != (n_columns,):
        raise ValueError(f"coef_ and intercept_ must suit {len(classes)} classes, got {fitted.coef_.shape}.")
    size, b = float(np.abs(b).max()), b if parameters.fit_intercept else np.zeros_like(b)
    is_free = bool(parameters.fit_intercept) and parameters.solver != "liblinear"
    sums: ResidualSums = blocks.reduce(residuals_of_block, join_residuals, classes, W, b, is_free)
    task = _task_of(parameters, classes, sums.weights, is_free)
    goal = min(parameters.tol, LARGEST_GAP)
    if task.l2 > 0.0:
        certificate = _prove_gap(task, sums, W, b, fitted, goal, blocks)
    else:
        certificate = gradient_certificate(_steepest(task, sums), sums.least_margin > 0.0, goal)
    if parameters.fit_intercept:
        return certificate
    return certificate.with_claims(Claim("intercept", "size of intercept_: there is none", size, 0.0))


def _task_of(parameters: Seen, classes: Array, weights: Array, is_free: bool) -> BlockTask:
    l2 = float(parameters.penalty is not None and not math.isinf(parameters.C))
    present = np.flatnonzero(weights > 0.0)
    each = TrainingData(np.empty((len(present), 0)), np.arange(len(present)), weights[present], classes[present])
    scales = np.zeros(len(classes))
    scales[present] = class_weights(parameters.class_weight, each) * (parameters.C if l2 else 1.0)
    constant = float(parameters.intercept_scaling) if parameters.fit_intercept and not is_free else 0.0
    return BlockTask(scales, l2, is_free, constant)


def _prove_gap(
    task: BlockTask, sums: ResidualSums, W: Array, b: Array, fitted: Seen, goal: float, blocks: Any
) -> Certificate:
    penalized = float(np.sum(W**2)) + (float(np.sum(b**2)) / task.constant**2 if task.constant else 0.0)
    objective = float(task.scales @ sums.losses) + 0.5 * task.l2 * penalized
    certificate = _gap_claims(task, sums, objective, fitted.dual_gap_, goal)
    for _ in range(MOST_MOVES if task.is_free else 0):
        if certificate.holds:
            break
        wrong, curvature = task.scales @ sums.flows, np.tensordot(task.scales, sums.curvatures, axes=1)
        if not np.isfinite(curvature).all():
            break
        step = np.linalg.lstsq(curvature, -wrong, rcond=1e-14)[0]
        b = b + step * min(1.0, LONGEST_MOVE / max(float(np.abs(step).max()), TINY))
        sums = blocks.reduce(residuals_of_block, join_residuals, fitted.classes_, W, b, True)
        certificate = _gap_claims(task, sums, objective, fitted.dual_gap_, goal)
    return certificate


def _gap_claims(task: BlockTask, sums: ResidualSums, objective: float, reported: float, goal: float) -> Certificate:
    """Return what the residuals of a point prove of an objective, and whether ``reported`` is its gap."""
    dual, rounding = task.dual_value(sums)
    gap = objective - dual
    lost = min(8 * EPSILON * float(task.scales @ sums.weights), goal * abs(objective))  # near labels, by the solver
    allowed = REPRODUCED * abs(objective) + 0.01 * abs(gap) + rounding + lost
    said = "dual_gap_ differs by this from the gap of coef_ and intercept_"
    return gap_certificate(gap, objective, goal).with_claims(Claim("reported gap", said, abs(gap - reported), allowed))


def _steepest(task: BlockTask, sums: ResidualSums) -> float:
    """Return the largest correlation of a column, or of the intercept, with the residual."""
    scales, total = task.scales, float(task.scales @ sums.weights)
    slopes, flow, first = np.tensordot(scales, sums.slopes, axes=1), scales @ sums.flows, scales @ sums.firsts
    second, size = scales @ sums.seconds, math.sqrt(float(np.sum(scales @ sums.squares)))
    if task.is_free:  # about the mean
        slopes, second = slopes - np.outer(first / total, flow), np.maximum(second - first**2 / total, 0.0)
    largest = np.max(np.abs(slopes) / np.where(second > 0.0, np.sqrt(second), np.inf)[:, None], initial=0.0)
    if task.is_free:
        largest = np.maximum(largest, np.abs(flow).max() / math.sqrt(total))
    return float(largest) / max(size, TINY)


PROVES_BLOCKS = {"LogisticRegression": prove_logistic_in_passes}
