r"""One machine for all classes, by dual descent over the rows (Keerthi et al. 2008).

With the shares of all other rows fixed, those of one row are a projection. A pass visits the rows that several classes
share or may come to share, and of each only those classes; a look at the gap decides anew which these are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.types import Array
from pellucid.numerics.look_schedule import LookSchedule
from pellucid.numerics.newton import Found
from pellucid.svm.augmented_rows import unsigned_parts
from pellucid.svm.crammer_singer.crammer_singer import CrammerSinger, LargestExcess
from pellucid.svm.crammer_singer.crammer_singer_descent_kernels import csr_descent_pass, dense_descent_pass

NEAR = 1.0
"""How far the excess of a class may be below those in use to be visited, as a part of what the worst row is off."""


def crammer_singer_descent(
    problem: CrammerSinger, effort: Effort, *, most_passes: int, rng: np.random.RandomState
) -> Found:
    """Return what so many passes find, or fewer where they reach the goal."""
    zeros = np.zeros(problem.size)
    found, looks, squares = Found(zeros, zeros, 0.0), LookSchedule(), problem.rows.sq_lengths()
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


def _look(problem: CrammerSinger, found: Found, shares: Array) -> LargestExcess:
    """Note the weights that follow from the shares, anew, so that rounding does not pile up."""
    found.w = found.smoothed = problem.pull(problem.dual_point(shares))
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
