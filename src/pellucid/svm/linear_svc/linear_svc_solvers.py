"""How the machines of a LinearSVC are fitted: which method for which loss, and all machines at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.fit import Effort, Fit
from pellucid.core.linear_classifier import class_weights, machine_costs, machine_signs
from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.curvature_equations import DIRECT
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc.hinge import (
    hinge_dual_descent,
    hinge_interior_point,
    hinge_near_rows,
    hinge_to_rounding,
    squared_hinge_start,
)
from pellucid.svm.linear_svc.margin_problem import LARGEST_GAP, MarginFit, MarginProblem, RepeatedRows
from pellucid.svm.linear_svc.squared_hinge import squared_hinge_newton
from pellucid.svm.linear_svc.squared_hinge_l1 import column_descent, proximal_newton

MANY_ROWS, MANY_ROWS_EACH = 10_000, 200
"""Rows, and rows per column, from which the hinge is solved on the rows near the margin: of fewer a sample misleads."""

SMALL = 1 << 14
"""Entries of the data up to which the hinge is solved to rounding: it costs next to nothing there."""

FEW_COLUMNS = 400
"""Columns up to which the l1 penalty is solved with the whole Hessian; coordinate descent otherwise."""

Solve = Callable[[MarginProblem, Effort], MarginFit]


def fit_machines(data: TrainingData, parameters: Any, watch: Watch, seed: int) -> Fit:
    """Return the fit of one machine per class, or one for two classes."""
    signs = machine_signs(data.y, len(data.classes))
    by_class = class_weights(parameters.class_weight, data)
    cost = np.atleast_2d(machine_costs(signs, parameters.C * data.weights, by_class))
    rows = AugmentedRows(data.X, parameters.intercept_scaling if parameters.fit_intercept else 0.0)
    solve = choose_solver(parameters.loss, parameters.penalty, rows, seed)
    effort = Effort(min(parameters.tol, LARGEST_GAP), parameters.max_iter, watch)
    machines = _solve_each(rows, signs, cost, solve, effort)
    attributes = {
        "classes_": data.classes,
        **rows.stored(np.stack([machine.u for machine in machines])),
        "n_iter_": max(machine.n_iter for machine in machines),
    }
    if parameters.loss == "hinge":
        alphas = np.stack([np.zeros(rows.n) if machine.alpha is None else machine.alpha for machine in machines])
        attributes["dual_coef_"] = data.spread(alphas * signs)
    reached = all(machine.gap <= effort.goal * machine.objective for machine in machines)
    trace = Trace.joined([machine.trace for machine in machines], numbered="machine")
    return Fit(attributes, trace, reached=reached)


def _solve_each(rows: AugmentedRows, signs: Array, cost: Array, solve: Solve, effort: Effort) -> list[MarginFit]:
    """Return one machine per row of ``signs`` and ``cost``, on all threads; in turn if somebody watches."""
    so_far = np.zeros((len(signs), rows.width))

    def fit(k: int) -> MarginFit:
        def seen(u: Array) -> bool:
            so_far[k] = u
            return effort.watch(rows.stored(so_far))

        used = cost[k] > 0.0
        problem = MarginProblem(rows, signs[k], cost[k])
        if not used.all():
            problem = problem.part(np.flatnonzero(used))
        machine = solve(problem, effort if effort.watch is ignore else replace(effort, watch=seen))
        if machine.alpha is not None:
            full = np.zeros(len(used))
            full[used] = machine.alpha
            machine.alpha = full
        return machine

    each = list(range(len(signs)))
    return run_blocks(fit, each) if effort.watch is ignore else [fit(k) for k in each]


def choose_solver(loss: str, penalty: str, rows: AugmentedRows | RepeatedRows, seed: int) -> Solve:
    """Return the method for this loss and penalty on rows of this shape."""
    if penalty == "l1":
        return proximal_newton if rows.width <= FEW_COLUMNS else column_descent
    if loss == "squared_hinge":
        return _newton_from_descent(seed) if rows.is_sparse and _is_large(rows) else squared_hinge_newton
    if rows.n * rows.width <= SMALL:
        return hinge_to_rounding
    if rows.n >= MANY_ROWS and rows.n >= MANY_ROWS_EACH * rows.width:
        return hinge_near_rows
    if not _is_large(rows):
        return hinge_interior_point
    return lambda problem, effort: hinge_dual_descent(problem, effort, np.random.RandomState(seed))


def _is_large(rows: AugmentedRows | RepeatedRows) -> bool:
    """Return whether both rows and columns are too many for a Cholesky factor."""
    return min(rows.n, rows.width) > DIRECT


def _newton_from_descent(seed: int) -> Solve:
    def solve(problem: MarginProblem, effort: Effort) -> MarginFit:
        return squared_hinge_newton(problem, effort, squared_hinge_start(problem, np.random.RandomState(seed)))

    return solve
