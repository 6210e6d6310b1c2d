r"""Logistic regression over rows in blocks: Newton's method, each step from one pass.

The start is the answer for some rows, kept by the first pass. A pass then sums the loss, its gradient by the class of
the rows, their entropies and the Hessian. The columns are moved by the mean of all rows, and the intercept is one more
column. It is not penalized, so that a point of the dual problem is wanted whose residuals :math:`P - Y` sum to 0. Those
of a class :math:`c` are shrunk to a part :math:`t_c` that makes it so, and the entropy of a row, which is concave and 0
at its label, is then at least :math:`t_c` times what it was: one pass bounds the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import entr

from pellucid.core.fit import Effort, Fit
from pellucid.core.labels import known_codes
from pellucid.core.linear_classifier import class_weights, dense
from pellucid.core.scale.first_look import FirstLook, first_look
from pellucid.core.scale.moments import block_weights
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.linear_model.logistic.logistic_hessian import add_penalty, softmax_hessian, solver_of
from pellucid.linear_model.logistic.logistic_objective import LARGEST_GAP
from pellucid.linear_model.logistic.logistic_problem import ARMIJO, TINY, LogisticProblem
from pellucid.linear_model.logistic.logistic_solvers import POLISHED, STALLED, solve_logistic
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import ElasticNetPenalty
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

LARGEST_HESSIAN = 1000
"""Coefficients of all classes, up to which blocks send their second derivatives."""
NUMBERS_AT_ONCE = 1 << 17
"""Of rows that are centered and multiplied in one go."""
SHORTEST = 1e-4
"""Part of a step, below which it is given up."""
NO_PENALTY = ElasticNetPenalty(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class PassTask:
    """What a block must know of the problem."""

    classes: Array
    scales: Array
    """What a row of each class counts: C times the weight of the class."""
    mean: Array
    last: float
    """The value of a column beside the others, for the intercept; 0 where there is none."""
    l2: Array  # (p + 1,) or (p,): of each row of W

    @property
    def n_columns(self) -> int:
        """Columns of logits."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def is_free(self) -> bool:
        """Whether there is an intercept that is not penalized, so that residuals sum to 0."""
        return self.last == 1.0 and self.l2[-1] == 0.0


@dataclass(frozen=True, eq=False)
class LogisticSums:
    """What a pass leaves at one point."""

    loss: float
    entropies: Array  # (C,): of the rows of each class
    gradients: Array  # (C, p + 1, K): by W, of the rows of each class
    squares: Array  # (p + 1,): weighted, of the columns, where nothing is penalized
    residual: float
    """Weighted sum of squared residuals."""
    least_margin: float
    hessian: Array


@dataclass(frozen=True, eq=False)
class PassPoint:
    """Coefficients with what a pass says of them."""

    W: Array  # (p + 1, K), the intercept of the centered rows last
    sums: LogisticSums
    objective: float
    gradient: Array
    gap: float
    distance: float
    """The gap as a part of the objective or, without a penalty, the gradient as a part of its largest size."""


def logistic_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the fit of Newton's method."""
    look = first_look(blocks, "classes")
    problem = LogisticProblem.of(estimator, look.data)
    task = _task_of(estimator, look, problem)
    if len(task.l2) * task.n_columns > LARGEST_HESSIAN:
        raise ValueError(
            f"X must have few columns and y few classes for rows in blocks, at most {LARGEST_HESSIAN} coefficients, "
            f"got {len(task.l2) * task.n_columns}. Fit to a sample, or take SGDClassifier and its partial_fit."
        )
    goal, trace, n_iter = min(estimator.tol, LARGEST_GAP), Trace(), 0
    point = _point_at(blocks, task, _start(estimator, problem, task, goal))
    while True:
        trace.add(iteration=n_iter, objective=point.objective, gap=point.gap, rows=blocks.n_rows)
        is_separated = not problem.is_penalized and point.sums.least_margin > 0.0
        if point.distance <= POLISHED * goal or is_separated or n_iter >= estimator.max_iter:
            break
        moved = _search(blocks, task, point)
        n_iter += 1
        is_stalled = moved is None or (
            point.objective - moved.objective <= STALLED * abs(point.objective) and moved.distance >= point.distance
        )
        if is_stalled or moved is None:
            break
        point = moved
        if watch(_attributes(problem, task, point.W)):
            break
    own = {"n_iter_": np.array([n_iter], dtype=np.int32), "solver_": "newton-cholesky", "dual_gap_": point.gap}
    return Fit(_attributes(problem, task, point.W) | own, trace)


def _task_of(estimator: Any, look: FirstLook, problem: LogisticProblem) -> PassTask:
    labels = look.data.classes
    moments = [look.summary.moments[label] for label in labels.tolist()]
    totals = np.array([one.weight for one in moments])
    each = TrainingData(np.empty((len(labels), 0)), np.arange(len(labels)), totals, labels)
    scales = class_weights(estimator.class_weight, each) * (estimator.C if problem.is_penalized else 1.0)
    p, last = look.rows.shape[1], problem.constant or float(problem.fit_intercept)
    weights = totals * scales
    is_moved = problem.fit_intercept and weights.sum() > 0.0
    mean = np.average([one.mean for one in moments], axis=0, weights=weights) if is_moved else np.zeros(p)
    l2 = np.full(p + bool(last), problem.penalty.l2)
    if problem.fit_intercept:
        l2[-1] = 0.0
    return PassTask(labels, scales, mean, last, l2)


def _start(estimator: Any, problem: LogisticProblem, task: PassTask, goal: float) -> Array:
    """Return the coefficients of the last fit if they are to be used, or those of the rows that were kept."""
    is_warm = estimator.warm_start and hasattr(estimator, "coef_")
    last = (dense(estimator.coef_), estimator.intercept_) if is_warm else None
    W, b = problem.start(last)
    if not W.any():
        found = solve_logistic(problem, Effort(goal, estimator.max_iter))
        is_separated = not problem.is_penalized and (found.certificate is None or not found.certificate.holds)
        if not is_separated:  # or they may be anywhere
            W, b = problem.start((found.attributes["coef_"], found.attributes["intercept_"]))
    return np.vstack([W, b + task.mean @ W]) if problem.fit_intercept else W


def _attributes(problem: LogisticProblem, task: PassTask, W: Array) -> dict[str, Array]:
    if not problem.fit_intercept:
        return problem.attributes(W, np.zeros(W.shape[1]))
    intercept = W[-1] - task.mean @ W[:-1]
    return problem.attributes(W[:-1], intercept if len(intercept) == 1 else intercept - intercept.mean())


def _search(blocks: RowBlocks, task: PassTask, point: PassPoint) -> PassPoint | None:
    """Return where Newton's step leads, halved until it descends enough; None if no step does."""
    hessian = add_penalty(point.sums.hessian.copy(), task.l2, task.n_columns)
    step = -solver_of(hessian)(point.gradient.T.ravel()).reshape(task.n_columns, -1).T
    along, t = float(np.sum(step * point.gradient)), 1.0
    rounding = 10 * EPSILON * math.sqrt(max(blocks.n_rows, 1)) * abs(point.objective)
    while along < 0.0 and t > SHORTEST:
        moved = _point_at(blocks, task, point.W + t * step)
        if moved.objective <= point.objective + ARMIJO * t * along + rounding:
            return moved
        t *= 0.25
    return None


def _point_at(blocks: RowBlocks, task: PassTask, W: Array) -> PassPoint:
    sums = blocks.reduce(logistic_block, join_logistic, task, W)
    objective = sums.loss + 0.5 * float(np.sum(task.l2[:, None] * W**2))
    gradient = sums.gradients.sum(axis=0) + task.l2[:, None] * W
    if not task.l2.any():
        lengths = np.sqrt(np.where(sums.squares > 0.0, sums.squares, np.inf) * max(sums.residual, TINY))
        return PassPoint(W, sums, objective, gradient, math.inf, float((np.abs(gradient) / lengths[:, None]).max()))
    gap = max(0.0, objective - dual_value(sums, task))
    return PassPoint(W, sums, objective, gradient, gap, gap / max(objective, TINY))


def dual_value(sums: LogisticSums, task: PassTask) -> float:
    """Return a lower bound of the least objective."""
    shrunk = np.ones(len(task.classes))
    if task.is_free:
        shrunk = _balancing(sums.gradients[:, -1, :])
    slopes = np.tensordot(shrunk, sums.gradients, axes=1)[task.l2 > 0.0]
    return float(shrunk @ sums.entropies) - float(np.sum(slopes**2)) / (2.0 * float(task.l2.max()))


def _balancing(flows: Array) -> Array:
    """Return by what to multiply the residuals of each class, at most 1, so that all of them sum to 0."""
    if flows.shape[1] == 1:  # above 0 for the first class, below for the second
        first, second = float(flows[0, 0]), -float(flows[1, 0])
        return np.array([min(1.0, second / max(first, TINY)), min(1.0, first / max(second, TINY))])
    k = len(flows)
    equations = np.vstack([flows.T, np.ones(k)])
    found = np.linalg.lstsq(equations / np.abs(flows).max(), np.append(np.zeros(k), 1.0 / np.abs(flows).max()))[0]
    found = np.clip(found, 0.0, None)
    return np.asarray(found / max(float(found.max()), TINY))


# from a block to its statistics


def logistic_block(block: RowBlock, task: PassTask, W: Array) -> LogisticSums:
    """Return the sums of a block at one point."""
    X, y, weight = block.X, block.y, block_weights(block)
    assert y is not None
    width, k, n_classes = len(W), W.shape[1], len(task.classes)
    total = LogisticSums(
        0.0, np.zeros(n_classes), np.zeros((n_classes, width, k)), np.zeros(width), 0.0, math.inf,
        np.zeros((k * width, k * width)),
    )  # fmt: skip
    height = max(256, NUMBERS_AT_ONCE // width)
    for start in range(0, len(X), height):
        rows = slice(start, start + height)
        own = np.ones(len(X[rows])) if weight is None else weight[rows]
        labels, some = y[rows], X[rows]
        if not own.all():
            some, labels, own = some[own > 0.0], labels[own > 0.0], own[own > 0.0]
        if len(own):
            total = join_logistic([total, _chunk_sums(some, known_codes(labels, task.classes), own, task, W)])
    return total


def _chunk_sums(X: Array, codes: Array, weight: Array, task: PassTask, W: Array) -> LogisticSums:
    """Return the sums of a few rows, by what the fit in memory does with all."""
    order = np.argsort(codes, kind="stable")  # rows of a class stand together
    codes, weight = codes[order], weight[order]
    A = np.full((len(X), len(W)), task.last)
    np.subtract(X[order], task.mean, out=A[:, : X.shape[1]])
    logits = A @ W
    problem = LogisticProblem(A, codes, task.classes, weight * task.scales[codes], NO_PENALTY, fit_intercept=False)
    found = problem.probabilities(logits, np.zeros(W.shape[1]))
    P, s, residual = found.P, problem.weight, problem.residual(found.P)
    entropy = entr(P).sum(axis=1) if W.shape[1] > 1 else (entr(P) + entr(1.0 - P))[:, 0]
    ends = np.searchsorted(codes, np.arange(len(task.classes) + 1))
    if W.shape[1] == 1:
        bent = A * np.sqrt(s * P[:, 0] * (1.0 - P[:, 0]))[:, None]
        hessian = bent.T @ bent
    else:
        hessian = softmax_hessian(problem.design, s, P)
    return LogisticSums(
        found.loss,
        np.bincount(codes, weights=s * entropy, minlength=len(task.classes)),
        np.stack([A[start:stop].T @ residual[start:stop] for start, stop in pairwise(ends)]),
        np.zeros(len(W)) if task.l2.any() else s @ np.square(A),
        float(np.sum(residual**2 / np.where(s > 0.0, s, 1.0)[:, None])),
        float(problem.margins(logits).min()),
        hessian,
    )


def join_logistic(found: Sequence[LogisticSums]) -> LogisticSums:
    """Return the sums over several blocks."""
    return LogisticSums(
        math.fsum(one.loss for one in found),
        np.sum([one.entropies for one in found], axis=0),
        np.sum([one.gradients for one in found], axis=0),
        np.sum([one.squares for one in found], axis=0),
        math.fsum(one.residual for one in found),
        min(one.least_margin for one in found),
        np.sum([one.hessian for one in found], axis=0),
    )
