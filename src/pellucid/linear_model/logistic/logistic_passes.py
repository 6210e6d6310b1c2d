r"""Logistic regression over rows in blocks: each step from one pass, and from some rows that the first pass keeps.

The start is the answer for the rows kept. A pass then sums the loss, its gradient by the class of the rows, their
entropies and, at the start, the Hessian. A step goes to the minimum of the loss of the rows kept, corrected to have the
gradient of all rows at the point and their Hessian at the start: it errs by what few rows get wrong of the third
derivative, a hundredth of what Newton's step errs by, and wants no further Hessian.

The columns are moved by the mean of the rows kept, and the intercept is one more column. It is not penalized, so that a
point of the dual problem is wanted whose residuals :math:`P - Y` sum to 0. Those of a class :math:`c` are shrunk to a
part :math:`t_c` that makes it so, and the entropy of a row, which is concave and 0 at its label, is then at least
:math:`t_c` times what it was: one pass bounds the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.core.fit import Effort, Fit
from pellucid.core.labels import known_codes
from pellucid.core.linear_classifier import class_weights, dense
from pellucid.core.scale.first_look import FirstLook, first_look
from pellucid.core.scale.moments import block_weights
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks, made_on_device
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.linear_model.logistic.logistic_hessian import (
    COSTLY,
    add_joint_gram,
    add_penalty,
    hessian_from_joint,
    solver_of,
)
from pellucid.linear_model.logistic.logistic_kernels import sigmoid_sums, softmax_sums
from pellucid.linear_model.logistic.logistic_objective import LARGEST_GAP, gap_certificate
from pellucid.linear_model.logistic.logistic_problem import ARMIJO, TINY, LogisticProblem
from pellucid.linear_model.logistic.logistic_solvers import MARGIN, POLISHED, SEPARATED, STALLED, solve_logistic
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

LARGEST_HESSIAN = 1000
"""Coefficients of all classes, up to which blocks send their second derivatives."""
NUMBERS_AT_ONCE = 1 << 16
"""Of rows that are centered and multiplied in one go."""
SHORTEST = 1e-4
"""Part of a step, below which it is given up."""
MANY_KEPT = 200
"""Rows kept for each coefficient, from which the Hessian at the start is enough for more than one step."""
START_GOAL = 1e-4
"""Gap of the start, for the rows kept: they tell no more digits of the answer for all."""
MODEL_STEPS, MODEL_GOAL = 10, 1e-6
"""Most steps to the minimum over the rows kept, and the part of the gradient that they leave."""


@dataclass(frozen=True, eq=False)
class PassTask:
    """What a block must know of the problem."""

    classes: Array
    scales: Array
    """What a row of each class counts: C times the weight of the class."""
    mean: Array
    """About that of all rows: by what the columns are moved."""
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
    hessian: Array | None
    """None where nobody asked for it."""


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
    is_cheap = blocks.n_rows * (len(task.l2) * task.n_columns) ** 2 <= COSTLY
    enough = (POLISHED if is_cheap else MARGIN) * goal
    kept = blocks.beside(RowBlock(0, look.rows, look.labels, look.weight))
    model = CorrectedLoss(task, kept, enough, blocks.form_of(logistic_block))
    point = _point_at(blocks, task, _start(estimator, problem, task, goal), with_hessian=True)
    while True:
        trace.add(iteration=n_iter, objective=point.objective, gap=point.gap, rows=blocks.n_rows)
        is_separated = not problem.is_penalized and point.sums.least_margin > 0.0
        if point.distance <= enough or is_separated or n_iter >= estimator.max_iter:
            break
        moved = _search(blocks, task, point, model)
        n_iter += 1
        is_stalled = moved is None or (
            point.objective - moved.objective <= STALLED * abs(point.objective) and moved.distance >= point.distance
        )
        if is_stalled or moved is None:
            break
        point = moved
        if watch(_attributes(problem, task, point.W)):
            break
    attributes = _attributes(problem, task, point.W)
    total = float(task.scales @ [look.totals[label] for label in task.classes.tolist()])
    objective, gap = _stored(task, point, model, attributes, total, goal)
    own = {"n_iter_": np.array([max(n_iter, 1)], dtype=np.int32), "solver_": "newton-cholesky", "dual_gap_": gap}
    return Fit(attributes | own, trace, certificate=_certificate(objective, gap, total, task, goal))


def _certificate(objective: float, gap: float, total: float, task: PassTask, goal: float) -> Certificate | None:
    """Return what the last pass proves; None where it takes one more, by the proof: that moves the intercept, too."""
    if not task.l2.any() or objective < SEPARATED * total:
        return None
    found = gap_certificate(gap, objective, goal)
    return found if found.holds else None


def _stored(
    task: PassTask, point: PassPoint, model: CorrectedLoss, attributes: dict[str, Array], total: float, goal: float
) -> tuple[float, float]:
    """Return objective and gap of the attributes, which are rounded.

    Where those in single precision make a poor dual point, the bound of the point before is taken, as in memory.
    """
    excess = _lost_by_storing(point, total, task, attributes)
    objective, gap = point.objective + excess, point.gap + excess
    if attributes["coef_"].dtype == np.float64 or not task.l2.any():
        return objective, gap
    p, k = len(task.mean), task.n_columns
    hessian, moved = model.hessian_at(point), np.zeros_like(point.W)
    moved[:p] = attributes["coef_"].T - point.W[:p]
    if task.last and not task.is_free:
        moved[p] = attributes["intercept_"] / task.last - point.W[p]
    slopes = point.gradient + (hessian @ moved.T.ravel()).reshape(k, -1).T + task.l2[:, None] * moved
    if task.is_free:  # the intercept goes along, so that residuals sum to 0
        free = np.arange(k) * (p + 1) + p
        step = np.linalg.lstsq(hessian[np.ix_(free, free)], -slopes[p], rcond=1e-14)[0]
        moved[p] = step
        slopes = slopes + (hessian[:, free] @ step).reshape(k, -1).T
    objective += max(0.0, 0.5 * float(np.sum(moved * (slopes + point.gradient))))
    gap = float(np.sum(slopes[task.l2 > 0.0] ** 2)) / (2.0 * float(task.l2.max())) + excess
    if gap > goal * objective:
        gap = min(gap, max(0.0, objective - (point.objective - point.gap)))
    return objective, gap


def _lost_by_storing(point: PassPoint, total: float, task: PassTask, attributes: dict[str, Array]) -> float:
    """Return by how much rounding of the intercept, where columns are far from 0, raises the objective at most."""
    if not task.is_free:
        return 0.0
    error = attributes["intercept_"] + task.mean @ attributes["coef_"].T - point.W[-1]
    error -= error.mean() if len(error) > 1 else 0.0
    return float(np.abs(point.gradient[-1]) @ np.abs(error)) + 0.25 * total * float(error @ error)


def _task_of(estimator: Any, look: FirstLook, problem: LogisticProblem) -> PassTask:
    data = look.data
    totals = np.array([look.totals[label] for label in data.classes.tolist()])
    each = TrainingData(np.empty((len(totals), 0)), np.arange(len(totals)), totals, data.classes)
    scales = class_weights(estimator.class_weight, each) * (estimator.C if problem.is_penalized else 1.0)
    p, last = look.rows.shape[1], problem.constant or float(problem.fit_intercept)
    weights = data.weights * scales[data.y]
    is_moved = problem.fit_intercept and weights.sum() > 0.0
    mean = np.average(look.rows, axis=0, weights=weights) if is_moved else np.zeros(p)
    l2 = np.full(p + bool(last), problem.penalty.l2)
    if problem.fit_intercept:
        l2[-1] = 0.0
    return PassTask(data.classes, scales, mean, last, l2)


def _start(estimator: Any, problem: LogisticProblem, task: PassTask, goal: float) -> Array:
    """Return the coefficients of the last fit if they are to be used, or those of the rows that were kept."""
    is_warm = estimator.warm_start and hasattr(estimator, "coef_")
    last = (dense(estimator.coef_), estimator.intercept_) if is_warm else None
    W, b = problem.start(last)
    if not W.any():
        found = solve_logistic(problem, Effort(max(goal, START_GOAL), estimator.max_iter))
        is_separated = not problem.is_penalized and (found.certificate is None or not found.certificate.holds)
        if not is_separated:  # or they may be anywhere
            W, b = problem.start((found.attributes["coef_"], found.attributes["intercept_"]))
    return np.vstack([W, b + task.mean @ W]) if problem.fit_intercept else W


def _attributes(problem: LogisticProblem, task: PassTask, W: Array) -> dict[str, Array]:
    if not problem.fit_intercept:
        return problem.attributes(W, np.zeros(W.shape[1]))
    intercept = W[-1] - task.mean @ W[:-1]
    return problem.attributes(W[:-1], intercept if len(intercept) == 1 else intercept - intercept.mean())


@dataclass(eq=False)
class CorrectedLoss:
    """The objective of all rows near a point, as the rows kept tell it when their derivatives are corrected."""

    task: PassTask
    kept: RowBlock
    enough: float
    """The distance at which it is over."""
    sums_of: Callable[..., LogisticSums]
    """What sums over the rows kept, where they are."""
    curvature: Array = field(init=False)
    """What the Hessian of the rows kept lacks."""
    is_good: bool = field(init=False)
    """Whether it promises to get there without another Hessian of all rows."""

    def __post_init__(self) -> None:
        self.is_good = self.kept.X.shape[0] >= MANY_KEPT * len(self.task.l2) * self.task.n_columns

    def learn(self, W: Array, hessian: Array) -> None:
        """Take the Hessian of all rows at a point."""
        self.curvature = hessian - self._of_kept(W)

    def hessian_at(self, point: PassPoint) -> Array:
        """Return the Hessian of all rows near the point that it was taken at last."""
        return self._of_kept(point.W) + self.curvature if point.sums.hessian is None else point.sums.hessian

    def _of_kept(self, W: Array) -> Array:
        found = self.sums_of(self.kept, self.task, W).hessian
        assert found is not None
        return found

    def steps(self, point: PassPoint) -> Iterator[Array]:
        """Yield the step to the minimum, and Newton's step alone, for where that is none."""
        W, gradient, k = point.W, point.gradient, self.task.n_columns
        size, newton, missing = float(np.linalg.norm(gradient)), np.zeros_like(W), np.zeros_like(W)
        for number in range(MODEL_STEPS):
            few = self.sums_of(self.kept, self.task, W)
            assert few.hessian is not None
            slopes = few.gradients.sum(axis=0) + self.task.l2[:, None] * W
            if number == 0:
                missing = gradient - slopes
            way = (W - point.W).T.ravel()
            gradient = slopes + missing + (self.curvature @ way).reshape(k, -1).T
            left = float(np.linalg.norm(gradient))
            if left <= MODEL_GOAL * size or not left <= 2.0 * size:
                break
            hessian = add_penalty(few.hessian + self.curvature, self.task.l2, k)
            W = W - solver_of(hessian)(gradient.T.ravel()).reshape(k, -1).T
            if number == 0:
                newton = W - point.W
        if left <= size:
            yield W - point.W
        yield newton


def _search(blocks: RowBlocks, task: PassTask, point: PassPoint, model: CorrectedLoss) -> PassPoint | None:
    """Return where the step of the model leads, shortened until it descends enough; None if no step does."""
    if point.sums.hessian is not None:
        model.learn(point.W, point.sums.hessian)
    rounding = 10 * EPSILON * math.sqrt(max(blocks.n_rows, 1)) * abs(point.objective)
    for step in model.steps(point):
        along, t = float(np.sum(step * point.gradient)), 1.0
        while along < 0.0 and t > SHORTEST:
            moved = _point_at(blocks, task, point.W + t * step, with_hessian=not model.is_good)
            if moved.objective <= point.objective + ARMIJO * t * along + rounding:
                model.is_good = moved.distance**2 <= model.enough * point.distance  # one more step like this one
                return moved
            t *= 0.25
    return None


def _point_at(blocks: RowBlocks, task: PassTask, W: Array, *, with_hessian: bool) -> PassPoint:
    sums = blocks.reduce(logistic_block, join_logistic, task, W, with_hessian)
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


@made_on_device("pellucid.linear_model.logistic.logistic_on_device:logistic_block")
def logistic_block(block: RowBlock, task: PassTask, W: Array, with_hessian: bool = True) -> LogisticSums:
    """Return the sums of a block at one point."""
    X, y, weight = block.X, block.y, block_weights(block)
    assert y is not None
    n_classes, (width, k) = len(task.classes), W.shape
    entropies, squares, hessian = np.zeros(n_classes), np.zeros(width), np.zeros((k * width, k * width))
    gradients, ends = np.zeros((n_classes, k, width)), []
    height = max(256, NUMBERS_AT_ONCE // width)
    buffer = np.empty((min(height, len(X)), width))
    for start in range(0, len(X), height):
        rows = slice(start, start + height)
        some, labels, own = X[rows], y[rows], 1.0 if weight is None else weight[rows]
        if isinstance(own, np.ndarray) and not own.all():
            some, labels, own = some[own > 0.0], labels[own > 0.0], own[own > 0.0]
        if not len(some):
            continue
        codes = known_codes(labels, task.classes)
        A, s = buffer[: len(some)], own * task.scales[codes]
        np.subtract(some, task.mean, out=A[:, : X.shape[1]])
        A[:, X.shape[1] :] = task.last
        if not task.l2.any():
            squares += s @ np.square(A)
        if k == 1:
            ends.append(sigmoid_sums(A, W[:, 0].copy(), codes, s, entropies, gradients[:, 0], with_hessian))
            hessian += A.T @ A if with_hessian else 0.0
        else:
            Z = A @ W
            ends.append(softmax_sums(A, Z, codes, s, entropies, gradients))
            if with_hessian:
                add_joint_gram(hessian, A, Z, has_ones=False)
    losses, residuals, margins = zip(*ends, strict=True) if ends else ((), (), (math.inf,))
    return LogisticSums(
        math.fsum(losses), entropies, gradients.swapaxes(1, 2), squares, math.fsum(residuals), min(margins),
        None if not with_hessian else hessian if k == 1 else hessian_from_joint(hessian, k),
    )  # fmt: skip


def join_logistic(found: Sequence[LogisticSums]) -> LogisticSums:
    """Return the sums over several blocks."""
    hessians = [one.hessian for one in found if one.hessian is not None]
    return LogisticSums(
        math.fsum(one.loss for one in found),
        np.sum([one.entropies for one in found], axis=0),
        np.sum([one.gradients for one in found], axis=0),
        np.sum([one.squares for one in found], axis=0),
        math.fsum(one.residual for one in found),
        min(one.least_margin for one in found),
        np.sum(hessians, axis=0) if hessians else None,
    )
