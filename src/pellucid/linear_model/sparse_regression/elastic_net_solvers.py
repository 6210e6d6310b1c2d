r"""Working-set solver of the elastic net on centered, weighted data.

.. math:: \min_w\ \tfrac12 \|b - Aw\|_2^2 + l_1 \|w\|_1 + \tfrac{l_2}{2} \|w\|_2^2

Few columns matter, so the problem is solved on a small working set, by coordinate descent on its Gram matrix until the
signs settle and then exactly by Cholesky on the support. Correlations of all columns with the residual, computed afresh
from the data, then say which columns were missing and give the duality gap. The Gram matrix acts only on increments
of ``w``: like iterative refinement, this keeps the accuracy of a residual-based method. Only when all columns are in
the working set and rounding is far below the precision asked for, the Gram matrix gives the gap as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import lstsq

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.coordinate_descent_kernels import elastic_net_gap
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import (
    ElasticNetPenalty,
    Subproblem,
    solve_subproblem,
)
from pellucid.linear_model.sparse_regression.working_gram import WorkingGram

FIRST_COLUMNS = 64
"""Columns in the first working set; later it may grow by half at every enlargement."""

SMALL_WIDTH = 256
"""Up to this many features, and at most a quarter of the samples, the working set is all: one pass over ``X``."""

FALL = 0.4
"""Factor of the l1 penalty between stages, on its way from where all coefficients are 0."""

ROUNDING = 1e-12
"""Relative error that products in a Gram matrix may have, with a margin."""

NEGLIGIBLE = 1e-3
"""Part of the goal up to which such an error may be left in the gap; beyond, residuals come from the data."""

EXACT = 1e-6
"""Part of the goal below which a gap is taken for 0."""

LOWEST_STAGE = 1e-3
"""Part of its first value below which the l1 penalty falls to its target at once."""


@dataclass
class Iterate:
    """A point of the descent with the square norm of its residual ``b - A w`` and the correlations ``A'(b - A w)``."""

    w: Array
    sq_residual: float
    correlations: Array

    @classmethod
    def start(cls, gram: WorkingGram, b: Array, w: Array | None = None) -> Iterate:
        """Return the iterate at ``w``, or at 0."""
        design = gram.design
        point = np.zeros(design.shape[1]) if w is None else np.array(w, dtype=np.float64)
        residual = b - design.times(point) if point.any() else b
        return cls(point, float(residual @ residual), design.transposed_times(residual))


@dataclass
class PassBudget:
    """How to descend: precision, budget, order of the coordinates, and who watches."""

    goal: float
    max_iter: int
    rng: np.random.RandomState | None = None
    watch: Watch = ignore
    trace: Trace = field(default_factory=Trace)
    scale: float = 1.0
    """Objective and gap are divided by it where they are shown."""
    may_keep_start: bool = False
    """Whether a start that is good enough is returned as it is; otherwise it is improved at least once."""
    margin: float = 1.0
    """Part of the goal to aim for."""

    @property
    def aim(self) -> float:
        """The gap to stop at."""
        return self.margin * self.goal


def elastic_net_working_set(
    gram: WorkingGram, b: Array, penalty: ElasticNetPenalty, at: Iterate, budget: PassBudget
) -> tuple[float, int]:
    """Move ``at`` to the minimum; return the duality gap and the passes of coordinate descent done.

    Started from 0, the l1 penalty falls to its value in stages, so that the support grows and seldom has to shrink;
    with many more samples than features this is not worth its passes over the data.
    """
    n_passes, warm = 0, bool(at.w.any())
    stage = penalty if warm or _is_tall(gram) else _first_stage(penalty, at)
    lowest = LOWEST_STAGE * stage.l1
    while True:
        gap = elastic_net_gap(at.correlations, at.w, at.sq_residual, penalty.l1, penalty.l2, penalty.positive)
        _note(budget, penalty, at, gap, gram, n_passes)
        reached = (n_passes > 0 or budget.may_keep_start) and gap <= budget.aim and stage.l1 == penalty.l1
        exhausted = n_passes >= budget.max_iter or reached
        if budget.watch(at.w) or exhausted or gap == 0.0:
            return gap, n_passes
        stage = replace(penalty, l1=FALL * stage.l1 if FALL * stage.l1 > max(penalty.l1, lowest) else penalty.l1)
        _enlarge(gram, stage, at)
        n_passes += _solve_on_working_set(gram, b, stage, at, budget, budget.max_iter - n_passes)


def gap_at(gram: WorkingGram, b: Array, penalty: ElasticNetPenalty, w: Array) -> float:
    """Return the duality gap of given coefficients."""
    at = Iterate.start(gram, b, w)
    return elastic_net_gap(at.correlations, at.w, at.sq_residual, penalty.l1, penalty.l2, penalty.positive)


def least_squares(
    gram: WorkingGram, b: Array, penalty: ElasticNetPenalty, at: Iterate, budget: PassBudget
) -> tuple[float, int]:
    """Move ``at`` to the least squares solution of smallest norm: the problem without a penalty.

    The dual point is the part of the residual that no column explains; the gap is half the square norm of the rest.
    """
    A = gram.design.columns(np.arange(gram.design.shape[1]))
    at.w[:] = lstsq(A, b)[0]
    residual = b - A @ at.w
    at.sq_residual, at.correlations = float(residual @ residual), A.T @ residual
    explained = A @ lstsq(A, residual)[0]
    gap = 0.5 * float(explained @ explained)
    _note(budget, penalty, at, gap, gram, 1)
    budget.watch(at.w)
    return gap, 1


def screen_by_strong_rule(
    gram: WorkingGram, at: Iterate, previous: ElasticNetPenalty, penalty: ElasticNetPenalty
) -> None:
    """Add the columns that are likely to matter at the next penalty of a path, given those at the previous one."""
    likely = penalty.slopes(at.correlations) >= 2.0 * penalty.l1 - previous.l1
    gram.add(np.flatnonzero(likely & ~gram.holds))


def _first_stage(penalty: ElasticNetPenalty, at: Iterate) -> ElasticNetPenalty:
    """Return the l1 penalty from which the next stage admits the columns of a first working set."""
    slopes = penalty.slopes(at.correlations)
    rank = max(0, len(slopes) - FIRST_COLUMNS)
    highest = min(float(slopes.max()), float(np.partition(slopes, rank)[rank]) / FALL)
    return replace(penalty, l1=max(highest, penalty.l1))


def _is_tall(gram: WorkingGram) -> bool:
    n, p = gram.design.shape
    return p <= SMALL_WIDTH and 4 * p <= n


def _enlarge(gram: WorkingGram, penalty: ElasticNetPenalty, at: Iterate) -> None:
    """Add the support and the columns that violate optimality most, at most half as many as it has."""
    if gram.design.shape[1] <= FIRST_COLUMNS or _is_tall(gram):
        gram.add(np.flatnonzero(~gram.holds))
        return
    gram.add(np.flatnonzero((at.w != 0.0) & ~gram.holds))
    excess = penalty.slopes(at.correlations) - penalty.l1
    missing = np.flatnonzero((excess > 0.0) & ~gram.holds)
    most = max(FIRST_COLUMNS, len(gram) // 2)
    if len(missing) > most:
        missing = missing[np.argpartition(-excess[missing], most)[:most]]
    gram.add(np.sort(missing))


def _solve_on_working_set(
    gram: WorkingGram, b: Array, penalty: ElasticNetPenalty, at: Iterate, budget: PassBudget, most_passes: int
) -> int:
    """Move the coordinates of the working set to their minimum, others fixed; return the passes done."""
    columns = gram.columns
    problem = Subproblem(gram.matrix, at.correlations[columns], at.w[columns], at.sq_residual, penalty)
    goal = max(0.5 * budget.aim, 0.1 * problem.gap)  # more would be wasted: columns may be missing
    n_passes = solve_subproblem(problem, goal, EXACT * budget.goal, most_passes, budget.rng)
    at.w[columns] = problem.w
    if len(gram) == len(at.w) and _rounding(problem, b) <= NEGLIGIBLE * budget.goal:
        at.sq_residual, at.correlations[columns] = problem.sq_residual, problem.g
    else:
        residual = b - gram.times(at.w)
        at.sq_residual, at.correlations = float(residual @ residual), gram.design.transposed_times(residual)
    return n_passes


def _rounding(problem: Subproblem, b: Array) -> float:
    """Return what rounding of the Gram matrix may add to a gap computed from it."""
    k = len(problem.w)
    lengths = np.sqrt(np.diagonal(problem.G)[:k]) * np.abs(problem.w)
    return ROUNDING * (float(np.linalg.norm(b)) + float(lengths.sum())) ** 2


def _note(
    budget: PassBudget, penalty: ElasticNetPenalty, at: Iterate, gap: float, gram: WorkingGram, n_passes: int
) -> None:
    budget.trace.add(
        iteration=len(budget.trace),
        objective=(0.5 * at.sq_residual + penalty.at(at.w)) / budget.scale,
        gap=gap / budget.scale,
        working_set=len(gram),
        nonzero=int(np.count_nonzero(at.w)),
        passes=n_passes,
    )
    budget.trace.keep(coef=at.w)
