"""How a LinearSVR is fitted: by the methods of LinearSVC, on twice the rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.proofs.rounding import TINY
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.curvature_equations import DIRECT
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc.hinge import hinge_dual_descent, hinge_interior_point, squared_hinge_start
from pellucid.svm.linear_svc.linear_svc_solvers import SMALL, choose_solver
from pellucid.svm.linear_svc.margin_problem import LARGEST_GAP, MarginFit, MarginProblem, RepeatedRows, SingleRows
from pellucid.svm.linear_svc.squared_hinge import squared_hinge_newton

MOST_DIGITS = 80
"""Digits of the cost of a residual, times the squares of the rows: powers of it up to the third are numbers."""

MARGIN_LOSS = {"epsilon_insensitive": "hinge", "squared_epsilon_insensitive": "squared_hinge"}
"""The loss of a residual -> that of a margin which it is on either side of the tube."""

MOST_PASSES = 100
"""Passes of dual descent over fewer rows than columns, before the interior point method takes over."""


def fit_tube(data: TrainingData, parameters: Any, watch: Watch, seed: int) -> Fit:
    """Return the fit of the line whose tube the rows leave at least cost."""
    rows = AugmentedRows(data.X, parameters.intercept_scaling if parameters.fit_intercept else 0.0)
    y, cost = np.asarray(data.y, dtype=np.float64), parameters.C * data.weights
    unit = _unit(y, data.weights)
    is_squared = parameters.loss == "squared_epsilon_insensitive"
    _check_strength(parameters, rows, float(data.weights.max()), 1.0 if is_squared else unit)
    # u in units of y: half the square has unit^2, and so has the loss if it is squared, or else its cost in units
    problem = tube_problem(rows, y / unit, parameters.epsilon / unit, cost if is_squared else cost / unit)
    effort = Effort(min(parameters.tol, LARGEST_GAP), parameters.max_iter, watch)
    if watch is not ignore:
        effort = replace(effort, watch=lambda u: watch(line_of(rows, unit * u)))
    machine = _fitted(problem, MARGIN_LOSS[parameters.loss], effort, seed)
    attributes = {**line_of(rows, unit * machine.u), "n_iter_": machine.n_iter}
    if not is_squared:
        assert machine.alpha is not None
        beta = unit * (machine.alpha[: rows.n] - machine.alpha[rows.n :])
        attributes["dual_coef_"] = data.spread(beta)
    return Fit(attributes, _scaled_trace(machine, unit * unit))


def line_of(rows: AugmentedRows, u: Array) -> dict[str, Any]:
    """Return ``coef_`` and ``intercept_`` of weights whose last is the constant's."""
    stored = rows.stored(u[None])
    return {"coef_": stored["coef_"][0], "intercept_": stored["intercept_"]}


def _check_strength(parameters: Any, rows: AugmentedRows, weight: float, unit: float) -> None:
    """Refuse a cost that overflows where it is multiplied by the squares of the rows, in units of the targets."""
    entries = rows.X.data if rows.is_sparse else rows.X
    size = max(-float(entries.min(initial=0.0)), float(entries.max(initial=0.0)), rows.constant, TINY)
    digits = np.log10(parameters.C) + np.log10(weight) + 2.0 * np.log10(size) - np.log10(unit)
    if digits > MOST_DIGITS:
        raise ValueError(
            f"C times the squares of X over the size of y must be at most 1e{MOST_DIGITS}, got 1e{digits:.0f}. "
            "Lower C, intercept_scaling or sample_weight, or change the units of X or y."
        )


def _unit(y: Array, weights: Array) -> float:
    """Return the power of two near the mean distance of the targets from their mean: the path starts at 1."""
    total = float(weights.sum())
    off = float(weights @ np.abs(y - float(weights @ y) / total)) / total
    size = off if off > 0.0 else float(np.abs(y).max())
    return float(2.0 ** np.round(np.log2(size))) if size > 0.0 else 1.0


def _fitted(problem: MarginProblem, loss: str, effort: Effort, seed: int) -> MarginFit:
    if np.all(np.asarray(problem.wanted) <= 0.0):  # all targets lie in the tube around 0
        machine = MarginFit(np.zeros(problem.rows.width), np.zeros(problem.rows.n))
        machine.note(0.0, 0.0)
        return machine
    rows = problem.rows.base
    if rows.n < rows.width and rows.n * rows.width > SMALL:
        return _fitted_wide(problem, loss, effort, np.random.RandomState(seed))
    if loss == "squared_hinge":  # nearly a square: Newton's steps are near it before passes over the rows are
        return squared_hinge_newton(problem, effort)
    return choose_solver(loss, "l2", problem.rows, seed)(problem, effort)


def _fitted_wide(problem: MarginProblem, loss: str, effort: Effort, rng: np.random.RandomState) -> MarginFit:
    """Return the fit by dual descent: fewer rows than columns hardly overlap. Where they do, other methods go on."""
    if loss == "squared_hinge":
        found = squared_hinge_newton(problem, effort, squared_hinge_start(problem, rng))
        if found.is_within(effort.goal) or found.n_iter >= effort.max_iter:
            return found
        return squared_hinge_newton(problem, effort)  # rounding ended it: the start was off along what rows share
    if problem.rows.base.n > DIRECT:
        return hinge_dual_descent(problem, effort, rng)
    found = hinge_dual_descent(problem, replace(effort, max_iter=min(MOST_PASSES, effort.max_iter)), rng)
    left = effort.max_iter - found.n_iter
    if found.is_within(effort.goal) or left == 0:
        return found
    inside = hinge_interior_point(problem, replace(effort, max_iter=left))
    return replace(inside, n_iter=found.n_iter + inside.n_iter)


def _scaled_trace(machine: MarginFit, factor: float) -> Trace:
    trace = Trace()
    for row in machine.trace:
        trace.add(**{**row, "objective": factor * row["objective"], "gap": factor * row["gap"]})
    return trace


# Regression with a tube, as a machine of twice the rows.
#
# A residual beyond the tube is a margin too short. Row i wants :math:`a_i'u \ge y_i - \varepsilon` and :math:`-a_i'u
# \ge -y_i - \varepsilon`, each at the cost :math:`c_i`, and never misses both. So the methods of LinearSVC fit it, and
# :math:`\beta = \alpha^+ - \alpha^-` is its dual point. The rows are stored and multiplied once.


@dataclass(frozen=True)
class TubeProblem(MarginProblem):
    """The rows twice, first with the sign + and then with -; ``single`` are the rows once."""

    single: SingleRows = field(kw_only=True)

    def descended(self) -> SingleRows:
        """Return the rows once."""
        return self.single

    def dual_point(self, alpha: Array) -> Array:
        """Return the positive parts, and then the negative ones."""
        return np.maximum(np.concatenate([alpha, -alpha]), 0.0)


def tube_problem(rows: AugmentedRows, y: Array, epsilon: float, cost: Array) -> TubeProblem:
    """Return the problem of targets ``y`` and what it costs to miss them by more than epsilon."""
    twice = RepeatedRows(rows, np.tile(np.arange(rows.n), 2))
    signs, wanted = np.repeat([1.0, -1.0], rows.n), np.concatenate([y - epsilon, -y - epsilon])
    single = SingleRows(rows, np.ones(rows.n), cost, y, is_two_sided=True, tube=epsilon)
    return TubeProblem(twice, signs, np.tile(cost, 2), wanted, single=single)
