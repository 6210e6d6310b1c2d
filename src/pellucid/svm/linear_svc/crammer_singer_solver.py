"""How one machine for all classes is fitted: passes over the rows, then Newton steps where they are cheap or needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.fit import Effort, Fit
from pellucid.core.linear_classifier import class_weights
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.curvature_equations import DIRECT
from pellucid.solvers.leading_eigenvectors import LookSchedule
from pellucid.solvers.newton import SMALL, NewtonDescent, centered_newton
from pellucid.svm.augmented_rows import AugmentedRows, unsigned_parts
from pellucid.svm.linear_svc.crammer_singer import CrammerSinger, LargestExcess
from pellucid.svm.linear_svc.margin_problem import LARGEST_GAP
from pellucid.svm.svm_kernels import csr_descent_pass, dense_descent_pass

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
    alpha = found.loss.minus_slope  # (n, n_classes)
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


def solve_together(problem: CrammerSinger, effort: Effort, seed: int) -> NewtonDescent:
    """Return the weights of all classes, one by one; ``found.loss.minus_slope`` is the dual point."""
    if problem.entries <= SMALL:  # Newton steps alone: their answer does not depend on the order of the rows
        zeros = np.zeros(problem.size)
        return centered_newton(problem, NewtonDescent(zeros, zeros, FIRST_SMOOTHING), effort)
    passes = FEW_PASSES if problem.size <= DIRECT else MANY_PASSES
    found = crammer_singer_descent(problem, effort, most_passes=passes, rng=np.random.RandomState(seed))
    if found.gap <= effort.goal * found.objective or found.n_iter >= effort.max_iter:
        return found
    found.smoothing = FIRST_SMOOTHING
    return centered_newton(problem.centered_at(found.loss), found, effort)


# One machine for all classes, by dual descent over the rows (Keerthi et al. 2008).
#
# With the shares of all other rows fixed, those of one row are a projection. A pass visits the rows that several
# classes share or may come to share, and of each only those classes; a look at the gap decides anew which these are.


NEAR = 1.0
"""How far the excess of a class may be below those in use to be visited, as a part of what the worst row is off."""


def crammer_singer_descent(
    problem: CrammerSinger, effort: Effort, *, most_passes: int, rng: np.random.RandomState
) -> NewtonDescent:
    """Return what so many passes find, or fewer where they reach the goal."""
    zeros = np.zeros(problem.size)
    found, looks, squares = NewtonDescent(zeros, zeros, 0.0), LookSchedule(), problem.rows.sq_lengths()
    shares, last = _first_shares(problem, squares), min(most_passes, effort.max_iter)
    while True:
        loss = _look(problem, found, shares)
        looks.saw(found.n_iter, found.gap, goal=effort.goal * found.objective)
        if effort.watch(found.w) or found.n_iter >= last or found.gap <= effort.goal * found.objective:
            return found
        n_passes = min(looks.next_look, last) - found.n_iter
        _descend(problem, found.w, shares, squares, _in_play(problem, loss), n_passes, rng)
        found.n_iter += n_passes


def _first_shares(problem: CrammerSinger, squares: Array) -> Array:
    """Return shares that leave all weights 0; a row of zeros, which no weights can help, has the best there are."""
    own = np.eye(problem.n_classes)[problem.labels]
    return np.where(squares[:, None] == 0.0, (1.0 - own) / (problem.n_classes - 1), own)


def _look(problem: CrammerSinger, found: NewtonDescent, shares: Array) -> LargestExcess:
    """Note the weights that follow from the shares, anew, so that rounding does not pile up."""
    found.w = found.smoothed = problem.transposed_times(problem.dual_point(shares))
    found.loss = loss = problem.loss_of(shares, problem.scores(found.w))
    found.note(0.5 * float(found.w @ found.w) + loss.value, loss.excess)
    return loss


def _in_play(problem: CrammerSinger, loss: LargestExcess) -> Array:
    """Return which shares of which rows may move, of shape (n, n_classes)."""
    r, is_used = problem.excess(loss.f), loss.shares > 0.0
    least = np.min(r, axis=1, where=is_used, initial=np.inf)
    off = float(np.max((r.max(axis=1) - least)[problem.cost > 0.0], initial=0.0))
    return is_used | (r >= (least - NEAR * off)[:, None])


def _descend(
    problem: CrammerSinger,
    w: Array,
    shares: Array,
    squares: Array,
    in_play: Array,
    n_passes: int,
    rng: np.random.RandomState,
) -> None:
    """Move the shares in play, by so many passes that start at the weights ``w``."""
    rows, U, counts = problem.rows, w.reshape(problem.n_classes, -1), in_play.sum(axis=1)
    visited = np.flatnonzero((counts > 1) & (problem.cost > 0.0) & (squares > 0.0))
    starts, listed = np.append(0, np.cumsum(counts)), np.nonzero(in_play)[1].astype(np.uint32)
    one_pass: Any
    parts: tuple[Array, ...]
    if rows.is_sparse:
        one_pass, parts, W = csr_descent_pass, unsigned_parts(rows.X), np.ascontiguousarray(U.T)
    else:
        one_pass, parts, W = dense_descent_pass, (rows.X,), U.copy()
    room = np.empty(problem.n_classes)
    for _ in range(n_passes):
        order = rng.permutation(visited)
        one_pass(
            *parts, rows.constant, problem.labels, problem.cost, squares, order, starts, listed, shares, W, room
        )  # fmt: skip
