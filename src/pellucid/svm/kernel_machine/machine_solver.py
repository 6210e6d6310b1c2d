"""Sequential minimal optimization, a working set at a time, until float64 confirms the answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from pellucid.core.arrays import is_foreign
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.kernels import Linear
from pellucid.proofs.rounding import EPSILON
from pellucid.svm.kernel_machine.interior_point import QUICK_FACTOR, FewFeatures, WorkingSet, interior_point
from pellucid.svm.kernel_machine.kernel_sums import PreciseBlocks, SumBlocks, blocks_of
from pellucid.svm.kernel_machine.machine_kernels import CHUNK, pair_steps_of_all, survey
from pellucid.svm.kernel_machine.machine_measures import LARGEST_GAP
from pellucid.svm.kernel_machine.machine_problem import (
    MachineFit,
    MachineProblem,
    NotSeparableError,
    machine_point,
)
from pellucid.svm.kernel_machine.product_rows import FeatureRows, GivenRows, ProductRows

FEW_ROWS = 1024
"""Rows up to which all products are in float64 at once: they fit in the cache."""

WORKING_SET = 256, 4096
"""Fewest and most coefficients that change together between two passes over all rows: half as many again as are inside
their boxes, because those depend on each other."""

NEARER, LEAST_NEARER = 0.9, 1e-3
"""Of the tolerance: where quick products may stop, so that float64 agrees; the second, where it does not at first."""

SHARE = 0.1
"""Of the violation seen over all rows, how much a working set may keep: the next set would undo more precision."""

FEW_COLUMNS = 512
"""Columns up to which a linear kernel begins with an interior point, whose equations have as many rows."""

EASY = 10
"""Pair steps per row within which a machine of few rows is done at once."""

SLOW = 0.5
"""If float64 finds more than this share of the violation it found last time, the products are too rough."""

STILL, PATIENCE = 1e-12, 30
"""Share of the dual objective that is no progress, and after how many working sets without any to stop."""

HIDDEN = 1e-2
"""Rounding of a product times the width of its box from which a machine is solved as a hard margin is."""

LOOSE, QUICK_STEPS = 100.0, 200
"""How many tolerances a machine on the way to a hard margin may be off, and its pair steps per row: its dual objective
is a bound all the same."""

CLEARLY = 2.0
"""How many violations a row must be beyond every pair to be set aside."""

WORTH_SHRINKING = 0.25
"""Share of the active rows that must have become idle before they are set aside."""


class Products(Protocol):
    """What the solver asks of products of rows; see ``ProductRows``."""

    active: Array

    def take(self, places: Array) -> Array:
        """Return the slots of the rows at these places among the active ones."""

    def among(self, slots: Array, places: Array, size: int) -> Array:
        """Return the products of rows in these slots with those at these places, and zeros up to a size."""

    def add_to(self, gradient: Array, slots: Array, change: Array) -> None:
        """Add the rows of these slots, times a change, to the gradient."""

    def narrow(self, keep: Array) -> None:
        """Leave only the active rows where ``keep`` is true."""

    def restore(self) -> None:
        """Make all rows active."""


@dataclass(frozen=True)
class MachineEffort:
    """How precise the answer must be and what it may cost."""

    tol: float = 1e-3
    max_iter: float = np.inf
    room: float = 200.0 * 2**20
    shrinking: bool = True
    watch: Watch = ignore

    def is_enough(self, share: float, violation: float, gap: float, objective: float) -> bool:
        """Return whether conditions and gap are within a share of what is allowed."""
        return violation <= share * self.tol and gap <= share * self.allowed_gap(objective)

    def allowed_gap(self, objective: float) -> float:
        """Return how far the objective may be above its minimum."""
        return min(self.tol, LARGEST_GAP) * abs(objective)


def solve_machine(
    problem: MachineProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 200.0,
    shrinking: bool = True,
    start: Array | None = None,
    watch: Watch = ignore,
) -> MachineFit:
    """Return the machine whose conditions hold within ``tol`` and whose gap is small, both measured in float64.

    ``cache_size`` in MB bounds the products kept; ``max_iter`` the pair steps, -1 for no bound; ``start`` is a feasible
    point to begin at.
    """
    effort = MachineEffort(tol, np.inf if max_iter < 0 else max_iter, cache_size * 2.0**20, shrinking, watch)
    widest = float((problem.upper - problem.lower).max(initial=0.0))
    if math.isfinite(widest) and widest * float(np.abs(problem.diagonal()).max(initial=0.0)) * EPSILON <= HIDDEN:
        is_small = problem.is_matrix and problem.n <= FEW_ROWS and start is None and watch is ignore
        return (at_once(problem, effort) if is_small else None) or PairDescent(problem, effort, start).run()
    quick = replace(effort, tol=LOOSE * tol, max_iter=min(effort.max_iter, QUICK_STEPS * problem.n))

    def solve(boxed: MachineProblem, begin: Array | None, loosely: bool) -> MachineFit:
        return PairDescent(boxed, quick if loosely else effort, begin).run()

    return hard_margin(problem, solve)


def at_once(problem: MachineProblem, effort: MachineEffort) -> MachineFit | None:
    """Return what a descent finds of few rows, all of them its first working set; None if it is not done by then.

    The steps are the same. Of a hundred rows, what happens before and after them takes half the time.
    """
    n, chunks = problem.n, -(-problem.n // CHUNK)
    point, seen = np.zeros((4, n)), np.empty((2, 3))
    point[1] -= problem.target
    boxes = np.array([problem.lower, problem.upper])
    room = np.zeros((chunks * CHUNK + 7, chunks, CHUNK))
    most = min(EASY * n, effort.max_iter)
    steps = pair_steps_of_all(problem.rows, point, boxes, problem.tube, 0.5 * effort.tol, most, room, seen)
    coef = point[0]
    found = machine_point(problem, coef, problem.gradient(coef), n_iter=steps, trace=Trace())
    (least, largest, gap), (least_now, largest_now, gap_now) = seen.tolist()
    is_usual = SHARE * (largest - least) >= 0.5 * effort.tol  # the precision that a descent would ask for
    if not (
        is_usual
        and steps < most
        and effort.is_enough(NEARER, largest_now - least_now, gap_now, found.dual + gap_now)
        and effort.is_enough(1.0, found.violation, found.gap, found.objective)
    ):
        return None
    trace = found.trace
    trace.add(iteration=1, dual=0.0, gap=gap, violation=largest - least, pair_steps=0, working_set=0, shrunk=0.0)
    violation = max(0.0, largest_now - least_now)
    trace.add(
        iteration=2, dual=found.dual, gap=gap_now, violation=violation, pair_steps=steps, working_set=n, shrunk=0.0
    )
    return found


class PairDescent:
    """The state of one descent: coefficients, their gradient, and the rows that are looked at."""

    def __init__(self, problem: MachineProblem, effort: MachineEffort, start: Array | None = None) -> None:
        self.problem, self.effort = problem, effort
        self.coef = _first_coef(problem) if start is None else np.array(start, dtype=np.float64)
        self.gradient = problem.gradient(self.coef)
        self.dual = machine_point(problem, self.coef, self.gradient).dual
        self.working = np.array([], dtype=np.intp)
        self.steps, self.trace, self.nearer = 0, Trace(), NEARER
        self.is_precise = problem.n <= FEW_ROWS and not isinstance(problem.kernel, Linear)
        self._has_matrix = self.is_precise and problem.is_matrix
        self.products = self._make_products(np.float64 if self.is_precise else np.float32)
        self.is_stuck = False

    def _make_products(self, dtype: type[np.floating]) -> Products:
        problem, room = self.problem, self.effort.room
        if isinstance(problem.kernel, Linear):
            self.most_together = WORKING_SET[1]
            return FeatureRows(problem.rows)
        if self._has_matrix:
            self.most_together = problem.n
            return GivenRows(problem.rows)
        if is_foreign(problem.rows):
            from pellucid.svm.kernel_machine.machine_on_device import ProductsOnDevice

            self.most_together = WORKING_SET[1]
            return ProductsOnDevice(problem.kernel, problem.rows, np.dtype(dtype))
        self.most_together = int(np.clip(room / (np.dtype(dtype).itemsize * problem.n), 2, WORKING_SET[1]))
        if dtype is np.float64 and not problem.kernel.is_given:
            blocks: SumBlocks = PreciseBlocks(problem.kernel, problem.rows)
        else:
            blocks = blocks_of(problem.kernel, problem.rows, room=0.5 * room)
        return ProductRows(blocks, problem.n, size=room, least=self.most_together, dtype=np.dtype(dtype))

    def run(self) -> MachineFit:
        """Descend with quick products; compute the gradient anew in float64, and go on until it agrees."""
        last, best = np.inf, -np.inf
        while True:
            go_on = self._descend()
            self.gradient = self.problem.gradient(self.coef)
            point = machine_point(self.problem, self.coef, self.gradient, n_iter=self.steps, trace=self.trace)
            self.dual = point.dual
            is_lost = self.is_stuck and point.dual <= best + STILL * abs(best)  # what is left is rounding
            is_slow, best = point.violation > SLOW * last or is_lost, max(best, point.dual)
            converged = self.effort.is_enough(1.0, point.violation, point.gap, point.objective)
            if converged or not go_on or (is_slow and self.is_precise):
                return replace(point, converged=converged)
            last = point.violation
            if point.violation <= self.effort.tol and self.nearer > LEAST_NEARER:
                self.nearer *= 0.5  # the gap at this bias is larger than the one on the way, at another
                last = np.inf
            elif not self.is_precise and (is_slow or self.is_stuck):
                self.products, self.is_precise, last = self._make_products(np.float64), True, np.inf
                self.is_stuck = False
            if len(self.products.active) < self.problem.n:
                self.products.restore()

    def _descend(self) -> bool:
        """Solve working sets until the conditions hold for the active rows; return whether there is time to go on."""
        rows = ActiveRows(self, self.products.active)
        best, since, alone = self.dual, 0, 0
        while True:
            least, largest, gap = rows.survey()
            self.trace.add(
                iteration=len(self.trace) + 1,
                dual=self.dual,
                gap=gap,
                violation=max(0.0, largest - least),
                pair_steps=self.steps,
                working_set=len(self.working),
                shrunk=1.0 - len(rows.coef) / self.problem.n,
            )
            is_stopped = self.effort.watch(self.coef, -0.5 * (least + largest))
            if self.effort.is_enough(self.nearer, largest - least, gap, self.dual + gap):
                return True
            if is_stopped or self.steps >= self.effort.max_iter:
                return False
            best, since = (self.dual, 0) if self.dual > best + STILL * abs(best) else (best, since + 1)
            if since > PATIENCE:
                return True  # steps move nothing but rounding: let float64 look
            if self.effort.shrinking and len(rows.coef) > WORKING_SET[0]:
                clear = CLEARLY * (largest - least)
                idle = (rows.rising > largest + clear) & (rows.falling < least - clear)
                if idle.sum() > max(WORKING_SET[0], WORTH_SHRINKING * len(idle)):
                    self.gradient[rows.names] = rows.gradient
                    self.products.narrow(~idle)
                    rows = ActiveRows(self, self.products.active)
                    continue
            if not self._improve(rows, least, largest, gap):
                return True  # rounding is in the way: let float64 look
            alone += self.is_stuck  # sets that pairs must solve alone, which may take for ever
            if alone > (PATIENCE if self.is_precise else 0):
                return True

    def _improve(self, rows: ActiveRows, least: float, largest: float, gap: float) -> int:
        """Solve one working set and tell all active rows; return how many pairs moved."""
        places = self._working_set(rows, least, largest)
        tol = SHARE * (largest - least)
        if gap <= self.nearer * self.effort.allowed_gap(self.dual + gap):
            tol = max(tol, 0.5 * self.effort.tol)
        if len(places) == len(rows.coef):  # nobody else will undo it
            tol = min(tol, 0.5 * self.effort.tol)
        slots = self.products.take(places)
        chosen = WorkingSet(
            self.products.among(slots, places, len(places) + -len(places) % CHUNK),
            rows.coef[places],
            rows.gradient[places],
            rows.lower[places],
            rows.upper[places],
            self.problem.tube,
        )
        steps, is_lower = chosen.solve(tol, self.effort.max_iter - self.steps, may_leap=not self.is_stuck)
        self.is_stuck = self.is_stuck or not is_lower
        change = chosen.coef - rows.coef[places]
        moved = np.flatnonzero(change)
        self.products.add_to(rows.gradient, slots[moved], change[moved])
        rows.coef[places] = self.coef[rows.names[places]] = chosen.coef
        self.dual += chosen.gain
        self.steps += steps
        self.working = rows.names[places]
        return steps

    def _working_set(self, rows: ActiveRows, least: float, largest: float) -> Array:
        """Return the places of the worst violators of both kinds, then of the last set, inside their boxes first."""
        if len(rows.coef) <= min(QUICK_FACTOR, self.most_together):
            return np.arange(len(rows.coef))
        free = int(np.count_nonzero((rows.coef > rows.lower) & (rows.coef < rows.upper)))
        size = min(self.most_together, max(WORKING_SET[0], free + free // 2 + -(free + free // 2) % CHUNK))
        if len(rows.coef) <= size:
            return np.arange(len(rows.coef))
        each = max(1, size // (2 if len(self.working) == 0 else 4))
        upwards = np.argpartition(rows.rising, each)[:each]
        downwards = np.argpartition(rows.falling, len(rows.coef) - each)[-each:]
        fresh = np.union1d(upwards[rows.rising[upwards] < largest], downwards[rows.falling[downwards] > least])
        place = np.full(self.problem.n, -1)
        place[rows.names] = np.arange(len(rows.names))
        place[rows.names[fresh]] = -1
        kept = place[self.working]
        kept = kept[kept >= 0]
        inside = (rows.coef[kept] > rows.lower[kept]) & (rows.coef[kept] < rows.upper[kept])
        kept = kept[np.argsort(~inside, kind="stable")][: size - len(fresh)]
        return np.sort(np.concatenate([fresh, kept]))


def _first_coef(problem: MachineProblem) -> Array:
    """Return where to begin: near the minimum for linear kernels of few columns, at 0 otherwise."""
    rows = problem.rows
    if (
        not isinstance(problem.kernel, Linear)
        or sp.issparse(rows)
        or rows.shape[1] > FEW_COLUMNS
        or problem.n <= QUICK_FACTOR
    ):
        return np.zeros(problem.n)
    centered = rows - rows.mean(axis=0, dtype=np.float64)
    return interior_point(FewFeatures(centered), problem.target, problem.lower, problem.upper, problem.tube)


class ActiveRows:
    """The rows that a descent looks at, side by side in memory."""

    def __init__(self, descent: PairDescent, names: Array) -> None:
        problem = descent.problem
        self.names, self.tube = names, problem.tube
        self.coef, self.gradient = descent.coef[names], descent.gradient[names]
        self.lower, self.upper = problem.lower[names], problem.upper[names]
        self.rising, self.falling = np.empty(len(names)), np.empty(len(names))

    def survey(self) -> tuple[float, float, float]:
        """Measure the slopes; return the least upwards, the largest downwards, and the gap of these rows."""
        return survey(self.coef, self.gradient, self.lower, self.upper, self.tube, self.rising, self.falling)


TIMES = 100.0
"""By how much C grows from one machine to the next."""

GROWTH = 1.5
"""By how much the dual objective must grow with C at least where a machine was not solved, or no more C is tried."""

THIN = 1e-6
"""Margin, as a share of the longest row in the space of the kernel, below which classes count as not separable."""

THINNEST = 1e-7
"""The same for a box that is finite but wide: the square of a thinner margin is rounding of the products."""

Solve = Callable[[MachineProblem, Array | None, bool], MachineFit]
"""The machine of a box, from a start; loosely or as well as asked for."""


def hard_margin(problem: MachineProblem, solve: Solve) -> MachineFit:
    """Return the machine of an infinite box, from those of growing boxes, each begun where the last one ended.

    If no coefficient is at the end of its box, the box does not matter. Otherwise the dual objective is at most half
    the squared norm of any separating machine, so that a large one says how thin the margin must be: too thin, and
    there is none that could be told from rounding. A box that is finite, but so wide that rounding of the scores would
    hide the tolerance, is treated alike: the machine is then the last one that could be measured. A regressor that
    allows no error beyond its tube is the same with half the range of the targets in place of 1.
    """
    is_regressor = bool(np.any(np.isinf(problem.lower) & np.isinf(problem.upper)))
    reach = 0.5 * float(np.ptp(problem.target)) if is_regressor else 1.0
    longest = float(np.sqrt(problem.diagonal().max(initial=0.0)))
    if longest == 0.0 and not (is_regressor and reach <= problem.tube):
        raise _refusal(0.0, is_regressor)
    widest = float(np.max(problem.upper - problem.lower))
    last = 0.0
    C, start, trace, n_iter = (reach or 1.0) / (longest or 1.0) ** 2, None, Trace(), 0
    while True:
        boxed = replace(problem, lower=np.maximum(problem.lower, -C), upper=np.minimum(problem.upper, C))
        machine = solve(boxed, start, True)
        trace, n_iter = Trace.joined([trace, machine.trace], renumber=True), n_iter + machine.n_iter
        if (machine.converged and _is_inside(machine, C)) or widest <= C:
            machine = solve(boxed, machine.coef, False)
            trace, n_iter = Trace.joined([trace, machine.trace], renumber=True), n_iter + machine.n_iter
            if _is_inside(machine, C) or widest <= C:
                return replace(machine, trace=trace, n_iter=n_iter)
        margin = reach / np.sqrt(2.0 * machine.dual) if machine.dual > 0.0 else np.inf
        is_lost = not machine.converged and machine.dual < GROWTH * last  # in rounding
        if (is_lost or margin <= THIN * longest) and not np.isfinite(widest):
            raise _refusal(margin, is_regressor)
        if is_lost or margin <= THINNEST * longest:
            return machine_point(problem, machine.coef, machine.gradient, n_iter=n_iter, trace=trace, converged=False)
        C, start, last = TIMES * C, machine.coef, machine.dual


def _is_inside(machine: MachineFit, C: float) -> bool:
    return bool(np.abs(machine.coef).max(initial=0.0) < C)


def _refusal(margin: float, is_regressor: bool) -> NotSeparableError:
    if is_regressor:
        return NotSeparableError(
            "C must be finite where no function stays within epsilon of all targets, got inf. Use a C such as 1000, a "
            "larger epsilon or another kernel."
        )
    return NotSeparableError(
        f"C must be finite for classes that cannot be separated, got inf: no margin is wider than {margin:.1g}."
        " Use a C such as 1000, or another kernel."
    )
