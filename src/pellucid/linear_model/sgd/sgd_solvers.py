"""Learning row by row: epochs until the objective, or the score of rows held out, stops improving."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.sgd.sgd_problem import SCHEDULES, StepRule
from pellucid.solvers.presented_rows import Presentation

FEW = 1 << 15
"""Entries below which an epoch is too short to be worth a thread."""

MANY_ROWS, BLOCK = 8192, 64
"""From so many rows on an epoch shuffles blocks of neighbors, which memory delivers four times as fast as lone rows.
Neighbors are no relatives: they stand in the order of what they hold, hashed."""

MOST_COPIED = 1 << 28
"""Bytes of rows that may be copied into the order of the epochs."""

SMALLEST_ADAPTIVE_STEP = 1e-6


@dataclass(frozen=True)
class LearningRows:
    """The rows to learn from, as the kernels read them, and those held out to decide when to stop."""

    X: SparseOrDense
    weight: Array
    order: Array
    held_out: Array
    sq_norms: Array

    @property
    def size(self) -> int:
        """Entries that an epoch reads."""
        return int(self.X.nnz if sparse.issparse(self.X) else self.X.size)


@dataclass
class LearningMachine:
    """One line between a class (``y`` = +1) and the rest (-1), and where its learning stands.

    ``dual`` gives the weights as a sum over the rows, unless they start elsewhere than 0 or have an l1 penalty.
    """

    y: Array
    cost: Array
    w: Array
    intercept: float
    average: Array
    average_intercept: float
    seed: int
    n_iter: int = 0
    n_updates: int = 0
    n_steps: int = 0
    dual: Array = field(default_factory=lambda: np.zeros(0))
    objective: float = math.nan
    is_done: bool = False


@dataclass(frozen=True)
class EpochStopping:
    """When to stop: after ``patience`` epochs in a row that improve by less than ``tol``; None for never."""

    max_iter: int
    tol: float | None
    patience: int
    is_adaptive: bool = False


def learn(
    machines: list[LearningMachine],
    rows: LearningRows,
    rule: StepRule,
    stopping: EpochStopping,
    *,
    first_step: float,
    shuffle: bool,
    watch: Watch = ignore,
) -> Trace:
    """Run epochs on all machines, a thread each, until every one is done; return the trace."""
    learners = [_Learner(machine, rows, rule, stopping, first_step, shuffle) for machine in machines]
    trace = Trace()
    for epoch in range(1, stopping.max_iter + 1):
        active = [learner for learner in learners if not learner.machine.is_done]
        if len(active) > 1 and rows.size >= FEW:
            run_blocks(_Learner.run_epoch, active)
        else:
            for learner in active:
                learner.run_epoch()
        objective = sum(machine.objective for machine in machines)
        trace.add(iteration=epoch, objective=objective, updates=float(sum(m.n_updates for m in machines)))
        trace.keep(coef=np.stack([machine.w for machine in machines]), order=[learner.order for learner in learners])
        stop = watch is not ignore and watch(machines)
        if stop or all(machine.is_done for machine in machines):
            break
    return trace


class _Learner:
    """Runs the epochs of one machine."""

    def __init__(
        self,
        machine: LearningMachine,
        rows: LearningRows,
        rule: StepRule,
        stopping: EpochStopping,
        first_step: float,
        shuffle: bool,
    ) -> None:
        from pellucid.linear_model.sgd import sgd_kernels as kernels

        self.kernels, self.machine, self.rows, self.rule, self.stopping = kernels, machine, rows, rule, stopping
        self.state = np.zeros(kernels.STATE_SIZE)
        self.state[kernels.INTERCEPT] = machine.intercept
        self.state[kernels.AVERAGE_INTERCEPT] = machine.average_intercept
        self.state[[kernels.SCALE, kernels.AVERAGE_SIZE]] = 1.0
        self.state[kernels.STEP], self.state[kernels.ETA] = first_step, rule.eta0
        self.random = np.random.default_rng(machine.seed) if shuffle else None
        self.paid, self.order = np.zeros(len(machine.w)), rows.order
        machine.dual = np.zeros(rows.X.shape[0])
        self.total = float(rows.weight[rows.order].sum())
        self.best, self.waited = -math.inf, 0

    def run_epoch(self) -> None:
        machine, state, kernels = self.machine, self.state, self.kernels
        self.order = self.rows.order if self.random is None else shuffled(self.rows.order, self.random)
        state[kernels.OBJECTIVE] = 0.0
        state[kernels.SQ_NORM], state[kernels.L1_NORM] = machine.w @ machine.w, np.abs(machine.w).sum()
        arrays = (self.order, machine.y, self.rows.weight, machine.cost, self.rows.sq_norms, machine.w)
        kept = (self.paid, machine.average, machine.dual, state, self.rule)
        X = self.rows.X
        if sparse.issparse(X):
            kernels.sparse_epoch(X.data, X.indices, X.indptr, *arrays, *kept)
        else:
            kernels.dense_epoch(X, *arrays, *kept)
        kernels.rescale(machine.w, machine.average, machine.dual, state)
        machine.n_iter += 1
        machine.n_updates, machine.n_steps = int(state[kernels.UPDATES]), int(state[kernels.STEP]) - 1
        machine.intercept = float(state[kernels.INTERCEPT])
        machine.average_intercept = float(state[kernels.AVERAGE_INTERCEPT])
        machine.objective = float(state[kernels.OBJECTIVE]) / self.total
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = math.isfinite(machine.intercept) and math.isfinite(machine.w @ machine.w)
        if not is_finite:  # whether a loop goes on to infinity or to what is not a number, its compiler decides
            raise ValueError(
                f"X must be scaled so that the weights stay finite, got an overflow in epoch {machine.n_iter}. "
                "Floating-point under-/overflow occurred: StandardScaler or a smaller eta0 helps."
            )
        machine.is_done = self._is_done()

    def _is_done(self) -> bool:
        stopping, state, ETA = self.stopping, self.state, self.kernels.ETA
        value = self._held_out_score() if len(self.rows.held_out) else -self.machine.objective
        improves = stopping.tol is None or value >= self.best + stopping.tol
        self.waited = 0 if improves else self.waited + 1
        self.best = max(self.best, value)
        if self.waited < stopping.patience:
            return False
        if stopping.is_adaptive and state[ETA] > SMALLEST_ADAPTIVE_STEP:
            state[ETA] /= 5.0
            self.waited = 0
            return False
        return True

    def _held_out_score(self) -> float:
        """Return the weighted share of the rows held out that are on their side."""
        rows, machine = self.rows, self.machine
        scores = np.asarray(rows.X[rows.held_out] @ machine.w) + machine.intercept
        is_right = (scores > 0.0) == (machine.y[rows.held_out] > 0.0)
        return float(np.average(is_right, weights=rows.weight[rows.held_out]))


def shuffled(order: Array, random: np.random.Generator) -> Array:
    """Return the rows in random order; many rows in blocks, cut and ordered anew each time."""
    if len(order) < MANY_ROWS:
        return random.permutation(order)
    rolled = np.roll(order, random.integers(BLOCK))
    n_blocks = len(order) // BLOCK
    blocks = rolled[: n_blocks * BLOCK].reshape(n_blocks, BLOCK)
    return np.concatenate([blocks[random.permutation(n_blocks)].ravel(), rolled[n_blocks * BLOCK :]])


def gather_rows(
    X: SparseOrDense, shown: Presentation, train: Array, held_out: Array, rule: StepRule, *, copy: bool
) -> tuple[LearningRows, Array]:
    """Return the rows for the kernels and their positions in ``X``; a copy, if it is not too large, is in order.

    ``train`` and ``held_out`` are positions in ``X``.
    """
    kept, place = np.arange(X.shape[0]), np.arange(X.shape[0])
    size = X.data.nbytes if sparse.issparse(X) else X.nbytes
    if copy and size <= MOST_COPIED:
        kept = shown.order
        place[kept] = np.arange(len(kept))
        X = X[kept]
    return LearningRows(X, shown.weight[kept], place[train], place[held_out], _squared_norms(X, rule)), kept


def scattered(dual: Array, kept: Array, n: int) -> Array:
    """Return values of the rows kept as values of all ``n`` rows."""
    full = np.zeros(n)
    full[kept] = dual
    return full


def _squared_norms(X: SparseOrDense, rule: StepRule) -> Array:
    """Return the squared norm of each row where the rule needs it, zeros otherwise."""
    if rule.shrink == 0.0 and rule.schedule not in (SCHEDULES["pa1"], SCHEDULES["pa2"]):
        return np.zeros(X.shape[0])
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)
