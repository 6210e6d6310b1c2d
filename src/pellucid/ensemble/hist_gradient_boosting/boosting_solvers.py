"""Gradient boosting: each tree takes a Newton step against the loss of what the trees before it predict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.ensemble.hist_gradient_boosting import growing_layout as layout
from pellucid.ensemble.hist_gradient_boosting.boosting_losses import BoostingLoss, weighted_quantile
from pellucid.ensemble.hist_gradient_boosting.boosting_rules import draw_keys
from pellucid.ensemble.hist_gradient_boosting.tree_growing import Bins, TreeGrower, TreeSettings, pack, raw_values
from pellucid.tree.packed_trees import PackedTrees, join_trees

ROWS_AT_ONCE = 16_384
ORDINARY = 250
"""Binary exponent up to which targets are taken as they are: gains are squares of them."""

LARGEST = 1e150
"""Derivatives above it have no finite squares."""


@dataclass(frozen=True)
class BoostedRows:
    """Rows with numbers or class codes as targets; weights are None where all rows count once."""

    X: Array
    y: Array
    weight: Array | None = None

    @property
    def weights(self) -> Array:
        """The weights, also where all are 1."""
        return np.ones(len(self.y)) if self.weight is None else self.weight


@dataclass(frozen=True)
class EarlyStopping:
    """When to stop early: after ``patience`` rounds none of whose scores is better by ``tol`` than the one before."""

    patience: int
    tol: float
    held_out: BoostedRows | None = None
    score: Callable[[Array, Array | None], tuple[float, float | None]] | None = None
    """Scores of raw predictions for training and held-out rows; without it, minus the loss is the score."""

    def is_over(self, scores: Sequence[float]) -> bool:
        """Return whether the scores, larger for better, have stopped to rise."""
        if len(scores) <= self.patience:
            return False
        return not any(score > scores[-self.patience - 1] + self.tol for score in scores[-self.patience :])


@dataclass(frozen=True)
class Boosting:
    """A problem of boosting: rows in bins, the loss, how trees are grown and when to stop."""

    rows: BoostedRows
    bins: Bins
    edges: list[Array]
    loss: BoostingLoss
    tree: TreeSettings
    max_iter: int
    keys: np.random.Generator
    stopping: EarlyStopping | None = None
    watch: Watch = ignore

    @property
    def n_outputs(self) -> int:
        """How many raw predictions a row has."""
        return self.loss.n_outputs


@dataclass
class Ensemble:
    """What boosting has so far."""

    baseline: Array
    raw: Array
    """Raw predictions of the training rows, (n_outputs, n_samples)."""
    packs: list[PackedTrees] = field(default_factory=list)
    train_scores: list[float] = field(default_factory=list)
    held_out_scores: list[float] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    held_out_raw: Array | None = None
    n_rounds: int = 0
    """Rounds done, those of an earlier fit included."""

    @property
    def trees(self) -> PackedTrees:
        """All trees as one pack."""
        if len(self.packs) > 1:
            self.packs = [join_trees(self.packs)]
        return self.packs[0]


def boost(problem: Boosting, earlier: Ensemble | None = None) -> Ensemble:
    """Add rounds until there are ``max_iter`` or the scores no longer rise."""
    scale = unit_of_target(problem)
    if scale == 1.0:
        return _boost(problem, earlier or start(problem))
    found = _boost(in_units(problem, scale), earlier and rescaled(earlier, problem.loss, 1.0 / scale))
    return rescaled(found, problem.loss, scale)


def start(problem: Boosting) -> Ensemble:
    """Return the ensemble before the first round: the constant that fits best."""
    rows = problem.rows
    baseline = problem.loss.best_constant(rows.y, rows.weights)
    return Ensemble(baseline, np.repeat(baseline[:, np.newaxis], len(rows.y), axis=1))


def _boost(problem: Boosting, found: Ensemble | None) -> Ensemble:
    found = found or start(problem)
    is_first = found.n_rounds == 0
    grower, derivatives = TreeGrower(problem.bins, problem.tree), Derivatives(problem)
    predict_held_out(problem, found)
    loss = derivatives.update(found.raw)
    if is_first:
        note_scores(problem, found, loss)
    while found.n_rounds < problem.max_iter:
        new = [add_tree(problem, found, grower, derivatives, k) for k in range(problem.n_outputs)]
        found.packs.append(join_trees(new) if len(new) > 1 else new[0])
        found.n_rounds += 1
        if found.held_out_raw is not None and problem.stopping and problem.stopping.held_out:
            found.held_out_raw += raw_values(found.packs[-1], problem.stopping.held_out.X, problem.n_outputs)
        loss = derivatives.update(found.raw)
        found.trace.add(iteration=found.n_rounds, objective=loss, leaves=sum(int(one.is_leaf.sum()) for one in new))
        is_over = note_scores(problem, found, loss)
        if problem.watch(found) or is_over:
            break
    return found


def predict_held_out(problem: Boosting, found: Ensemble) -> None:
    """Set the raw predictions of the held-out rows, if there are any."""
    held_out = problem.stopping.held_out if problem.stopping else None
    if held_out is not None:
        found.held_out_raw = np.repeat(found.baseline[:, np.newaxis], len(held_out.y), axis=1)
        if found.packs:
            found.held_out_raw += raw_values(found.trees, held_out.X, problem.n_outputs)


class Derivatives:
    """First and second derivatives of the loss of every row, and the mean loss, at the present predictions."""

    def __init__(self, problem: Boosting) -> None:
        rows = problem.rows
        n, is_weighted = len(rows.y), rows.weight is not None
        is_curved = is_weighted or problem.loss.is_curved
        self.loss = problem.loss
        self.y, self.weight = rows.y, rows.weight if rows.weight is not None else np.ones(1)
        self.total = float(n) if rows.weight is None else float(rows.weight.sum())
        self.gradients, self.hessians = np.empty(n), np.ones(n if is_curved else 1)
        self.normalizer = np.empty(n if problem.n_outputs > 1 else 0)
        self.largest = np.ones(2)
        self.blocks = [slice(i, min(i + ROWS_AT_ONCE, n)) for i in range(0, n, ROWS_AT_ONCE)]

    def update(self, raw: Array) -> float:
        """Take over new predictions and return their mean loss."""
        from pellucid.ensemble.hist_gradient_boosting.gradient_kernels import normalize

        if self.loss.n_outputs == 1:
            return self.of(0, raw) / self.total
        work = (self.y, raw, self.weight, self.normalizer)
        return math.fsum(run_blocks(lambda part: normalize(*work, part.start, part.stop), self.blocks)) / self.total

    def of(self, k: int, raw: Array) -> float:
        """Write the derivatives by output ``k``; return the sum of losses, which of several outputs is left out."""
        from pellucid.ensemble.hist_gradient_boosting.gradient_kernels import differentiate

        loss = (self.loss.number, self.loss.level or 0.0)
        work = (*loss, self.y, raw, self.weight, k, self.normalizer, self.gradients, self.hessians)
        parts = np.array(run_blocks(lambda part: differentiate(*work, part.start, part.stop), self.blocks))
        self.largest = parts[:, 1:].max(axis=0)
        if not np.isfinite(self.largest).all() or self.largest.max() > LARGEST:
            raise ValueError(
                f"predictions must stay finite, but a derivative of the loss is {self.largest.max():g}. "
                "Lower learning_rate, or scale y."
            )
        return math.fsum(parts[:, 0])


def add_tree(problem: Boosting, found: Ensemble, grower: TreeGrower, derivatives: Derivatives, k: int) -> PackedTrees:
    """Grow the tree of output ``k``, add its values to the raw predictions and return it."""
    if problem.n_outputs > 1:
        derivatives.of(k, found.raw)
    level = problem.loss.level
    raw = found.raw[k] if level is None else np.empty(0)
    keys = draw_keys(problem.keys, problem.tree.max_features, grower.most_leaves, len(problem.bins.n_bins))
    nodes, measures = grower.grow(derivatives.gradients, derivatives.hessians, derivatives.largest, raw, keys)
    if level is not None:
        set_quantiles(problem, level, found.raw[k], grower, nodes, measures)
    weights = (nodes[:, layout.LAST] - nodes[:, layout.FIRST]).astype(np.float64)
    if problem.rows.weight is not None:
        mass = np.concatenate([[0.0], np.cumsum(problem.rows.weight[grower.lines.rows])])
        weights = mass[nodes[:, layout.LAST]] - mass[nodes[:, layout.FIRST]]
    return pack([(nodes, measures)], problem.edges, [weights])


def set_quantiles(
    problem: Boosting, level: float, raw: Array, grower: TreeGrower, nodes: Array, measures: Array
) -> None:
    """Set the leaves to the shrunken quantiles of their residuals, and add them to the predictions."""

    def fit_leaf(leaf: int) -> None:
        rows = grower.rows_of(nodes[leaf])
        weight = np.ones(len(rows)) if problem.rows.weight is None else problem.rows.weight[rows]
        value = weighted_quantile(problem.rows.y[rows] - raw[rows], weight, level)
        measures[leaf, layout.VALUE] = value * problem.tree.learning_rate
        raw[rows] += measures[leaf, layout.VALUE]

    run_blocks(fit_leaf, np.flatnonzero(nodes[:, layout.LEFT] == 0))  # type: ignore[arg-type]


def note_scores(problem: Boosting, found: Ensemble, loss: float) -> bool:
    """Write down the scores of this round, where early stopping wants them; return whether it stops."""
    stopping = problem.stopping
    if stopping is None:
        return False
    if stopping.score is not None:
        train, held_out = stopping.score(found.raw, found.held_out_raw)
    else:
        train, held_out = -loss, None
        if stopping.held_out is not None and found.held_out_raw is not None:
            rows = stopping.held_out
            losses = problem.loss.of_rows(rows.y, found.held_out_raw)
            held_out = -float(np.average(losses, weights=rows.weight))
    found.train_scores.append(train)
    if held_out is not None:
        found.held_out_scores.append(held_out)
    return stopping.is_over(found.train_scores if held_out is None else found.held_out_scores)


def unit_of_target(problem: Boosting) -> float:
    """Return a power of two in whose units the targets are ordinary numbers, 1 where they are or must be."""
    if not problem.loss.power:
        return 1.0
    exponent = math.frexp(float(np.abs(problem.rows.y).max(initial=0.0)))[1]
    return 1.0 if abs(exponent) <= ORDINARY else math.ldexp(1.0, exponent)


def in_units(problem: Boosting, scale: float) -> Boosting:
    """Return the problem with targets in other units."""
    stopping = problem.stopping
    if stopping is not None and stopping.held_out is not None:
        held_out = replace(stopping.held_out, y=stopping.held_out.y / scale)
        stopping = replace(stopping, held_out=held_out)
    return replace(problem, rows=replace(problem.rows, y=problem.rows.y / scale), stopping=stopping)


def rescaled(found: Ensemble, loss: BoostingLoss, scale: float) -> Ensemble:
    """Return the ensemble for targets in other units, exactly: scales are powers of two."""
    of_loss = scale**loss.power
    trace = Trace()
    for row in found.trace:
        trace.add(**{**row, "objective": row["objective"] * of_loss})
    return Ensemble(
        found.baseline * scale,
        found.raw * scale,
        [replace(pack, value=pack.value * scale) for pack in found.packs],
        [score * of_loss for score in found.train_scores],
        [score * of_loss for score in found.held_out_scores],
        trace,
        n_rounds=found.n_rounds,
    )
