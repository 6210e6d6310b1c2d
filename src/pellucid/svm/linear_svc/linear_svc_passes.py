"""LinearSVC with the squared hinge over rows in blocks: Newton's method, each step of all machines from one pass.

The start is the answer for some rows, kept by the first pass. A pass sums, for each machine that is not at its goal,
the loss, its slope and its second derivatives, which are those of the rows whose margin is short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.labels import known_codes
from pellucid.core.linear_classifier import class_weights, machine_costs, machine_signs
from pellucid.core.scale.first_look import FirstLook, first_look
from pellucid.core.scale.moments import block_weights
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.curvature_equations import DIRECT, scaled_cholesky
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc.linear_svc_solvers import fit_machines
from pellucid.svm.linear_svc.margin_problem import LARGEST_GAP, MarginProblem
from pellucid.svm.linear_svc.squared_hinge import SquaredHinge

NUMBERS_AT_ONCE = 1 << 17
POLISHED = 1e-4
"""Part of the goal that is aimed for: the last steps are exact, or nearly so."""
STALLED, ARMIJO, SHORTEST = 1e-14, 1e-4, 1e-4
"""Relative descent that is rounding, part of the promised descent a step must achieve, and the shortest step."""


@dataclass(frozen=True, eq=False)
class MachinesTask:
    """What a block must know of the problem."""

    classes: Array
    class_weight: Array
    C: float
    constant: float


@dataclass(frozen=True, eq=False)
class HingeSums:
    """What a pass leaves of one machine."""

    loss: float
    pulled: Array
    """Minus the gradient of the loss."""
    hessian: Array
    n_short: int


@dataclass(eq=False)
class MachineRun:
    """One machine on its way."""

    u: Array
    found: HingeSums
    trace: Trace = field(default_factory=Trace)
    is_over: bool = False

    @property
    def objective(self) -> float:
        """Loss and penalty."""
        return 0.5 * float(self.u @ self.u) + self.found.loss

    @property
    def gradient(self) -> Array:
        """Of the objective."""
        return np.asarray(self.u - self.found.pulled)

    @property
    def gap(self) -> float:
        """How far the objective is above its minimum, at most: see ``squared_hinge``."""
        return 0.5 * float(self.gradient @ self.gradient)

    def note(self, goal: float) -> None:
        """Write the state down, and see whether it is the last."""
        self.trace.add(
            iteration=len(self.trace), objective=self.objective, gap=self.gap, short_margins=self.found.n_short
        )
        self.is_over = self.gap <= POLISHED * goal * self.objective


def linear_svc_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the fit of one machine per class, or one for two classes."""
    look = first_look(blocks, "classes")
    data = look.data
    if len(data.classes) < 2:
        raise ValueError(f"y must hold at least 2 classes, got one class: {data.classes.tolist()[0]!r}.")
    task = _task_of(estimator, look, data.classes)
    rows, goal = AugmentedRows(data.X, task.constant), min(estimator.tol, LARGEST_GAP)
    if rows.width > DIRECT:
        raise ValueError(
            f"X must have at most {DIRECT - 1} columns for rows in blocks, got {rows.p}. Fit it to a sample of them."
        )
    some = fit_machines(data, estimator, ignore, 0).attributes
    start = some["coef_"]
    if task.constant:
        start = np.column_stack([start, some["intercept_"] / task.constant])
    found = blocks.reduce(machines_of_block, join_machines, task, list(range(len(start))), start)
    runs = [MachineRun(u, sums) for u, sums in zip(start, found, strict=True)]
    for run in runs:
        run.note(goal)
    for _ in range(estimator.max_iter):
        if all(run.is_over for run in runs):
            break
        _step(blocks, task, runs, goal)
        if watch({"classes_": data.classes, **rows.stored(np.stack([run.u for run in runs]))}):
            break
    attributes = {
        "classes_": data.classes,
        **rows.stored(np.stack([run.u for run in runs])),
        "n_iter_": max(len(run.trace) - 1 for run in runs),
    }
    return Fit(attributes, Trace.joined([run.trace for run in runs], numbered="machine"))


def _task_of(estimator: Any, look: FirstLook, classes: Array) -> MachinesTask:
    totals = np.array([look.totals[label] for label in classes.tolist()])
    each = TrainingData(np.empty((len(classes), 0)), np.arange(len(classes)), totals, classes)
    constant = float(estimator.intercept_scaling) if estimator.fit_intercept else 0.0
    return MachinesTask(classes, class_weights(estimator.class_weight, each), float(estimator.C), constant)


def _step(blocks: RowBlocks, task: MachinesTask, runs: Sequence[MachineRun], goal: float) -> None:
    """Move every machine that is not at its goal by a step of Newton's method, shortened until it descends."""
    waiting = [k for k, run in enumerate(runs) if not run.is_over]
    steps = {k: -scaled_cholesky(runs[k].found.hessian + np.eye(len(runs[k].u)))(runs[k].gradient) for k in waiting}
    t = 1.0
    while waiting and t > SHORTEST:
        tried = np.stack([runs[k].u + t * steps[k] for k in waiting])
        found = blocks.reduce(machines_of_block, join_machines, task, waiting, tried)
        left = []
        for k, u, sums in zip(waiting, tried, found, strict=True):
            run, moved = runs[k], MachineRun(u, sums, runs[k].trace)
            room = 10 * EPSILON * math.sqrt(blocks.n_rows) * run.objective
            if moved.objective > run.objective + ARMIJO * t * float(run.gradient @ steps[k]) + room:
                left.append(k)
                continue
            stalled = run.objective - moved.objective <= STALLED * run.objective and moved.gap >= run.gap
            if stalled:
                run.is_over = True
                continue
            run.u, run.found = u, sums
            run.note(goal)
        waiting, t = left, 0.25 * t
    for k in waiting:  # no step descends
        runs[k].is_over = True


# from a block to its statistics


def machines_of_block(block: RowBlock, task: MachinesTask, machines: list[int], U: Array) -> list[HingeSums]:
    """Return the sums of a block for some machines, by what the fit in memory does with all rows."""
    weight, width = block_weights(block), U.shape[1]
    assert block.y is not None
    total = [HingeSums(0.0, np.zeros(width), np.zeros((width, width)), 0) for _ in machines]
    height = max(256, NUMBERS_AT_ONCE // width)
    for start in range(0, len(block), height):
        part = slice(start, start + height)
        X, y = np.ascontiguousarray(block.X[part], dtype=np.float64), block.y[part]
        own = np.ones(len(X)) if weight is None else weight[part]
        if not own.all():
            X, y, own = X[own > 0.0], y[own > 0.0], own[own > 0.0]
        if len(own):
            rows = AugmentedRows(X, task.constant)
            signs = machine_signs(known_codes(y, task.classes), len(task.classes))
            costs = np.atleast_2d(machine_costs(signs, task.C * own, task.class_weight))
            some = [_machine_sums(rows, signs[k], costs[k], u) for k, u in zip(machines, U, strict=True)]
            total = join_machines([total, some])
    return total


def _machine_sums(rows: AugmentedRows, signs: Array, cost: Array, u: Array) -> HingeSums:
    problem = MarginProblem(rows, signs, cost)
    loss = SquaredHinge(problem, -signs * cost, rows.scores(u))
    hessian = rows.gram(2.0 * cost * loss.is_short)
    return HingeSums(loss.value, rows.transposed_times(loss.minus_slope), hessian, int(loss.is_short.sum()))


def join_machines(found: Sequence[list[HingeSums]]) -> list[HingeSums]:
    """Return the sums over several blocks."""
    return [
        HingeSums(
            math.fsum(one.loss for one in same),
            np.sum([one.pulled for one in same], axis=0),
            np.sum([one.hessian for one in same], axis=0),
            sum(one.n_short for one in same),
        )
        for same in zip(*found, strict=True)
    ]
