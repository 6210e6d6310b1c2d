r"""Working-set solver of the elastic net on centered, weighted data.

.. math:: \min_w\ \tfrac12 \|b - Aw\|_2^2 + l_1 \|w\|_1 + \tfrac{l_2}{2} \|w\|_2^2

Few columns matter, so the problem is solved on a small working set, by coordinate descent on its Gram matrix until the
signs settle and then exactly by Cholesky on the support. Correlations of all columns with the residual, computed afresh
from the data, then say which columns were missing and give the duality gap. The Gram matrix acts only on increments
of ``w``: like iterative refinement, this keeps the accuracy of a residual-based method.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import lstsq
from scipy.linalg.lapack import dpotrf, dpotrs

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.elastic_net_penalty import Penalty
from pellucid.numerics.coordinate_descent_kernels import elastic_net_gap, gram_descent
from pellucid.numerics.working_gram import WorkingGram

FIRST_COLUMNS = 64
"""Columns in the first working set; it may double at every enlargement."""

SMALL_WIDTH = 256
"""Up to this many features, and at most a quarter of the samples, the working set is all: one pass over ``X``."""

FALL = 0.4
"""Factor of the l1 penalty between stages, on its way from where all coefficients are 0."""

LOWEST_STAGE = 1e-3
"""Part of its first value below which the l1 penalty falls to its target at once."""

MOST_DROPS = 20
"""Most coefficients that leave the support one by one before coordinate descent takes over again."""

EXACT = 1e-6
"""Part of its goal below which a gap is taken for 0."""

SPARE_ROUNDS = 3
"""Rounds spent on reaching that after the goal."""

SMALLEST_PIVOT = 1e-10
"""Part of a column's square norm that the other columns must leave unexplained for Cholesky to be trusted."""


@dataclass
class Iterate:
    """A point of the descent with its residual ``b - A w`` and its correlations ``A'(b - A w)``."""

    w: Array
    residual: Array
    correlations: Array

    @classmethod
    def start(cls, gram: WorkingGram, b: Array, w: Array | None = None) -> Iterate:
        """Return the iterate at ``w``, or at 0."""
        design = gram.design
        point = np.zeros(design.shape[1]) if w is None else np.array(w, dtype=np.float64)
        residual = b - design.times(point) if point.any() else b.copy()
        return cls(point, residual, design.transposed_times(residual))


@dataclass
class Descent:
    """How to descend: precision, budget, order of the coordinates, and who watches."""

    goal: float
    max_iter: int
    rng: np.random.RandomState | None = None
    watch: Watch = ignore
    trace: Trace = field(default_factory=Trace)
    scale: float = 1.0
    """Objective and gap are divided by it where they are shown."""


def elastic_net_working_set(
    gram: WorkingGram, b: Array, penalty: Penalty, at: Iterate, how: Descent
) -> tuple[float, int]:
    """Move ``at`` to the minimum; return the duality gap and the passes of coordinate descent done.

    Started from 0, the l1 penalty falls to its value in stages, so that the support grows and seldom has to shrink;
    with many more samples than features this is not worth its passes over the data.
    """
    n_passes = 0
    highest = float(penalty.slopes(at.correlations).max(initial=0.0))
    lowest = LOWEST_STAGE * highest
    stage = replace(penalty, l1=max(highest, penalty.l1))
    if at.w.any() or _is_tall(gram):
        stage = penalty
    while True:
        sq_residual = float(at.residual @ at.residual)
        gap = elastic_net_gap(at.correlations, at.w, sq_residual, penalty.l1, penalty.l2, penalty.positive)
        _note(how, penalty, at, sq_residual, gap, gram, n_passes)
        exhausted = n_passes >= how.max_iter or (n_passes > 0 and gap <= how.goal and stage.l1 == penalty.l1)
        if how.watch(at.w) or exhausted or gap == 0.0:
            return gap, n_passes
        stage = replace(penalty, l1=FALL * stage.l1 if FALL * stage.l1 > max(penalty.l1, lowest) else penalty.l1)
        _enlarge(gram, stage, at)
        n_passes += _solve_on_working_set(gram, stage, at, sq_residual, how, how.max_iter - n_passes)
        at.residual = b - gram.design.times(at.w)
        at.correlations = gram.design.transposed_times(at.residual)


def least_squares(gram: WorkingGram, b: Array, penalty: Penalty, at: Iterate, how: Descent) -> tuple[float, int]:
    """Move ``at`` to the least squares solution of smallest norm: the problem without a penalty.

    The dual point is the part of the residual that no column explains; the gap is half the square norm of the rest.
    """
    A = gram.design.columns(np.arange(gram.design.shape[1]))
    at.w[:] = lstsq(A, b)[0]
    at.residual = b - A @ at.w
    at.correlations = A.T @ at.residual
    explained = A @ lstsq(A, at.residual)[0]
    gap = 0.5 * float(explained @ explained)
    _note(how, penalty, at, float(at.residual @ at.residual), gap, gram, 1)
    how.watch(at.w)
    return gap, 1


def screen_by_strong_rule(gram: WorkingGram, at: Iterate, previous: Penalty, penalty: Penalty) -> None:
    """Add the columns that are likely to matter at the next penalty of a path, given those at the previous one."""
    likely = penalty.slopes(at.correlations) >= 2.0 * penalty.l1 - previous.l1
    gram.add(np.flatnonzero(likely & ~gram.holds))


def _is_tall(gram: WorkingGram) -> bool:
    n, p = gram.design.shape
    return p <= SMALL_WIDTH and 4 * p <= n


def _enlarge(gram: WorkingGram, penalty: Penalty, at: Iterate) -> None:
    """Add the support and the columns that violate optimality most, at most doubling the working set."""
    if gram.design.shape[1] <= FIRST_COLUMNS or _is_tall(gram):
        gram.add(np.flatnonzero(~gram.holds))
        return
    gram.add(np.flatnonzero((at.w != 0.0) & ~gram.holds))
    excess = penalty.slopes(at.correlations) - penalty.l1
    missing = np.flatnonzero((excess > 0.0) & ~gram.holds)
    most = max(FIRST_COLUMNS, len(gram))
    if len(missing) > most:
        missing = missing[np.argpartition(-excess[missing], most)[:most]]
    gram.add(np.sort(missing))


def _solve_on_working_set(
    gram: WorkingGram, penalty: Penalty, at: Iterate, sq_residual: float, how: Descent, budget: int
) -> int:
    """Move the coordinates of the working set to their minimum, others fixed; return the passes done.

    Once the goal is reached, a few more rounds usually find the exact support, at little cost.
    """
    l1, l2, positive = penalty.l1, penalty.l2, penalty.positive
    w, g = at.w[gram.columns], at.correlations[gram.columns]
    # More precision would be wasted: columns may be missing.
    goal = max(0.1 * how.goal, 0.01 * elastic_net_gap(g, w, sq_residual, l1, l2, positive))
    order = np.arange(len(w))
    n_passes, patience, gap, spare_rounds = 0, 3, np.inf, SPARE_ROUNDS
    while n_passes < budget and (gap > goal or (gap > EXACT * goal and spare_rounds > 0)):
        if gap <= goal:
            patience, spare_rounds = 2, spare_rounds - 1
        if how.rng is not None:
            order = how.rng.permutation(len(w))
        passes, _, sq_residual = gram_descent(
            gram.matrix, g, w, order, l1, l2, positive, sq_residual, EXACT * goal, patience, budget - n_passes
        )
        n_passes, patience = n_passes + passes, min(2 * patience, 50)
        sq_residual = _polish(gram.matrix, g, w, penalty, sq_residual)
        gap = elastic_net_gap(g, w, sq_residual, l1, l2, positive)
    at.w[gram.columns] = w
    return n_passes


def _polish(G: Array, g: Array, w: Array, penalty: Penalty, sq_residual: float) -> float:
    """Step to the minimum on the support until no sign changes on the way; return the new ``|b - A w|^2``.

    Writes ``w`` and ``g``. With the signs fixed the objective is quadratic, so one Cholesky solve finds its minimum.
    """
    for _ in range(MOST_DROPS):
        support = np.flatnonzero(w)
        if len(support) == 0:
            return sq_residual
        old, signs = w[support], np.sign(w[support])
        H = G[np.ix_(support, support)]
        H.flat[:: len(support) + 1] += penalty.l2
        step = _newton_step(H, g[support] - penalty.l2 * old - penalty.l1 * signs)
        for moved in (_clamp(old + step, signs), _clamp(old + _distance_to_sign_change(old, step) * step, signs)):
            delta = np.zeros(len(w))
            delta[support] = moved - old
            pull = G[: len(w), : len(w)] @ delta
            change = float(delta @ pull) - 2.0 * float(delta @ g)
            if 0.5 * change + penalty.at(moved) - penalty.at(old) <= 0.0:
                w[support] = moved
                g -= pull
                sq_residual = max(sq_residual + change, 0.0)
                break
        if np.all(w[support] != 0.0):
            break
    return sq_residual


def _newton_step(H: Array, slope: Array) -> Array:
    """Solve ``H step = slope``.

    If columns depend on each other, ``H`` is damped: the step then runs along the dependence until a coefficient
    reaches 0, which is how a redundant column leaves the support.
    """
    diagonal = np.diag(H).copy()
    factor, info = dpotrf(H, lower=True, clean=False)
    if info != 0 or np.any(np.diag(factor) ** 2 < SMALLEST_PIVOT * diagonal):
        factor, info = dpotrf(H + np.diag(SMALLEST_PIVOT * diagonal), lower=True, clean=False)
    return dpotrs(factor, slope, lower=True)[0] if info == 0 else np.zeros(len(slope))


def _clamp(moved: Array, signs: Array) -> Array:
    """Set coefficients that changed sign to 0."""
    return np.where(moved * signs > 0.0, moved, 0.0)


def _distance_to_sign_change(old: Array, step: Array) -> float:
    """Return the longest multiple of the step, at most 1, before any coefficient changes sign."""
    against = old * step < 0.0
    return min(1.0, float((-old[against] / step[against]).min(initial=1.0)))


def _note(
    how: Descent, penalty: Penalty, at: Iterate, sq_residual: float, gap: float, gram: WorkingGram, n_passes: int
) -> None:
    how.trace.add(
        iteration=len(how.trace),
        objective=(0.5 * sq_residual + penalty.at(at.w)) / how.scale,
        gap=gap / how.scale,
        working_set=len(gram),
        nonzero=int(np.count_nonzero(at.w)),
        passes=n_passes,
    )
    how.trace.keep(coef=at.w)
