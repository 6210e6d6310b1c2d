"""Sigmoid outputs fitted by squared error: L-BFGS from 0, in units in which every column bends alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from pellucid.core.fit import Effort, Fit, Solution
from pellucid.core.linear_classifier import is_multilabel
from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.watching import ignore
from pellucid.optimize import LBFGS, Problem, Stopping, descend
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

MOST_STARTS = 5
"""Descents of one output: the first from 0, others from a smaller multiple of where the last one ended."""


def fit_outputs(data: TrainingData, effort: Effort, *, alpha: float, fit_intercept: bool) -> Fit:
    """Return the fit of all outputs, one per column of ``data.y``: on all threads, in turn if watched."""
    if len(data.classes) < 2 and not is_multilabel(data):
        raise ValueError(f"y must hold at least 2 classes, got one class: {data.classes.tolist()[0]!r}.")
    n_outputs, weight = data.y.shape[1], data.weights
    columns = measure_columns(data.X, weight, alpha, fit_intercept=fit_intercept)
    rows, inner = columns.centered(data.X)
    coef, intercept = np.zeros((n_outputs, data.X.shape[1])), np.zeros(n_outputs)

    def fit(k: int) -> list[Solution[Array]]:
        def seen(u: Array) -> bool:
            coef[k], intercept[k] = columns.line(u)
            return effort.watch(coef.copy(), intercept.copy())

        problem = _problem(rows, data.y[:, k], weight, alpha, inner)
        found: list[Solution[Array]] = []
        start: Array | None = np.zeros(columns.n_unknowns)
        while start is not None and len(found) < MOST_STARTS:
            stopping = Stopping(gradient=effort.goal, max_iter=effort.max_iter)
            found.append(descend(problem, start, LBFGS(), stopping=stopping, callback=seen))
            start = _better_multiple(problem, found[-1].x, effort.goal)
        coef[k], intercept[k] = columns.line(found[-1].x)
        return found

    outputs = list(range(n_outputs))
    solutions = run_blocks(fit, outputs) if effort.watch is ignore else [fit(k) for k in outputs]
    return Fit(
        {
            "classes_": data.classes,
            "multilabel_": is_multilabel(data),
            "coef_": coef.astype(data.dtype),
            "intercept_": intercept.astype(data.dtype),
            "n_iter_": max(sum(solution.n_iter for solution in of_output) for of_output in solutions),
        },
        _joined_trace(solutions),
    )


def _better_multiple(problem: Problem, u: Array, goal: float) -> Array | None:
    """Return where to start again if a smaller multiple of the unknowns is better: they ran away to a plateau."""
    values = [problem.value(multiple * u) for multiple in MULTIPLES]
    best = int(np.argmin(values))
    return MULTIPLES[best] * u if values[best] < problem.value(u) - goal else None


def _joined_trace(solutions: list[list[Solution[Array]]]) -> Trace:
    """Return the rows of all outputs, one after the other, with the number of the output."""
    joined = Trace()
    for k, of_output in enumerate(solutions):
        for solution in of_output:
            for row in solution.trace:
                joined.add(**{**row, "output": float(k)})
            joined.states.extend(solution.trace.states)
    return joined


def _problem(X: SparseOrDense, target: Array, weight: Array, alpha: float, columns: ColumnUnits) -> Problem:
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


BLOCK = 1 << 18
"""Entries copied in one go."""

MULTIPLES = (0.0, *(0.5**k for k in range(40, 0, -1)))


@dataclass(frozen=True)
class ColumnUnits:
    """Means and units of the columns; with an intercept the last unknown is the score at the means."""

    mean: Array
    unit: Array
    fit_intercept: bool

    @property
    def n_unknowns(self) -> int:
        """Number of columns, and one for the intercept."""
        return len(self.unit) + self.fit_intercept

    def line(self, u: Array) -> tuple[Array, float]:
        """Return weights and intercept for the unknowns."""
        w = u[: len(self.unit)] / self.unit
        return w, float(4.0 * u[-1] - self.mean @ w) if self.fit_intercept else 0.0

    def gradient(self, by_weight: Array, by_intercept: float) -> Array:
        """Return the gradient by the unknowns from that by the weights and the intercept."""
        if not self.fit_intercept:
            return np.asarray(by_weight / self.unit)
        return np.append((by_weight - self.mean * by_intercept) / self.unit, 4.0 * by_intercept)

    def centered(self, X: SparseOrDense) -> tuple[Any, ColumnUnits]:
        """Return dense rows less their means, in float64, and their columns: a mean far from 0 then costs no digits."""
        if sparse.issparse(X) or not self.fit_intercept:
            return X, self
        return np.subtract(X, self.mean, dtype=np.float64), replace(self, mean=np.zeros_like(self.mean))


def measure_columns(X: SparseOrDense, weight: Array, alpha: float, *, fit_intercept: bool) -> ColumnUnits:
    """Return the means and units of the columns of ``X``."""
    total = float(weight.sum())
    mean = np.asarray(weight @ X, dtype=np.float64) / total
    if sparse.issparse(X):
        squares = np.asarray(weight @ X.multiply(X), dtype=np.float64) / total
        variance = np.maximum(squares - mean**2, EPSILON * squares)
    else:
        parts = [weight[part] @ (X[part] - mean) ** 2 for part in _blocks(X)]
        variance = np.sum(parts, axis=0) / total
    if not fit_intercept:
        variance = variance + mean**2
    unit = np.sqrt(variance / 16.0 + alpha)
    return ColumnUnits(mean * fit_intercept, np.where(unit > 0.0, unit, 1.0), fit_intercept)


def _blocks(X: SparseOrDense) -> list[slice]:
    """Return parts of the rows that are small enough to be copied."""
    height = max(1, BLOCK // X.shape[1])
    return [slice(start, start + height) for start in range(0, X.shape[0], height)]
