"""Sigmoid outputs fitted by squared error: L-BFGS from 0, in units in which every column bends alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.core.solution import Solution
from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.logistic.regression_discriminant_proof import Columns
from pellucid.optimize import LBFGS, Problem, Stopping, descend


def fit_outputs(
    X: Any,
    targets: Array,
    weight: Array,
    alpha: float,
    columns: Columns,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = ignore,
) -> tuple[Array, Array, list[Solution[Array]]]:
    """Return weights and intercepts of all outputs, and how each was found: on all threads, in turn if watched."""
    n_outputs = targets.shape[1]
    coef, intercept = np.zeros((n_outputs, X.shape[1])), np.zeros(n_outputs)
    rows, inner = columns.centered(X)

    def fit(k: int) -> Solution[Array]:
        def seen(u: Array) -> bool:
            coef[k], intercept[k] = columns.line(u)
            return watch(coef, intercept)

        problem = _problem(rows, targets[:, k], weight, alpha, inner)
        stopping = Stopping(gradient=tol, max_iter=max_iter)
        solution = descend(problem, np.zeros(columns.n_unknowns), LBFGS(), stopping=stopping, callback=seen)
        coef[k], intercept[k] = columns.line(solution.x)
        return solution

    outputs = list(range(n_outputs))
    found = run_blocks(fit, outputs) if watch is ignore else [fit(k) for k in outputs]
    return coef, intercept, found


def joined_trace(solutions: list[Solution[Array]]) -> Trace:
    """Return the rows of all outputs, one after the other, with the number of the output."""
    joined = Trace()
    for k, solution in enumerate(solutions):
        for row in solution.trace:
            joined.add(**{**row, "output": float(k)})
        joined.states.extend(solution.trace.states)
    return joined


def _problem(X: Any, target: Array, weight: Array, alpha: float, columns: Columns) -> Problem:
    """Return half the mean squared error plus the penalty, as a function of the unknowns in their units."""
    total = float(weight.sum())

    def value_and_gradient(u: Array) -> tuple[float, Array]:
        w, b = columns.line(u)
        outputs = expit(np.asarray(X @ w) + b)
        errors = outputs - target
        slopes = weight * errors * outputs * (1.0 - outputs) / total
        value = 0.5 * float(weight @ errors**2) / total + 0.5 * alpha * float(w @ w)
        return value, columns.gradient(np.asarray(X.T @ slopes) + alpha * w, float(slopes.sum()))

    return Problem(lambda u: value_and_gradient(u)[0], value_and_gradient=value_and_gradient, lower_bound=0.0)
