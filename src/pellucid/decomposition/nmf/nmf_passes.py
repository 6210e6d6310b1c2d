r"""NMF of rows in blocks: the components are kept here, and each pass finds the best weights of its rows for them.

What is minimized over ``H`` alone is :math:`\min_{W \ge 0}` of the objective. A pass leaves :math:`W'W`, :math:`W'X`
and the error, which is all that the best ``H`` for these weights needs; the next pass begins beyond it, in the
direction in which ``H`` moved, and one that raises the objective is taken back. Weights are never kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.core.fit import Fit
from pellucid.core.scale.moments import refuse_values
from pellucid.core.scale.row_blocks import BlockError, RowBlock, RowBlocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.decomposition.momentum import FactorMomentum
from pellucid.decomposition.nmf.nmf_fits import (
    RESIDUAL,
    filled_part,
    larger_parts,
    lengths_of_parts,
    parts_of,
    random_part,
    refuse_many_parts,
)
from pellucid.decomposition.nmf.nmf_problem import NmfProblem, Penalties, coordinate_gains, penalties_of, unit_of_size
from pellucid.decomposition.nmf.nmf_solvers import SAFETY, best_weights, sweep
from pellucid.proofs.rounding import EPSILON, TINY
from pellucid.solvers.leading_eigenvectors import eigenpairs_at_once

MOST_SWEEPS, ENOUGH = 200, 1e-8
"""Sweeps over the entries of ``H`` for one pass, and the part of the gain of the first that ends them: a pass costs
more than all of them."""


@dataclass(frozen=True, eq=False)
class DataSums:
    """What the first pass leaves: rows, the sum of all entries, the largest, and the products of the columns."""

    n: int
    total: float
    largest: float
    gram: Array


@dataclass(frozen=True, eq=False)
class PartSums:
    """What a pass leaves about the best weights for ``H``."""

    gram: Array
    """``W'W``."""
    products: Array
    """``W'X``."""
    divergence: float
    penalty: float
    gains: float
    """What single entries of ``W`` could still gain."""


@dataclass(frozen=True, eq=False)
class Units:
    """The problem without its rows: these are divided by the square of ``root``."""

    root: float
    on_weights: Penalties
    on_components: Penalties
    size: float

    def of_rows(self, X: Array) -> NmfProblem:
        """Return the problem of some rows."""
        scaled = X if self.root == 1.0 else X / self.root / self.root
        return NmfProblem(scaled, 2.0, self.on_weights, self.on_components, self.root)

    def objective(self, H: Array, found: PartSums) -> float:
        """Return the objective of ``H`` and the weights of a pass, which need not be the best for it."""
        fit = 0.5 * self.size - float(np.vdot(H, found.products)) + 0.5 * float(np.vdot(found.gram @ H, H))
        return max(fit, 0.0) + found.penalty + self.on_components.value(H)

    def residual(self, H: Array, found: PartSums) -> float:
        """Return the root of what single entries could gain, in parts of half the squared norm of the data."""
        gains = found.gains + coordinate_gains(H, found.gram, found.products, self.on_components)
        return float(np.sqrt(max(gains, 0.0) / max(0.5 * self.size, TINY)))


def nmf_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the components of all rows."""
    seen: DataSums = blocks.reduce(sums_of_block, join_sums)
    root = unit_of_size(seen.largest)
    on_weights, on_components = penalties_of(estimator, (seen.n, blocks.n_features), root, 2.0)
    gram = seen.gram / root**2 / root**2
    units = Units(root, on_weights, on_components, float(np.trace(gram)))
    rng = check_random_state(estimator.random_state)
    H = _start(estimator, blocks, seen, gram, root, rng)
    goal = SAFETY * max(float(estimator.tol), RESIDUAL)
    trace, momentum, stopped, n_iter = Trace(), FactorMomentum(), "max_iter", 0
    noise = 8.0 * EPSILON * max(0.5 * units.size, TINY)
    last, tried, reached = H, H, np.inf
    found = blocks.reduce(parts_of_block, join_parts, units, tried)
    for n_iter in range(1, estimator.max_iter + 1):
        residual = units.residual(tried, found)
        objective = found.divergence + found.penalty + on_components.value(tried)
        trace.add(iteration=n_iter, objective=objective, residual=residual)
        trace.keep(H=tried)
        is_told = watch(estimator._iterate(tried * root))
        if residual <= goal or is_told:
            stopped = "no entry gains more than tol" if residual <= goal else "a callback"
            break
        if n_iter == estimator.max_iter:
            break
        improved = tried.copy()
        order = rng.permutation(len(H)) if estimator.shuffle else np.arange(len(H))
        sweep(improved, (found.gram, found.products), on_components, order, MOST_SWEEPS, ENOUGH)
        value = units.objective(improved, found)
        if value <= reached + noise:
            momentum.speed_up()
            tried = np.maximum(improved + momentum.part * (improved - last), 0.0)
            last, reached = improved, value
        else:  # too far beyond: from the best there was, without a run-up
            momentum.slow_down()
            tried = last
        found = blocks.reduce(parts_of_block, join_parts, units, tried)
    attributes = {
        "components_": tried * root,
        "n_components_": len(tried),
        "reconstruction_err_": float(np.sqrt(2.0 * max(found.divergence, 0.0))) * root**2,
        "n_iter_": n_iter,
    }
    return Fit(attributes, trace, stopped)


def _start(
    estimator: Any, blocks: RowBlocks, seen: DataSums, gram: Array, root: float, rng: np.random.RandomState
) -> Array:
    """Return the components that ``init`` names, in the units of the problem, as the fit in memory starts from."""
    n, d = seen.n, blocks.n_features
    q = parts_of(estimator, d)
    refuse_many_parts(estimator.init, q, (n, d))
    mean = seen.total / (n * d) / root**2
    if estimator.init == "random" or q > min(n, d):
        return random_part(mean, (q, d), q, rng)
    found = eigenpairs_at_once((gram + gram.T) / 2.0, q)
    values = np.sqrt(np.maximum(found.values, 0.0))
    vectors = found.vectors * (values > 1e-7 * values.max(initial=0.0))
    squares = blocks.reduce(signs_of_block, join_signs, vectors) / root**4
    above, below = np.sqrt(squares) / np.where(values > 0.0, values, 1.0)
    H = larger_parts(vectors, lengths_of_parts(vectors), (above, below), values)
    return filled_part(np.ascontiguousarray(H.T), estimator.init, mean, rng)


# from a block to its statistics


def sums_of_block(block: RowBlock) -> DataSums:
    """Return the sums of a block; refuse entries below 0 and those that are missing."""
    X = block.X.astype(np.float64)
    gram = X.T @ X
    if not np.isfinite(gram).all():
        refuse_values(block)
    if X.min() < 0.0:
        raise BlockError(
            f"block {block.number} must hold numbers of at least 0 for NMF: Negative values in data, {X.min():g}. "
            "Shift or clip them."
        )
    return DataSums(len(X), float(X.sum()), float(X.max()), gram)


def join_sums(found: Sequence[DataSums]) -> DataSums:
    """Return the sums over several blocks."""
    totals = ([getattr(one, name) for one in found] for name in ("n", "total", "largest", "gram"))
    n, total, largest, gram = totals
    return DataSums(sum(n), float(np.sum(total)), max(largest), np.sum(gram, axis=0))


def signs_of_block(block: RowBlock, vectors: Array) -> Array:
    """Return the squared lengths of the parts above and below 0 of the rows along each vector."""
    along = block.X.astype(np.float64) @ vectors
    return np.stack([np.sum(np.square(np.maximum(sign * along, 0.0)), axis=0) for sign in (1.0, -1.0)])


def join_signs(found: Sequence[Array]) -> Array:
    """Return the sums over several blocks."""
    return np.sum(found, axis=0)


def parts_of_block(block: RowBlock, units: Units, H: Array) -> PartSums:
    """Return what the best weights of the rows of a block leave."""
    problem = units.of_rows(block.X.astype(np.float64))
    W = best_weights(problem, H)
    gains = coordinate_gains(np.ascontiguousarray(W.T), H @ H.T, H @ problem.X.T, units.on_weights)
    return PartSums(W.T @ W, W.T @ problem.X, problem.divergence(W, H), units.on_weights.value(W), gains)


def join_parts(found: Sequence[PartSums]) -> PartSums:
    """Return the sums over several blocks."""
    names = ("gram", "products", "divergence", "penalty", "gains")
    return PartSums(*(np.sum([getattr(one, name) for one in found], axis=0) for name in names))
