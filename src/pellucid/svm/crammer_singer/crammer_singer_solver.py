"""How one machine for all classes is fitted: passes over the rows, then Newton steps where they are cheap or needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.fit import Fit
from pellucid.core.linear_classifier import class_weights
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.numerics.curvature_equations import DIRECT
from pellucid.numerics.newton import SMALL, Found, centered_newton
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.crammer_singer.crammer_singer import CrammerSinger
from pellucid.svm.crammer_singer.crammer_singer_descent import crammer_singer_descent
from pellucid.svm.linear_svc.margin_problem import LARGEST_GAP

FIRST_SMOOTHING = 1.0
"""In units of the wanted lead of the own class."""

FEW_PASSES, MANY_PASSES = 40, 500
"""Passes before the Newton steps, if these have few unknowns and are cheap, and otherwise."""


def fit_together(data: TrainingData, parameters: Any, watch: Watch, seed: int) -> Fit:
    """Return the fit of one machine for all classes."""
    n_classes = len(data.classes)
    cost = class_weights(parameters.class_weight, data)[data.y] * parameters.C * data.weights
    rows = AugmentedRows(data.X, parameters.intercept_scaling if parameters.fit_intercept else 0.0)
    problem = CrammerSinger(rows, data.y, cost, np.zeros((len(data.y), n_classes)))

    def shown(w: Array) -> bool:
        return watch(rows.stored(_differences(w, n_classes)))

    effort = Effort(min(parameters.tol, LARGEST_GAP), parameters.max_iter, watch if watch is ignore else shown)
    found = solve_together(problem, effort, seed)
    alpha = found.loss.pull  # (n, n_classes)
    attributes = {
        "classes_": data.classes,
        **rows.stored(_differences(found.w, n_classes)),
        "dual_coef_": data.spread(np.ascontiguousarray(alpha.T[1:] if n_classes == 2 else alpha.T)),
        "n_iter_": found.n_iter,
    }
    return Fit(attributes, found.trace)


def _differences(w: Array, n_classes: int) -> Array:
    """Return the weights of each class; two classes need the difference of theirs only."""
    U = w.reshape(n_classes, -1)
    return U[1:] - U[:1] if len(U) == 2 else U


def solve_together(problem: CrammerSinger, effort: Effort, seed: int) -> Found:
    """Return the weights of all classes, one by one; ``found.loss.pull`` is the dual point."""
    if problem.entries <= SMALL:  # Newton steps alone: their answer does not depend on the order of the rows
        zeros = np.zeros(problem.size)
        return centered_newton(problem, Found(zeros, zeros, FIRST_SMOOTHING), effort)
    passes = FEW_PASSES if problem.size <= DIRECT else MANY_PASSES
    found = crammer_singer_descent(problem, effort, most_passes=passes, rng=np.random.RandomState(seed))
    if found.gap <= effort.goal * found.objective or found.n_iter >= effort.max_iter:
        return found
    found.smoothing = FIRST_SMOOTHING
    return centered_newton(problem.centered_at(found.loss), found, effort)
