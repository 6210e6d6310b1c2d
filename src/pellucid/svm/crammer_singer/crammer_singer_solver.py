"""How one machine for all classes is fitted: passes over the rows, then Newton steps where they are cheap or needed."""

from __future__ import annotations

import numpy as np

from pellucid.core.effort import Effort
from pellucid.numerics.curvature_equations import DIRECT
from pellucid.numerics.newton import SMALL, Found, centered_newton
from pellucid.svm.crammer_singer.crammer_singer import CrammerSinger
from pellucid.svm.crammer_singer.crammer_singer_descent import crammer_singer_descent

FIRST_SMOOTHING = 1.0
"""In units of the wanted lead of the own class."""

FEW_PASSES, MANY_PASSES = 40, 500
"""Passes before the Newton steps, if these have few unknowns and are cheap, and otherwise."""


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
